/** Maximum number of diagnostics that are reported for a pack. Later ones are often consequences of the first. */
export const MAX_DIAGNOSTICS = 50;

/**
 * The kinds of problems, by their codes, which do not change when messages do. `rule` covers all contradictions between
 * keys of a pack.
 */
export const DIAGNOSTIC_CODES = {
  unreadable: "a file or folder can't be read, or is too large",
  "missing-file": "the folder has no pack.yaml",
  yaml: "a file is not YAML, or contains YAML that packs must not use",
  "unknown-key": "a key that does not exist",
  "missing-key": "a key that is required",
  "wrong-type": "a value of another type",
  "invalid-value": "a value that its key can't have",
  "unknown-reference": "a name that nothing defines",
  "invalid-expression": "JSONata that can't be used",
  "invalid-schema": "a JSON Schema that can't be used",
  rule: "keys that exclude each other, need each other or have no effect",
  unused: "a definition that nothing uses",
  unmapped: "a field or route of surface.yaml that the pack does not have",
  "golden-case": "a golden case that fails",
  "catalog-row": "a row of a catalog that an expression fails on",
  law: "a law that does not hold (--laws)",
  type: "a value that the description of the client's API does not allow (--laws --new)",
} as const;

/** The code of a problem. */
export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;

/**
 * One problem of a pack, with its source location. Line and column count from 1.
 *
 * @example
 * ```ts
 * import type { Diagnostic } from "alpha-gateway";
 *
 * const format = ({ file, line, column, message }: Diagnostic) => `${file}:${line}:${column}: ${message}`;
 * ```
 */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** The kind of the problem. It stays the same if the message changes. Default: `rule`. */
  readonly code?: string;
  /** The keys and indexes of the value in its file. */
  readonly path?: readonly (string | number)[];
  /** How to fix it: the valid names, the closest one, or an example. */
  readonly hint?: string;
  /** The source line. */
  readonly excerpt?: string;
}

/** The message of a diagnostic, with or without a hint how to fix it. */
export type Message =
  | string
  | {
      readonly message: string;
      readonly hint?: string | undefined;
      readonly code?: DiagnosticCode | undefined;
    };

/** The same message with a code. A message that has one keeps it. */
export const withCode = (message: Message, code: DiagnosticCode): Message =>
  typeof message === "string"
    ? { message, code }
    : {
        get message() {
          return message.message;
        },
        // A hint may take long to compute: it is read after the decision to keep the diagnostic.
        get hint() {
          return message.hint;
        },
        code: message.code ?? code,
      };

/**
 * A pack is invalid. The error contains every diagnostic.
 *
 * @example
 * ```ts
 * import { loadPack, PackError } from "alpha-gateway";
 *
 * try {
 *   loadPack("./my-pack");
 * } catch (error) {
 *   if (error instanceof PackError) console.error(`${error.diagnostics.length} problems\n${error.message}`);
 * }
 * ```
 */
export class PackError extends Error {
  override readonly name = "PackError";
  readonly code = "AG_PACK_INVALID";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(`The mapping pack is invalid:\n${diagnostics.map(formatDiagnostic).join("\n")}`);
    this.diagnostics = diagnostics;
  }
}

/** `mappings/vm.yaml:42:17: unknown catalog "datacentres"` is the format of compilers, so editors can jump to the location. */
export const formatDiagnosticLine = (diagnostic: Diagnostic): string =>
  `${diagnostic.file}:${diagnostic.line}:${diagnostic.column}: ${diagnostic.message}`;

/** Longer source lines are cut, so that the caret stays below its column. */
const MAX_WIDTH = 110;

/** The source line with a caret below the column. Tabs and control characters are replaced by blanks. */
function codeFrame({ line, column, excerpt = "" }: Diagnostic): string[] {
  const skipped = column > MAX_WIDTH ? column - MAX_WIDTH / 2 : 0;
  const text = excerpt
    .slice(skipped, skipped + MAX_WIDTH)
    .replaceAll(/\p{Cc}/gu, " ")
    .trimEnd();
  if (text === "") return [];
  const number = String(line);
  const blank = " ".repeat(number.length);
  return [`  ${number} | ${text}`, `  ${blank} | ${" ".repeat(column - 1 - skipped)}^`];
}

/** Formats a diagnostic for people: location and message, the source line with a caret, and the hint. */
export const formatDiagnostic = (diagnostic: Diagnostic): string =>
  [
    formatDiagnosticLine(diagnostic),
    ...codeFrame(diagnostic),
    ...(diagnostic.hint ? [`  hint: ${diagnostic.hint}`] : []),
  ].join("\n");
