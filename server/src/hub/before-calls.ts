// What a file was before calls that wrote it, judged from what was seen of it and from what the calls tell. An agent does not wait
// for us: a look may have come late, and show the work of its call, of later ones, or a half of either. Guarantees: no such look is
// taken for what was there before where that can be told; what cannot be known is said to be unknown. Must not know: the disk.
import type { ToolResult } from '../protocol/records.ts';
import { fits, hasEdits, isResult, undone } from '../session/files.ts';
import { type Content, type Look, sameContent } from './originals.ts';
import { commonEncoding, textOf } from './texts.ts';

export interface Call {
  args: Record<string, unknown>;
  /** Undefined when it failed, or nobody saw its end. */
  result?: ToolResult | undefined;
  failed?: boolean;
  /** What was seen of the file before and at the beginning of the call, the newest first. */
  looks: readonly Look[];
  /** No other call was writing it, so that what was seen is what this call found. */
  alone: boolean;
}

export const unseen: Look = {
  content: { kind: 'unkept', why: 'the agent had written it before it could be read' },
};

/**
 * What was there before the first of these calls (in the order of their ends), when `now` is there after the last of them;
 * undefined when that cannot be told. `left` is what a call before them left. `inStep`: what was seen around the last call is
 * exactly its work, so that nothing of a later call is in it.
 */
export function beforeCalls(
  calls: readonly Call[],
  now: Look,
  left: Look | undefined,
  made: (bytes: Buffer, like: Content) => Content,
): { before: Look | undefined; inStep: boolean } {
  let after: Look | undefined = now;
  let inStep = false;
  const states = [now];
  for (let index = calls.length - 1; index >= 0; index -= 1) {
    const call = calls[index]!;
    const told: Look | undefined = after && toldBefore(call, after, made);
    const seen = lookBefore(call, index === 0 ? left : undefined, {
      told,
      states,
      calls: calls.slice(index),
    });
    if (index === calls.length - 1) {
      const whole = contentOf(call);
      inStep =
        seen !== undefined &&
        ((told && sameContent(told.content, seen.content)) || !canBeBefore(call, seen)) &&
        (!whole || now.bytes?.equals(whole) === true);
    }
    // A call that failed has mostly done nothing; another one like it may have done what it tells of.
    after = seen ?? (call.failed ? after : (told ?? (call.result ? undefined : after)));
    if (after) states.push(after);
  }
  return { before: after, inStep };
}

/**
 * The newest of a call's looks that is what was there before it, and not its work, that of a later call or a half of such.
 * `told` is what was there by the call's own account, `states` what was there later, `calls` are this one and later ones.
 */
export function lookBefore(
  call: Pick<Call, 'args' | 'looks'> & Partial<Call>,
  left: Look | undefined,
  later?: { told: Look | undefined; states: readonly Look[]; calls: readonly Call[] },
): Look | undefined {
  const { args, looks, alone = true } = call;
  if (!alone) return undefined;
  const contents = (later?.calls ?? [call]).flatMap((it) => contentOf(it) ?? []);
  const whole = contentOf(call) ?? later?.states.at(-1)?.bytes;
  const byAccount = later && (later.told !== undefined || (!call.result && hasEdits(args)));
  return looks.find((look, index) => {
    const { content, bytes, age } = look;
    if (later?.told && sameContent(content, later.told.content)) return true;
    if (!bytes || age === undefined || age > lag || (left && sameContent(content, left.content)))
      // Where the call was made in this text, others have changed it meanwhile.
      return !later?.told || !canBeBefore(call, look);
    if (byAccount || (later && hasEdits(args) && !canBeBefore(call, look))) return false;
    if (later?.states.some((state) => sameContent(state.content, content))) return false;
    if (contents.some((it) => it.equals(bytes))) return false;
    if (age < pause && isHalf(bytes, whole)) return false;
    if (later?.calls.some((it) => hasEdits(it.args) && reconstructed(it, look))) return false;
    const earlier = [...looks.slice(index + 1), ...(left ? [left] : [])];
    return !earlier.some((older) => isOutcome(args, older, look));
  });
}

/** Milliseconds: a hub has heard by then what an agent did, be the machine ever so busy. */
const lag = 10_000;
/** Milliseconds: nobody stops as long as that in the middle of a write. */
const pause = 2000;
/** A file that is being written has nothing in it yet, or the first pages of what will be in it. */
const isHalf = (bytes: Buffer, whole: Buffer | undefined): boolean =>
  bytes.length === 0 ||
  (whole !== undefined &&
    bytes.length % page === 0 &&
    bytes.length < whole.length &&
    whole.subarray(0, bytes.length).equals(bytes));
const page = 4096;

const contentOf = ({ args }: Pick<Call, 'args'>): Buffer | undefined =>
  typeof args.content === 'string' ? Buffer.from(args.content) : undefined;

const isOutcome = (args: Call['args'], before: Look, after: Look): boolean => {
  const encoding = commonEncoding([before.bytes, after.bytes]);
  return (
    encoding !== undefined &&
    after.bytes !== undefined &&
    !sameContent(before.content, after.content) &&
    isResult(args, before.bytes && textOf(before.bytes, encoding), textOf(after.bytes, encoding))
  );
};

const canBeBefore = ({ args, result }: Pick<Call, 'args' | 'result'>, { bytes }: Look): boolean => {
  const encoding = commonEncoding([bytes]);
  return bytes !== undefined && encoding !== undefined && fits(args, result, textOf(bytes, encoding));
};

/** What was there before a call by its own account, when `after` has its work in it; undefined when not, or it tells too little. */
export function toldBefore(
  call: Call,
  after: Look,
  made: (bytes: Buffer, like: Content) => Content,
): Look | undefined {
  const bytes = reconstructed(call, after);
  return bytes && { content: made(bytes, after.content), bytes };
}

function reconstructed({ args, result }: Call, { bytes }: Look): Buffer | undefined {
  const encoding = commonEncoding([bytes]);
  const text = bytes && encoding && undone(args, result, textOf(bytes, encoding));
  return text === undefined || encoding === undefined ? undefined : Buffer.from(text, encoding);
}
