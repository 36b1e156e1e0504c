import { setTimeout as wait } from "node:timers/promises";
import type { BenchOptions } from "./options.ts";
import type { Loader } from "./loader.ts";
import { processCost } from "./process-cost.ts";
import type { Field, Target } from "./targets.ts";

/** What a target is asked for. */
export interface Ask {
  readonly name: string;
  readonly path: string;
}

/** One target, one kind of request, one round. */
export interface Measurement {
  readonly target: string;
  readonly ask: string;
  readonly requests: number;
  readonly failed: number;
  readonly fault: string | undefined;
  readonly perSecond: number;
  /** Milliseconds, at a fixed rate of requests. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds a request, of the server alone; undefined where the system doesn't tell. */
  readonly cpu: number | undefined;
  /** Resident bytes of the server. */
  readonly memory: number | undefined;
  /** Calls to v4 a request. */
  readonly v4Calls: number;
}

/** The audit commits in groups: what a request costs is spent a little after its answer. */
export const AFTERMATH_MS = 150;

export interface UpstreamState {
  readonly answered: number;
  /** Paths of two objects: an instance, and a disk of it. */
  readonly one: string;
  readonly disk: string;
  readonly listBytes: number;
}

export async function upstreamState({ upstream }: Pick<Field, "upstream">): Promise<UpstreamState> {
  return (await (await fetch(`${upstream.url}/answered`)).json()) as UpstreamState;
}

/** Everything a target can do, then a fixed rate: what it costs shows in the first, what clients wait in the second. */
export async function measure(
  field: Field,
  loader: Loader,
  { name, server, authorization }: Target,
  ask: Ask,
  { connections, ms, rate }: { connections: number; ms: number; rate: number },
): Promise<Measurement> {
  const job = { url: server.url, path: ask.path, authorization, connections, ms };
  const callsBefore = (await upstreamState(field)).answered;
  const before = processCost(server.pid);
  const load = await loader.run(job);
  await wait(AFTERMATH_MS);
  const after = processCost(server.pid);
  const v4Calls = (await upstreamState(field)).answered - callsBefore;
  const paced = await loader.run({ ...job, rate });
  const requests = load.requests || 1;
  return {
    target: name,
    ask: ask.name,
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

/** All rounds. In each every target has its turn, so that what changes on the machine meanwhile meets all alike. */
export async function measureAll(
  field: Field,
  loader: Loader,
  asks: readonly Ask[],
  { rounds, measureMs, warmUpMs, connections, rate }: BenchOptions,
): Promise<Measurement[]> {
  const turns = asks.flatMap((ask) => field.targets.map((target) => ({ ask, target })));
  const measurements: Measurement[] = [];
  for (const { ask, target } of turns) {
    const { server, authorization } = target;
    await loader.run({ url: server.url, path: ask.path, authorization, connections, ms: warmUpMs });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { ask, target } of turns) {
      measurements.push(await measure(field, loader, target, ask, { connections, ms: measureMs, rate }));
    }
  }
  return measurements;
}
