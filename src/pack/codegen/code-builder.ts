/** Names and constants of a generated function. Text of a pack only enters the code as JSON. */
export type CodeBuilder = ReturnType<typeof createCodeBuilder>;

export function createCodeBuilder() {
  const constants: unknown[] = [];
  let nameCount = 0;
  return {
    constants: constants as readonly unknown[],
    /** Adds a value that can't be written as code, and returns the name of its constant. */
    constant: (value: unknown): string => `c${constants.push(value) - 1}`,
    /** Returns a unique name. The hint only helps the reader of the code. */
    name(hint: string): string {
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
