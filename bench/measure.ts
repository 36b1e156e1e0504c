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
  /** Milliseconds. */
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
const AFTERMATH_MS = 150;

export interface UpstreamState {
  readonly answered: number;
  /** Path of one object. */
  readonly one: string;
  readonly listBytes: number;
}

export async function upstreamState({ upstream }: Field): Promise<UpstreamState> {
  return (await (await fetch(`${upstream.url}/answered`)).json()) as UpstreamState;
}

/** Loads one target and tells what came out. */
export async function measure(
  field: Field,
  loader: Loader,
  { name, server, authorization }: Target,
  ask: Ask,
  { connections, ms }: { connections: number; ms: number },
): Promise<Measurement> {
  const callsBefore = (await upstreamState(field)).answered;
  const before = processCost(server.pid);
  const load = await loader.run({ url: server.url, path: ask.path, authorization, connections, ms });
  await wait(AFTERMATH_MS);
  const after = processCost(server.pid);
  const requests = load.requests || 1;
  return {
    target: name,
    ask: ask.name,
    requests: load.requests,
    failed: load.failed,
    fault: load.fault,
    perSecond: load.requests / load.seconds,
    p50: load.p50,
    p99: load.p99,
    cpu: before && after && (after.cpu - before.cpu) / requests,
    memory: after?.memory,
    v4Calls: ((await upstreamState(field)).answered - callsBefore) / requests,
  };
}

/** All rounds. In each every target has its turn, so that what changes on the machine meanwhile meets all alike. */
export async function measureAll(
  field: Field,
  loader: Loader,
  asks: readonly Ask[],
  { rounds, measureMs, warmUpMs, connections }: BenchOptions,
): Promise<Measurement[]> {
  const turns = asks.flatMap((ask) => field.targets.map((target) => ({ ask, target })));
  const measurements: Measurement[] = [];
  for (const { ask, target } of turns)
    await measure(field, loader, target, ask, { connections, ms: warmUpMs });
  for (let round = 0; round < rounds; round += 1) {
    for (const { ask, target } of turns) {
      measurements.push(await measure(field, loader, target, ask, { connections, ms: measureMs }));
    }
  }
  return measurements;
}
