/** Reads a Dockerfile, and knows the rules of hadolint that matter for one: no engine is needed for either. */

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

const isJsonList = (text: string): boolean => {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
};

type Rule = (stage: Stage, all: readonly Stage[]) => boolean;

const some = (stage: Stage, keyword: string, test: (rest: string) => boolean): boolean =>
  stage.instructions.some((one) => one.keyword === keyword && test(one.rest));

const isLast: Rule = (stage, all) => stage === all.at(-1);

/** By hadolint's number: whether a stage breaks the rule. */
const RULES: Readonly<Record<string, Rule>> = {
  "DL3000: WORKDIR is absolute": (stage) => some(stage, "WORKDIR", (rest) => !rest.startsWith("/")),
  "DL3002: the last USER is not root": (stage, all) => {
    const user = stage.instructions.findLast(({ keyword }) => keyword === "USER")?.rest;
    return isLast(stage, all) && (user === undefined || /^(?:root|0)(?::|$)/.test(user));
  },
  "DL3006, DL3007: images have a tag, and not latest": ({ image }, all) =>
    !all.some(({ name }) => name === image) && !/(?::(?!latest\b)[\w.-]+|@sha256:\w+)$/.test(image),
  "DL3016, DL3008: what is installed is pinned": (stage) =>
    some(stage, "RUN", (rest) => /\bnpm (?:i|install)\b|\bapt(?:-get)? install\b/.test(rest)),
  "DL3020: COPY, not ADD": (stage) => some(stage, "ADD", () => true),
  "DL3022: COPY --from names a stage before": (stage, all) => {
    const before = new Set(all.slice(0, all.indexOf(stage)).map(({ name }) => name));
    return some(stage, "COPY", (rest) => {
      const from = /--from=(\S+)/.exec(rest)?.[1];
      return from !== undefined && !before.has(from);
    });
  },
  "DL3025: CMD and ENTRYPOINT are JSON": (stage) =>
    ["CMD", "ENTRYPOINT"].some((keyword) => some(stage, keyword, (rest) => !isJsonList(rest))),
  "DL3045: COPY to a relative place comes after a WORKDIR": ({ instructions }) => {
    const first = instructions.findIndex(({ keyword, rest }) => keyword === "COPY" && !/ \/\S*$/.test(rest));
    const place = instructions.findIndex(({ keyword }) => keyword === "WORKDIR");
    return first >= 0 && (place < 0 || place > first);
  },
  "DL3057: the image has a HEALTHCHECK": (stage, all) =>
    isLast(stage, all) && !some(stage, "HEALTHCHECK", () => true),
  "DL4000: no MAINTAINER": (stage) => some(stage, "MAINTAINER", () => true),
  "no secret is baked in": (stage) =>
    ["ENV", "ARG"].some((keyword) => some(stage, keyword, (rest) => /TOKEN=|SECRET=|PASSWORD=/.test(rest))),
};

/** The rules that are broken. */
export const lintDockerfile = (stages: readonly Stage[]): string[] =>
  Object.entries(RULES).flatMap(([rule, breaks]) =>
    stages.some((stage) => breaks(stage, stages)) ? [rule] : [],
  );

/** What `ENV` sets in a stage. */
export function environmentOf({ instructions }: Stage): Record<string, string> {
  const pairs = instructions
    .filter(({ keyword }) => keyword === "ENV")
    .flatMap(({ rest }) => [...rest.matchAll(/(\w+)=(\S*)/g)]);
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value]));
}
