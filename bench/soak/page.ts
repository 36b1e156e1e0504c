import { availableParallelism } from "node:os";
import { ROWS_BETWEEN_RELOADS } from "./operator.ts";
import { SETTINGS } from "./environment.ts";
import { faultsOf, isJudged, TOLERATED, trendOf, type Outcome, type Sample } from "./verdict.ts";

export interface Run extends Outcome {
  readonly minutes: number;
  readonly rate: number;
  readonly tokenSeconds: number;
  readonly everySeconds: number;
}

export const HEAD = `| Second | Responses | p99 ms | Resident MB | Heap MB | Descriptors |
|---|---|---|---|---|---|
`;

const cells = ({ second, responses, p99, residentMb, heapMb, descriptors }: Sample): string[] => [
  String(second),
  String(responses),
  p99.toFixed(1),
  residentMb.toFixed(1),
  heapMb.toFixed(1),
  String(descriptors),
];

export const row = (sample: Sample): string => `| ${cells(sample).join(" | ")} |\n`;

/** The verdict in one sentence. */
export function verdict(run: Outcome): string {
  const faults = faultsOf(run);
  if (faults.length > 0) return `not steady: ${faults.join("; ")}.`;
  const short = isJudged(run.samples) ? "" : " (too short a run to judge memory and p99)";
  return `steady: nothing failed, nothing grew${short}.`;
}

const signed = (mb: number): string => `${mb < 0 ? "−" : "+"}${Math.abs(mb).toFixed(1)} MB`;

/** The measurements that the verdict depends on, each with its limit. */
export function figures({ samples, failures, descriptors }: Outcome): string {
  const { residentMb, heapMb, firstP99, lastP99 } = trendOf(samples);
  const { descriptors: more, rise, p99Times, p99Ms } = TOLERATED;
  const share = `${rise * 100} % of it`;
  return `| | Measured | Tolerated |
|---|---|---|
| Failed | ${failures.count} | 0 |
| Descriptors before and after | ${descriptors.before}, ${descriptors.after} | ${more} more |
| Growth of the resident memory over the second half | ${signed(residentMb)} | ${share} |
| Growth of the heap, likewise | ${signed(heapMb)} | ${share} |
| p99 of the first third after the warm-up, and of the last third | ${firstP99.toFixed(1)} ms, ${lastP99.toFixed(1)} ms | ${p99Times} times, plus ${p99Ms} ms |
`;
}

/** The page of a run, in Markdown. */
export function page(run: Run): string {
  const { minutes, rate, tokenSeconds, everySeconds, done } = run;
  const settings = Object.entries(SETTINGS).map(([name, value]) => `\`${name}=${value}\``);
  return `# Soak test: all kinds of requests for a long time

\`npm run soak -- --minutes ${minutes} --rate ${rate} --page docs/results/soak.md\` wrote this page on ${new Date().toISOString().slice(0, 10)}, with Node ${process.version} on
${availableParallelism()} processors that clients, gateway and v4 (the sandbox) share. ${rate} operations were started each second,
whether or not earlier ones had ended. The gateway ran with
${settings.join(", ")}.
Access tokens ended after ${tokenSeconds} s. The metrics were scraped each second, audit records exported every ${everySeconds} s, and the pack reloaded every ${everySeconds * ROWS_BETWEEN_RELOADS} s.

**Verdict:** ${verdict(run)}

${figures(run)}
Operations: ${[...done.values()].reduce((sum, times) => sum + times, 0)} of ${done.size} kinds.

## Measurements over time

[soak.tsv](soak.tsv) has a row for each minute. Responses and p99 leave out slow clients. Times start when a request was due. The heap is measured after a full
garbage collection. The first sixth is the warm-up.
`;
}

/** The measurements over time, as a table with tabs. */
export const measurements = (samples: readonly Sample[]): string =>
  [["second", "responses", "p99 ms", "resident MB", "heap MB", "descriptors"], ...samples.map(cells)]
    .map((line) => `${line.join("\t")}\n`)
    .join("");
