// What a scenario is: steps with an agent, written once and carried out with agents of different dialects. Guarantees: definitions
// only.
import type { ModelScript } from '../support/model-server.ts';
import type { Script } from '../support/scripted.ts';
import type { TestSession } from '../support/sessions.ts';

export interface Scenario {
  name: string;
  /** The commands that its steps send. */
  uses: string[];
  /** What the real agent's model says. */
  model: ModelScript;
  extensions?: string[];
  /** Why pi 0.58 is not compared here. */
  notOlder?: string;
  /** Settings of the real agent. */
  settings?: Record<string, unknown>;
  /** What the scripted agent does. */
  script: Script['on'];
  steps(session: TestSession): Promise<unknown>;
}
