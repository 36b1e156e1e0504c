/** Runs a gateway in this thread and measures what each request costs it. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { startService } from "../../src/app/composition/start.ts";
import { readEnvironment } from "../../src/base/settings/settings.ts";
import { countAllocations } from "./allocations.ts";
import type { V4Response, Job, ClientResponse, Lists } from "./client-and-v4.ts";
import type { Request, SizeLimits } from "./raw-request.ts";

/** What one request costs. */
export interface Cost {
  /** Milliseconds of the thread of the event loop, without full garbage collections: earlier requests cause them too. */
  readonly ms: number;
  /** Millions of bytes allocated. */
  readonly mb: number;
  readonly response: ClientResponse;
}

export interface MeasureOptions {
  /** Default: just below the limits. */
  readonly limits?: SizeLimits;
  /** Also counts the work after the response, which takes a moment. */
  readonly settle?: boolean;
}

export interface CostBench {
  measure(request: Request, responses: readonly V4Response[], how?: MeasureOptions): Promise<Cost>;
  stop(): Promise<void>;
}

/** The default limits of the settings and of Node. */
export const LIMITS: SizeLimits = { body: 1_000_000, head: 16_000 };

/** The audit commits in batches. After this time the work that follows a response is done. */
const LATER_MS = 130;

/** Runs a function and measures the cost of this thread meanwhile. */
async function spent(work: () => Promise<ClientResponse>, settle: boolean): Promise<Cost> {
  const stop = countAllocations();
  const begun = process.threadCpuUsage();
  const response = await work();
  if (settle) await wait(LATER_MS);
  const { user, system } = process.threadCpuUsage(begun);
  const { mb, fullCollections } = stop();
  return { ms: Math.max(0, user + system - fullCollections) / 1000, mb, response };
}

/** Starts a gateway in front of a v4 that responds at once. */
export async function startCostBench(
  lists: Lists,
  settings: Readonly<Record<string, string>> = {},
): Promise<CostBench> {
  const worker = new Worker(join(import.meta.dirname, "client-and-v4.ts"), { workerData: { lists } });
  const [{ port }] = (await once(worker, "message")) as [{ readonly port: number }];
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
  const send = async (given: Job): Promise<ClientResponse> => {
    const response = once(worker, "message");
    worker.postMessage(given, []);
    return ((await response) as [ClientResponse])[0];
  };
  return {
    measure: (request, responses, { limits = LIMITS, settle = false } = {}) =>
      spent(
        () =>
          send({
            url: (request.admin ? service.adminUrl : service.url) ?? "",
            request,
            limits,
            responses,
          }),
        settle,
      ),
    async stop() {
      await service.stop();
      await worker.terminate();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
