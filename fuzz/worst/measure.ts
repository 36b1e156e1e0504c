/** A gateway in this thread, and what a request costs it. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { GCProfiler, getHeapStatistics } from "node:v8";
import { Worker } from "node:worker_threads";
import { startService } from "../../src/app/start.ts";
import { readEnvironment } from "../../src/config/settings.ts";
import type { Answer, Ask, Came, Lists } from "./outside.ts";
import type { Request, Room } from "./request.ts";

/** What one request costs. */
export interface Cost {
  /** Milliseconds of the thread of the event loop, without full garbage collections: earlier requests cause them too. */
  readonly ms: number;
  /** Millions of bytes allocated. */
  readonly mb: number;
  readonly came: Came;
}

export interface How {
  /** Default: all that passes the limits. */
  readonly room?: Room;
  /** Counts what is done after the answer too, which takes a moment. */
  readonly settle?: boolean;
}

export interface Bench {
  measure(request: Request, answers: readonly Answer[], how?: How): Promise<Cost>;
  stop(): Promise<void>;
}

/** The defaults of the settings, and of Node. */
export const LIMITS: Room = { body: 1_000_000, head: 16_000 };

/** Records are committed in groups: what is left to do after the answer is done then. */
const LATER_MS = 130;

const used = (): number => {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
};

const MINOR_COLLECTIONS = new Set(["Scavenge", "MinorMarkSweep", "MinorMarkCompact"]);

/** Runs something and measures what the thread did meanwhile. */
async function spent(work: () => Promise<Came>, settle: boolean): Promise<Cost> {
  const profiler = new GCProfiler();
  profiler.start();
  const before = used();
  const begun = process.threadCpuUsage();
  const came = await work();
  if (settle) await wait(LATER_MS);
  const { user, system } = process.threadCpuUsage(begun);
  const after = used();
  let freed = 0;
  let collecting = 0;
  for (const { beforeGC, afterGC, cost, gcType } of profiler.stop()?.statistics ?? []) {
    if (!MINOR_COLLECTIONS.has(gcType)) collecting += cost;
    freed +=
      beforeGC.heapStatistics.usedHeapSize +
      beforeGC.heapStatistics.externalMemory -
      afterGC.heapStatistics.usedHeapSize -
      afterGC.heapStatistics.externalMemory;
  }
  return { ms: Math.max(0, user + system - collecting) / 1000, mb: (after - before + freed) / 1e6, came };
}

/** Starts one before a v4 that answers at once. */
export async function startBench(
  lists: Lists,
  settings: Readonly<Record<string, string>> = {},
): Promise<Bench> {
  const outside = new Worker(join(import.meta.dirname, "outside.ts"), { workerData: { lists } });
  const [{ port }] = (await once(outside, "message")) as [{ readonly port: number }];
  const folder = await mkdtemp(join(tmpdir(), "worst-"));
  const service = await startService(
    readEnvironment({
      PORT: "0",
      ADMIN_PORT: "0",
      ADMIN_TOKEN: "0123456789abcdef0123456789abcdef",
      DATA_DIR: folder,
      LOG_LEVEL: "silent",
      UPSTREAM_URL: `http://127.0.0.1:${port}`,
      AUTH_URL: `http://127.0.0.1:${port}`,
      SHUTDOWN_GRACE_MS: "200",
      TRUST_PROXY: "127.0.0.1",
      CORS_ORIGINS: "https://a.example",
      RATE_LIMIT: "1000000/120",
      RATE_LIMIT_CREATE: "1000000/30",
      ...settings,
    }),
  );
  const ask = async (given: Ask): Promise<Came> => {
    const came = once(outside, "message");
    outside.postMessage(given, []);
    return ((await came) as [Came])[0];
  };
  return {
    measure: (request, answers, { room = LIMITS, settle = false } = {}) =>
      spent(
        () =>
          ask({
            url: (request.admin ? service.adminUrl : service.url) ?? "",
            request,
            room,
            answers,
          }),
        settle,
      ),
    async stop() {
      await service.stop();
      await outside.terminate();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
