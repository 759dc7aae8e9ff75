// What comes from an editor, checked. Guarantees: what does not fit is refused in one sentence that names the field. Must not
// know: any method.
import { AtomicError } from '../protocol/errors.ts';

interface Schema<T> {
  safeParse(
    given: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
}

/** The parameters of a method as its schema has them. Throws `BadArguments`. */
export function checked<T>(method: string, schema: Schema<T>, given: unknown): T {
  const result = schema.safeParse(given ?? {});
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new AtomicError(
    'BadArguments',
    `${method} cannot be used so: ${path.length ? `"${path.join('.')}": ` : ''}${message}.`,
  );
}

/** What a person reads of an error. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
