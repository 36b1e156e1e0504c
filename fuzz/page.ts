import type { Outcome } from "./supervise.ts";

export interface Row extends Outcome {
  readonly subject: string;
  readonly known: number;
}

const verdict = ({ crash, hang }: Outcome): string => {
  if (crash) return `crash: \`${JSON.stringify(crash.input)}\``;
  return hang === undefined ? "no crash, no hang" : `hang: \`${JSON.stringify(hang)}\``;
};

/** The table of results, in Markdown. Rows of an earlier page stay if this run has no result for them. */
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
    "Written by `npm run fuzz -- --runs 1000000 --keep --page docs/fuzzing.md`. Each run changes an input of the corpus",
    "(`fuzz/corpus`). The corpus has one input for each part of the code that was reached (block coverage of V8). With the",
    "name of a target only that one runs, and the other rows stay. `npm run fuzz -- worst` searches for the most expensive",
    "request, by time and bytes, and writes a section of `docs/inputs.md`.",
    "",
    "| Input | Runs | Inputs in the corpus | Result |",
    "|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}
