import type { Outcome } from "./supervise.ts";

export interface Row extends Outcome {
  readonly subject: string;
  readonly known: number;
}

const verdict = ({ crash, hang, comparisons }: Outcome): string => {
  if (crash) return `crash: \`${JSON.stringify(crash.input)}\``;
  if (hang !== undefined) return `hang: \`${JSON.stringify(hang)}\``;
  const counted = comparisons > 0 ? ` in ${comparisons.toLocaleString("en")} comparisons` : "";
  return `no crash, no hang${counted}`;
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
    `Written on ${new Date().toISOString().slice(0, 10)} by \`npm run fuzz -- --runs N --page docs/results/fuzzing.md\`. Each run changes an input of \`fuzz/corpus\`, which`,
    "contains one input for each part of the code that was reached. `--keep` adds new ones. A row is the last run of its target (`fuzz/targets`).",
    "",
    "| Input | Runs | Inputs known after it | Result |",
    "|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}
