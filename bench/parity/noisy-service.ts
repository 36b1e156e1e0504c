/** Part 2: whether two services without a mistake are never called different. */
import type { PackFiles } from "../../src/pack/load/load-pack.ts";
import { isTripped } from "../../src/migration/rollout/returns/cusum.ts";
import { createRandom, withChanges, withOldHabits, type Clock, type Random } from "./noise.ts";
import { REQUESTS } from "./requests.ts";
import { createComparer } from "./run.ts";
import { createService, createV4, editPack, type V4 } from "./services.ts";
import { nextScore } from "./simulated-routes.ts";

/** How the comparisons of a run ended. */
export interface NoiseResult {
  readonly counts: Readonly<Record<string, number>>;
  readonly trips: number;
  /** `GET /path: field kind` of what was called different. */
  readonly different: readonly string[];
  /** Bytes of what is known about the old service, as JSON. */
  readonly stateBytes: number;
}

/** Writes per second of the other program. */
const WRITES_PER_SECOND = 50;
const GROUPS = ["", "web", "db", "mail", "spare"];

/** Another program, which changes objects as time goes by. */
function createWriter(v4: V4, clock: Clock, random: Random): () => Promise<void> {
  let done = 0;
  return async () => {
    // Confirmations move the clock by seconds: not more writes than a second has.
    const due = Math.min(WRITES_PER_SECOND, Math.floor((clock.elapsed * WRITES_PER_SECOND) / 1000) - done);
    done = Math.floor((clock.elapsed * WRITES_PER_SECOND) / 1000);
    for (let count = 0; count < due; count += 1) {
      const id = 5201 + Math.floor(random() * 60);
      const group = GROUPS[Math.floor(random() * GROUPS.length)];
      await v4.write("PUT", `/v4/vm/instances/${id}`, { group });
    }
  };
}

/**
 * Compares the pack with itself, behind an old service with times, counters, a random order and rounding.
 *
 * @param hasWriter Whether another program changes objects 50 times a second.
 * @param seed Of all random numbers. Each run starts without any knowledge.
 */
export async function compareNoise(
  files: PackFiles,
  requests: number,
  hasWriter: boolean,
  seed = 1,
): Promise<NoiseResult> {
  const pack = editPack(files, []);
  const clock: Clock = { elapsed: 0 };
  const random = createRandom(seed);
  const v4 = createV4();
  const upstream = withChanges(v4, clock, random);
  const comparer = createComparer({
    pack,
    old: withOldHabits(await createService(pack, upstream), random),
    new: await createService(pack, upstream),
    clock,
    random,
    ...(hasWriter && { afterAnswer: createWriter(v4, clock, random) }),
  });
  const all = Object.values(REQUESTS).flat();
  const counts: Record<string, number> = {};
  const different: string[] = [];
  const scores = new Map<string, number>();
  let trips = 0;
  for (let count = 0; count < requests; count += 1) {
    const request = all[Math.floor(random() * all.length)];
    if (!request) break;
    const { result, differences, route } = await comparer.compare(request);
    counts[result] = (counts[result] ?? 0) + 1;
    if (result === "different" && different.length < 20)
      different.push(
        `${request.path}: ${differences.map(({ field, kind }) => `${field} ${kind}`).join(", ")}`,
      );
    const score = nextScore(scores.get(route) ?? 0, result === "different");
    scores.set(route, isTripped(score) ? 0 : score);
    if (isTripped(score)) trips += 1;
  }
  return { counts, trips, different, stateBytes: JSON.stringify(comparer.volatile).length };
}
