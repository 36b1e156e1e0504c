import { availableParallelism } from "node:os";
import { ROWS_BETWEEN_RELOADS } from "./operator.ts";
import { SETTINGS } from "./place.ts";
import { faultsOf, isJudged, TOLERATED, trendOf, type Outcome, type Sample } from "./verdict.ts";

export interface Run extends Outcome {
  readonly minutes: number;
  readonly rate: number;
  readonly tokenSeconds: number;
  readonly everySeconds: number;
}

export const HEAD = `| Second | Answers | p99 ms | Resident MB | Heap MB | Descriptors |
|---|---|---|---|---|---|
`;

export const row = ({ second, answers, p99, residentMb, heapMb, descriptors }: Sample): string =>
  `| ${[second, answers, p99.toFixed(1), residentMb.toFixed(1), heapMb.toFixed(1), descriptors].join(" | ")} |\n`;

/** In one sentence. */
export function verdict(run: Outcome): string {
  const faults = faultsOf(run);
  if (faults.length > 0) return `not steady: ${faults.join("; ")}.`;
  const short = isJudged(run.samples) ? "" : " (too short a run to judge memory and p99)";
  return `steady: nothing failed, nothing grew${short}.`;
}

const signed = (mb: number): string => `${mb < 0 ? "−" : "+"}${Math.abs(mb).toFixed(1)} MB`;

/** The figures that the verdict is by, each beside its bound. */
export function figures({ samples, failures, descriptors }: Outcome): string {
  const { residentMb, heapMb, firstP99, lastP99 } = trendOf(samples);
  const { descriptors: more, rise, p99Times, p99Ms } = TOLERATED;
  const share = `${rise * 100} % of it`;
  return `| | Seen | Tolerated |
|---|---|---|
| Failed | ${failures.count} | 0 |
| Descriptors before and after | ${descriptors.before}, ${descriptors.after} | ${more} more |
| Resident memory over the second half, by a line through the rows | ${signed(residentMb)} | ${share} |
| Heap likewise | ${signed(heapMb)} | ${share} |
| p99 of the first third after the warm-up, and of the last (medians) | ${firstP99.toFixed(1)} ms, ${lastP99.toFixed(1)} ms | ${p99Times} times as much and ${p99Ms} ms |
`;
}

/** The whole run in Markdown. */
export function page(run: Run): string {
  const { minutes, rate, tokenSeconds, everySeconds, samples, done } = run;
  const settings = Object.entries(SETTINGS).map(([name, value]) => `\`${name}=${value}\``);
  return `# A long run of everything at once

\`npm run soak -- --minutes ${minutes} --rate ${rate} --page docs/soak.md\` wrote this page, with Node ${process.version} on
${availableParallelism()} processors that the clients, the gateway and v4 share. ${rate} things were begun a second,
whatever became of those before. The gateway ran with
${settings.join(", ")};
v4 and its login server were the sandbox in a process of its own. Access tokens ended after ${tokenSeconds} s, so that those that live on were renewed.
The figures of the gateway were scraped each second and the latest of its audit exported every ${everySeconds} s; every
${everySeconds * ROWS_BETWEEN_RELOADS} s its pack was changed and reloaded, which holds all requests up for a moment.

**Verdict:** ${verdict(run)}

${figures(run)}
## What was done

| | Times |
|---|---|
${[...done].map(([name, times]) => `| ${name} | ${times} |\n`).join("")}
## As it went

Answers and p99 are those of all but the clients that take their time, counted from when each was due. Heap is what a
full collection leaves, which is asked for once a row. The first sixth is the warm-up.

${HEAD}${samples.map(row).join("")}`;
}
