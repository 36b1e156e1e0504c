/** The load generator, in a process of its own. */
import { setTimeout as wait } from "node:timers/promises";
import { Pool } from "undici";

export interface LoadJob {
  readonly url: string;
  readonly path: string;
  readonly authorization: string;
  readonly connections: number;
  readonly ms: number;
  /** Requests after which it ends, before its time is over; undefined: any number. */
  readonly requests?: number;
  /**
   * Requests a second, sent when their time has come whatever became of those before; undefined: each connection
   * sends its next request when it has the response.
   */
  readonly rate?: number;
  /** Requests of each of the `p99s`; undefined: there are none. */
  readonly window?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly failed: number;
  /** Of the first that failed. */
  readonly fault: string | undefined;
  readonly seconds: number;
  /**
   * Milliseconds. With a rate they count from the time at which a request should have been sent: a server that makes
   * the next ones wait is not flattered by their being sent later.
   */
  readonly p50: number;
  readonly p99: number;
  /** The p99 of each window, in the order of the responses. */
  readonly p99s: readonly number[];
}

/** @param sorted ascending */
const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const sort = (times: readonly number[]): Float64Array => Float64Array.from(times).sort();

/** @param times in the order of the responses */
const p99sOf = (times: readonly number[], window: number): number[] =>
  Array.from({ length: Math.floor(times.length / window) }, (_, index) =>
    percentile(sort(times.slice(index * window, (index + 1) * window)), 0.99),
  );

/** Asks once; adds the milliseconds since `due` to the times. */
type SendOne = (due: number) => Promise<void>;

async function loadUntilEnd(
  sendOne: SendOne,
  { connections, ms, requests = Infinity }: LoadJob,
): Promise<void> {
  const end = performance.now() + ms;
  let sent = 0;
  async function connection(): Promise<void> {
    while (performance.now() < end && sent < requests) {
      sent += 1;
      await sendOne(performance.now());
    }
  }
  await Promise.all(Array.from({ length: connections }, connection));
}

async function loadAtRate(sendOne: SendOne, rate: number, ms: number): Promise<void> {
  const begun = performance.now();
  const most = Math.round((ms / 1000) * rate);
  const sent: Promise<void>[] = [];
  while (sent.length < most) {
    const due = begun + (sent.length * 1000) / rate;
    const early = due - performance.now();
    if (early <= 0) sent.push(sendOne(due));
    else await wait(early);
  }
  await Promise.all(sent);
}

async function run(job: LoadJob): Promise<LoadResult> {
  const { url, path, authorization, connections, ms, rate, window = Infinity } = job;
  const pool = new Pool(url, { connections, pipelining: 1 });
  const times: number[] = [];
  let failed = 0;
  let fault: string | undefined;
  const begun = performance.now();

  async function sendOne(due: number): Promise<void> {
    try {
      const { statusCode, body } = await pool.request({ method: "GET", path, headers: { authorization } });
      const bytes = (await body.arrayBuffer()).byteLength;
      times.push(performance.now() - due);
      if (statusCode !== 200 || bytes === 0) throw new Error(`status ${statusCode}, ${bytes} bytes`);
    } catch (error) {
      failed += 1;
      fault ??= (error as Error).message;
    }
  }

  await (rate === undefined ? loadUntilEnd(sendOne, job) : loadAtRate(sendOne, rate, ms));
  const seconds = (performance.now() - begun) / 1000;
  await pool.close();
  const sorted = sort(times);
  return {
    requests: times.length,
    failed,
    fault,
    seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    p99s: p99sOf(times, window),
  };
}

process.on("message", (job: LoadJob) => void run(job).then((result) => process.send?.(result)));
process.on("disconnect", () => process.exit());
