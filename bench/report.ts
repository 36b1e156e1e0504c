import { cpuGoal } from "./goals.ts";
import type { Measurement } from "./measure.ts";

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 ? high : ((sorted[middle - 1] ?? Number.NaN) + high) / 2;
}

type Column = readonly [title: string, width: number];

const COLUMNS: readonly Column[] = [
  ["", 30],
  ["req/s", 8],
  ["p50 ms", 8],
  ["added", 7],
  ["p99 ms", 8],
  ["CPU us/req", 11],
  ["x peer", 7],
  ["goal", 6],
  ["RSS MB", 8],
  ["v4 calls", 9],
  ["failed", 7],
];

const line = (cells: readonly string[]): string =>
  COLUMNS.map(([, width], at) => (at === 0 ? cells[at]?.padEnd(width) : cells[at]?.padStart(width)))
    .join("")
    .trimEnd();

const medianOf = (
  measurements: readonly Measurement[],
  key: "perSecond" | "p50" | "p99" | "cpu" | "memory" | "v4Calls",
): number => median(measurements.map((each) => each[key] ?? Number.NaN));

/** A figure that the system doesn't report is a dash, never a zero. */
const formatNumber = (value: number, digits: number): string =>
  Number.isNaN(value) ? "-" : value.toFixed(digits);

function row(
  request: string,
  name: string,
  rounds: readonly Measurement[],
  peer: readonly Measurement[],
): string {
  const peerCpu = medianOf(peer, "cpu");
  const cpu = medianOf(rounds, "cpu");
  return line([
    name,
    formatNumber(medianOf(rounds, "perSecond"), 0),
    formatNumber(medianOf(rounds, "p50"), 2),
    formatNumber(medianOf(rounds, "p50") - medianOf(peer, "p50"), 2),
    formatNumber(medianOf(rounds, "p99"), 2),
    formatNumber(cpu, 0),
    formatNumber(cpu / peerCpu, 2),
    formatNumber(cpuGoal(request, name) ?? Number.NaN, 2),
    formatNumber(medianOf(rounds, "memory") / 1024 ** 2, 0),
    formatNumber(medianOf(rounds, "v4Calls"), 1),
    String(rounds.reduce((sum, { failed }) => sum + failed, 0)),
  ]);
}

/** One table for each kind of request: medians over the rounds. `x peer` compares CPU time, `added` the p50; the peer comes last. */
export function report(measurements: readonly Measurement[]): string {
  const requestKinds = [...new Set(measurements.map(({ request }) => request))];
  const targets = [...new Set(measurements.map(({ target }) => target))];
  const roundsOf = (request: string, target: string | undefined): Measurement[] =>
    measurements.filter((each) => each.request === request && each.target === target);
  return requestKinds
    .map((request) => {
      const peer = roundsOf(request, targets.at(-1));
      const head = line([request, ...COLUMNS.slice(1).map(([title]) => title)]);
      return [
        head,
        ...targets.map((target) => row(request, target, roundsOf(request, target), peer)),
        "",
      ].join("\n");
    })
    .join("\n");
}

/** The faults that were met, each once; empty when every request got its 200. */
export const faults = (measurements: readonly Measurement[]): string[] => [
  ...new Set(
    measurements.flatMap(({ target, request, fault }) =>
      fault === undefined ? [] : [`${target}, ${request}: ${fault}`],
    ),
  ),
];
