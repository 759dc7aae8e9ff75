// The agents of histories: one that writes down what it takes before it answers for it, and the real pi. Guarantees: each has its files
// in the home that it is given. Must not know: what is done with them.
import path from 'node:path';
import type { EditorHome } from '../editors/home.ts';
import type { ModelServer } from '../support/model-server.ts';
import { piAgent } from '../support/pi.ts';
import type { ChaosAgent } from './world.ts';

type Kept = ChaosAgent & { sessions: string; durable: boolean };

export function durableAgent(home: EditorHome): Kept {
  const program = path.join(import.meta.dirname, '../agents/durable.mjs');
  const sessions = path.join(home.path, 'sessions');
  return {
    choice: { command: process.execPath, args: [program], env: { DURABLE_SESSIONS: sessions } },
    mark: program,
    prompt: (number, say, ask) => `#${number} say ${say}${ask ? ' ask' : ''}`,
    sessions,
    durable: true,
  };
}

/** The model says as many words as the prompt wants; a question is a command of an extension. */
export async function realPi(model: ModelServer): Promise<(home: EditorHome) => Kept> {
  const { command, args, env } = await piAgent({ model, extensions: ['dialogs'] });
  return (home) => {
    const sessions = path.join(home.path, 'pi sessions');
    return {
      choice: { command, args: [...args, '--session-dir', sessions], env },
      mark: sessions,
      prompt: (number, say, ask) => (ask ? '/ask-select' : `#${number} say ${say}`),
      sessions,
      durable: false,
    };
  };
}
