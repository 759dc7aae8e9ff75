// Types of rules.mjs, for the tests that share it.
export interface SourceFile {
  path: string;
  text: string;
}
export declare const rooms: Record<string, readonly string[]>;
export declare const longest: number;
export declare const longFiles: Record<string, string>;
export declare function importProblems(files: readonly SourceFile[]): string[];
export declare function lengthProblems(
  files: readonly SourceFile[],
  exceptions?: Readonly<Record<string, string>>,
): string[];
export declare function headerProblems(files: readonly SourceFile[]): string[];
export declare function projectFiles(): SourceFile[];
