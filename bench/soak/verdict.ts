import { median } from "../report.ts";
import type { Failures } from "./run-operations.ts";

/** One row: the state at a time of the run, and the responses since the previous row. */
export interface Sample {
  readonly second: number;
  readonly responses: number;
  /** Milliseconds. */
  readonly p99: number;
  readonly residentMb: number;
  /** After a full collection. */
  readonly heapMb: number;
  readonly descriptors: number;
}

export interface Outcome {
  readonly samples: readonly Sample[];
  readonly failures: Failures;
  /** How often each was done. */
  readonly done: ReadonlyMap<string, number>;
  /** Open before the run and after it, when all connections had come to their end. */
  readonly descriptors: { readonly before: number; readonly after: number };
}

/** A shorter run is too short to judge memory growth and p99. */
const JUDGED_FROM_SECONDS = 300;

/** The share of a run in which caches fill and code is compiled. */
const WARM_UP = 1 / 6;

export const TOLERATED = {
  descriptors: 8,
  /** Of resident memory and heap over the second half: by a line through its rows, against their mean. */
  rise: 0.1,
  /** The last third's p99 against the first's: a factor, and additional milliseconds. */
  p99Times: 1.5,
  p99Ms: 5,
} as const;

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / (numbers.length || 1);

/** Of a line through the points, by least squares: what is added from the first point to the last. */
function rise(numbers: readonly number[]): number {
  const middle = (numbers.length - 1) / 2;
  const height = mean(numbers);
  let [up, along] = [0, 0];
  for (const [at, number] of numbers.entries()) {
    up += (at - middle) * (number - height);
    along += (at - middle) ** 2;
  }
  return along === 0 ? 0 : (up / along) * (numbers.length - 1);
}

/** What grew over the second half, and what clients waited at the end and the beginning. */
export interface Trend {
  readonly residentMb: number;
  readonly heapMb: number;
  readonly firstP99: number;
  readonly lastP99: number;
}

export function trendOf(samples: readonly Sample[]): Trend {
  const half = samples.slice(Math.floor(samples.length / 2));
  const warm = samples.slice(Math.ceil(samples.length * WARM_UP));
  const third = Math.ceil(warm.length / 3);
  const p99 = (rows: readonly Sample[]): number => median(rows.map((row) => row.p99));
  return {
    residentMb: rise(half.map((row) => row.residentMb)),
    heapMb: rise(half.map((row) => row.heapMb)),
    firstP99: p99(warm.slice(0, third)),
    lastP99: p99(warm.slice(-third)),
  };
}

function growth(samples: readonly Sample[]): string[] {
  const trend = trendOf(samples);
  const half = samples.slice(Math.floor(samples.length / 2));
  const grew = (name: string, of: "residentMb" | "heapMb"): string[] =>
    trend[of] > mean(half.map((row) => row[of])) * TOLERATED.rise
      ? [`${name} grew by ${trend[of].toFixed(1)} MB over the second half`]
      : [];
  const most = trend.firstP99 * TOLERATED.p99Times + TOLERATED.p99Ms;
  return [
    ...grew("resident memory", "residentMb"),
    ...grew("the heap", "heapMb"),
    ...(trend.lastP99 > most
      ? [`p99 rose from ${trend.firstP99.toFixed(1)} to ${trend.lastP99.toFixed(1)} ms`]
      : []),
  ];
}

export const isJudged = (samples: readonly Sample[]): boolean =>
  (samples.at(-1)?.second ?? 0) >= JUDGED_FROM_SECONDS;

/** What a run shows to be wrong with the gateway; empty where all is well. */
export function faultsOf({ samples, failures, done, descriptors }: Outcome): string[] {
  const { before, after } = descriptors;
  const never = [...done].flatMap(([name, times]) => (times === 0 ? [name] : []));
  return [
    ...(failures.count > 0 ? [`${failures.count} failed: ${failures.first.join(" | ")}`] : []),
    ...(never.length > 0 ? [`never done: ${never.join(", ")}`] : []),
    ...(after > before + TOLERATED.descriptors ? [`descriptors grew from ${before} to ${after}`] : []),
    ...(isJudged(samples) ? growth(samples) : []),
  ];
}
