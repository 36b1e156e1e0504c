import { setTimeout as wait } from "node:timers/promises";
import type { BenchOptions } from "./options.ts";
import type { Loader } from "./loader.ts";
import { processCost } from "./process-cost.ts";
import type { BenchSetup, Target } from "./targets.ts";

/** The request that a target gets. */
export interface RequestKind {
  readonly name: string;
  readonly path: string;
}

/** One target, one kind of request, one round. */
export interface Measurement {
  readonly target: string;
  readonly request: string;
  readonly requests: number;
  readonly failed: number;
  readonly fault: string | undefined;
  readonly perSecond: number;
  /** Milliseconds, at a fixed rate of requests. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds a request, of the server alone; undefined where the system doesn't report it. */
  readonly cpu: number | undefined;
  /** Resident bytes of the server. */
  readonly memory: number | undefined;
  /** Calls to v4 a request. */
  readonly v4Calls: number;
}

/** The audit commits in batches, so part of a request's cost comes shortly after its response. */
export const AFTERMATH_MS = 150;

export interface UpstreamState {
  readonly callCount: number;
  /** Paths of two objects: an instance, and a disk of it. */
  readonly one: string;
  readonly disk: string;
  readonly listBytes: number;
}

export async function upstreamState({ upstream }: Pick<BenchSetup, "upstream">): Promise<UpstreamState> {
  return (await (await fetch(`${upstream.url}/state`)).json()) as UpstreamState;
}

/** Measures cost at full load, after some of that load, and then latency at a fixed rate. */
export async function measure(
  setup: BenchSetup,
  loader: Loader,
  { name, server, authorization }: Target,
  request: RequestKind,
  { connections, measureMs: ms, leadInMs, rate }: BenchOptions,
): Promise<Measurement> {
  const job = { url: server.url, path: request.path, authorization, connections, ms };
  await loader.run({ ...job, ms: leadInMs });
  const callsBefore = (await upstreamState(setup)).callCount;
  const before = processCost(server.pid);
  const load = await loader.run(job);
  await wait(AFTERMATH_MS);
  const after = processCost(server.pid);
  const v4Calls = (await upstreamState(setup)).callCount - callsBefore;
  const paced = await loader.run({ ...job, rate });
  const requests = load.requests || 1;
  return {
    target: name,
    request: request.name,
    requests: load.requests,
    failed: load.failed + paced.failed,
    fault: load.fault ?? paced.fault,
    perSecond: load.requests / load.seconds,
    p50: paced.p50,
    p99: paced.p99,
    cpu: before && after && (after.cpu - before.cpu) / requests,
    memory: after?.memory,
    v4Calls: v4Calls / requests,
  };
}

/**
 * Parts of the warm-up. V8 drops code that was optimized for one kind of request when another kind follows, and compiles it
 * again, which would be measured. In the later parts it is already compiled for all kinds.
 */
const WARM_UP_PARTS = 4;

/** Runs all rounds. Each round measures every target, so that changes on the machine affect all of them. */
export async function measureAll(
  setup: BenchSetup,
  loader: Loader,
  requestKinds: readonly RequestKind[],
  options: BenchOptions,
): Promise<Measurement[]> {
  const { rounds, warmUpMs, connections } = options;
  const runs = requestKinds.flatMap((request) => setup.targets.map((target) => ({ request, target })));
  const measurements: Measurement[] = [];
  const ms = warmUpMs / WARM_UP_PARTS;
  for (let part = 0; part < WARM_UP_PARTS; part += 1) {
    for (const { request, target } of runs) {
      const { server, authorization } = target;
      await loader.run({ url: server.url, path: request.path, authorization, connections, ms });
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { request, target } of runs) {
      measurements.push(await measure(setup, loader, target, request, options));
    }
  }
  return measurements;
}
