import type { Outcome } from "./supervise.ts";

export interface Row extends Outcome {
  readonly subject: string;
  readonly known: number;
}

const verdict = ({ crash, hang }: Outcome): string => {
  if (crash) return `crash: \`${JSON.stringify(crash.input)}\``;
  return hang === undefined ? "no crash, no hang" : `hang: \`${JSON.stringify(hang)}\``;
};

/** The table of results, in Markdown. */
export function page(rows: readonly Row[]): string {
  const lines = rows.map(
    (row) => `| ${row.subject} | ${row.runs.toLocaleString("en")} | ${row.known} | ${verdict(row)} |`,
  );
  return [
    "# Fuzzing",
    "",
    "Written by `npm run fuzz -- --runs 1000000 --keep --page docs/fuzzing.md`. Each run is an input that lies near one",
    "known to reach other code (block coverage of V8); the inputs known are kept in `fuzz/corpus`.",
    "",
    "| What reads the input | Runs | Inputs known | Result |",
    "|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}
