/** One thing that is wrong with a pack, where an editor finds it. Line and column count from 1. */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** What would be right: the names there are, the nearest one, an example. */
  readonly hint?: string;
  /** The line it stands in, as it is written. */
  readonly excerpt?: string;
}

/** A pack that can't be used: every fault that was found, not just the first. */
export class PackError extends Error {
  override readonly name = "PackError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(faults: readonly Diagnostic[]) {
    super(faults.map(formatDiagnostic).join("\n"));
    this.diagnostics = faults;
  }
}

/** `mappings/vm.yaml:42:17: unknown catalog "datacentres"`, as compilers write it: editors jump there. */
export const formatDiagnosticLine = (fault: Diagnostic): string =>
  `${fault.file}:${fault.line}:${fault.column}: ${fault.message}`;

/** A screen shows this much of a line; the rest of a long one is cut off, so that the caret stays below its place. */
const WIDTH = 110;

/** The line with a caret below the place. Tabs and what a terminal would act on become blanks. */
function shown({ line, column, excerpt = "" }: Diagnostic): string[] {
  if (excerpt.trim() === "") return [];
  const skipped = column > WIDTH ? column - WIDTH / 2 : 0;
  const text = excerpt
    .replaceAll(/\p{Cc}/gu, " ")
    .slice(skipped, skipped + WIDTH)
    .trimEnd();
  const number = String(line);
  const blank = " ".repeat(number.length);
  return [`  ${number} | ${text}`, `  ${blank} | ${" ".repeat(column - 1 - skipped)}^`];
}

/** A fault for people: its line, the place with a caret, and a hint. */
export const formatDiagnostic = (fault: Diagnostic): string =>
  [formatDiagnosticLine(fault), ...shown(fault), ...(fault.hint ? [`  hint: ${fault.hint}`] : [])].join("\n");
