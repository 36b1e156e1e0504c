/** The load generator, in a process of its own: a fixed number of connections, each asking again when it has its answer. */
import { Pool } from "undici";

export interface LoadJob {
  readonly url: string;
  readonly path: string;
  readonly authorization: string;
  readonly connections: number;
  readonly ms: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly failed: number;
  /** Of the first that failed. */
  readonly fault: string | undefined;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** @param sorted ascending */
const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

async function run({ url, path, authorization, connections, ms }: LoadJob): Promise<LoadResult> {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const times: number[] = [];
  let failed = 0;
  let fault: string | undefined;
  const begun = performance.now();

  async function ask(): Promise<void> {
    const asked = performance.now();
    const { statusCode, body } = await pool.request({ method: "GET", path, headers: { authorization } });
    const bytes = (await body.arrayBuffer()).byteLength;
    times.push(performance.now() - asked);
    if (statusCode !== 200 || bytes === 0) throw new Error(`status ${statusCode}, ${bytes} bytes`);
  }

  async function askUntilOver(): Promise<void> {
    while (performance.now() - begun < ms) {
      try {
        await ask();
      } catch (error) {
        failed += 1;
        fault ??= (error as Error).message;
      }
    }
  }

  await Promise.all(Array.from({ length: connections }, askUntilOver));
  const seconds = (performance.now() - begun) / 1000;
  await pool.close();
  const sorted = Float64Array.from(times).sort();
  return {
    requests: times.length,
    failed,
    fault,
    seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  };
}

process.on("message", (job: LoadJob) => void run(job).then((result) => process.send?.(result)));
process.on("disconnect", () => process.exit());
