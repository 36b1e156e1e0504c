/** Reads a Dockerfile, without an engine. */

export interface Instruction {
  readonly keyword: string;
  /** Continued lines joined. */
  readonly rest: string;
}

export interface Stage {
  /** Of `FROM image AS name`; empty for a stage without one. */
  readonly name: string;
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of lines) {
    const [, keyword = "", rest = ""] = /^\s*(\S+)\s*(.*)$/.exec(line) ?? [];
    const [, image = "", name = ""] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? [];
    if (keyword.toUpperCase() === "FROM") stages.push({ name, image, instructions: [] });
    else stages.at(-1)?.instructions.push({ keyword: keyword.toUpperCase(), rest });
  }
  return stages;
}

/** What `ENV` sets in a stage. */
export function environmentOf({ instructions }: Stage): Record<string, string> {
  const pairs = instructions
    .filter(({ keyword }) => keyword === "ENV")
    .flatMap(({ rest }) => [...rest.matchAll(/(\w+)=(\S*)/g)]);
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value]));
}
