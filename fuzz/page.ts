import type { Outcome } from "./supervise.ts";

export interface Row extends Outcome {
  readonly subject: string;
  readonly known: number;
}

const verdict = ({ crash, hang }: Outcome): string => {
  if (crash) return `crash: \`${JSON.stringify(crash.input)}\``;
  return hang === undefined ? "no crash, no hang" : `hang: \`${JSON.stringify(hang)}\``;
};

/** The table of results, in Markdown. Of an earlier page the rows stay that there is nothing new about. */
export function page(rows: readonly Row[], earlier = ""): string {
  const isOld = (line: string): boolean =>
    /^\| .*\d/.test(line) && !rows.some(({ subject }) => line.startsWith(`| ${subject} |`));
  const lines = [
    ...earlier.split("\n").filter(isOld),
    ...rows.map(
      (row) => `| ${row.subject} | ${row.runs.toLocaleString("en")} | ${row.known} | ${verdict(row)} |`,
    ),
  ].sort();
  return [
    "# Fuzzing",
    "",
    "Written by `npm run fuzz -- --runs 1000000 --keep --page docs/fuzzing.md`. Each run is an input that lies near one",
    "known to reach other code (block coverage of V8); the inputs known are kept in `fuzz/corpus`. With the name of a",
    "target it runs that alone, and leaves the other rows. `npm run fuzz -- worst` looks for the most expensive request",
    "instead, guided by time and bytes, for a section of `docs/inputs.md`.",
    "",
    "| What reads the input | Runs | Inputs known | Result |",
    "|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}
