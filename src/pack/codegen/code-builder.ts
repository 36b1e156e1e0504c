/** Names and constants of a generated function. Text of a pack enters the code only as JSON. */
export interface CodeBuilder {
  /** Adds a value that can't be written as code, and returns the name of its constant. */
  readonly constant: (value: unknown) => string;
  /** Returns a unique name. The hint only helps the reader of the code. */
  readonly name: (hint: string) => string;
  readonly constants: readonly unknown[];
}

export function createCodeBuilder(): CodeBuilder {
  const constants: unknown[] = [];
  let nameCount = 0;
  return {
    constants,
    constant: (value) => `c${constants.push(value) - 1}`,
    name(hint) {
      nameCount += 1;
      return `${hint}${nameCount}`;
    },
  };
}

/** Indents code by its braces, for people who read it. */
export function indentCode(code: string): string {
  let depth = 0;
  return code
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      if (/^[}\])]/.test(line)) depth -= 1;
      const indented = "  ".repeat(Math.max(0, depth)) + line;
      if (/[{[(]$/.test(line)) depth += 1;
      return indented;
    })
    .join("\n");
}
