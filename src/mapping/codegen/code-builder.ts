/** A JavaScript function while it is written. Nothing of a pack stands in its source but as JSON. */
export interface CodeBuilder {
  /** A name for a value that can't stand in the source. */
  readonly constant: (value: unknown) => string;
  /** A name that nothing else has; the hint only serves the reader. */
  readonly name: (hint: string) => string;
  readonly constants: readonly unknown[];
}

export function createCodeBuilder(): CodeBuilder {
  const constants: unknown[] = [];
  let names = 0;
  return {
    constants,
    constant: (value) => `c${constants.push(value) - 1}`,
    name(hint) {
      names += 1;
      return `${hint}${names}`;
    },
  };
}

/** Indents code by its braces, for whoever reads it. */
export function indentCode(code: string): string {
  let depth = 0;
  return code
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      if (/^[}\])]/.test(line)) depth -= 1;
      const written = "  ".repeat(Math.max(0, depth)) + line;
      if (/[{[(]$/.test(line)) depth += 1;
      return written;
    })
    .join("\n");
}
