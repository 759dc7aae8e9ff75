// What the agent changed in files, as lists give it. Guarantees: definitions only; fields are added and never change their meaning.
// Must not know: how changes are found.

/** A place where a file differs from what it was before the agent; its lines are those of a unified diff. */
export interface ChangeHunk {
  /** `@@ -1,3 +1,4 @@` */
  header: string;
  /** Lines are counted from 1; where a side has no lines, `…Start` is the line before. */
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** Each begins with a space, `-`, `+` or `\`; a carriage return at the end of a line is kept. */
  lines: string[];
  /** Somebody else changed these lines after the agent: they are not taken back. */
  mixed?: true;
}

export interface FileChange {
  /** Absolute. */
  path: string;
  status: 'added' | 'modified' | 'deleted';
  added: number;
  removed: number;
  /** A unified diff; empty where there is nothing that can be shown. */
  diff: string;
  hunks: ChangeHunk[];
  /** Why there is no diff, for a person. */
  note?: string;
}
