// All scenarios. Guarantees: nothing but the list.
import type { Scenario } from './scenario.ts';
import { runScenarios } from './scenarios-runs.ts';
import { sessionScenarios } from './scenarios-sessions.ts';

/** New at each call. */
export const scenarios = (): Scenario[] => [...runScenarios(), ...sessionScenarios];

/** One of them, new. */
export const scenario = (name: string): Scenario => scenarios().find((one) => one.name === name)!;
