// The session core as the hub sees it. Guarantees: types only; the hub can be tested with a small stand-in. Must not know:
// how a session does its work.
export type { CreateSession, Session, SessionParts, SessionUpdate } from '../session/session.ts';
