// How an agent is started for a session. Guarantees: the program is found in the editor's environment and run there, without
// a shell, with the options that were given and no others. Must not know: what is said over its pipes (link.ts).
import { existsSync } from 'node:fs';
import type { AgentSpec, Clock, Log, StartAgent } from '../session/ports.ts';
import { childEnvironment } from './environment.ts';
import { type Demo, findAgent, identityOf } from './find.ts';
import { createLink } from './link.ts';
import { agentArguments } from './options.ts';
import { startProcess } from './process.ts';

export interface AgentWorld {
  /** How the built-in demo agent is run. */
  demo: Demo;
  clock: Clock;
  log: Log;
}

/** The port that starts agents (session/ports.ts). */
export function createStartAgent(world: AgentWorld): StartAgent {
  return async (spec, events) => {
    const found = findAgent(spec, spec.env, world.demo);
    const identity = identityOf(found);
    const link = createLink(world, events);
    const child = await startProcess(
      {
        path: found.path,
        // The demo takes no options: it has no models and saves nothing.
        args: found.source === 'demo' ? found.args : argumentsFor(found.args, spec),
        cwd: spec.workspace,
        env: childEnvironment(spec.env, spec.choice?.env),
      },
      world.clock,
      { output: link.output, end: link.end },
    );
    world.log.info({ agent: identity.name, source: found.source, pid: child.pid }, 'agent started');
    return link.agent(child, identity);
  };
}

const argumentsFor = (own: string[], spec: AgentSpec): string[] =>
  // A session that was never saved has no file yet: then there is nothing to resume.
  agentArguments(
    own,
    spec.start,
    spec.resume !== undefined && existsSync(spec.resume) ? spec.resume : undefined,
  );
