/** Part 1: whether a mistake of a pack is found. */
import type { PackFiles } from "../../src/pack/load/load-pack.ts";
import type { Fault } from "./faults.ts";
import { createRandom, withChanges, withOldHabits, type Clock } from "./noise.ts";
import { REQUESTS } from "./requests.ts";
import { createComparer } from "./run.ts";
import { createService, createV4, editPack, type V4 } from "./services.ts";

/** After how many requests a mistake was confirmed; undefined if it was not. */
export interface FaultResult {
  readonly fault: Fault;
  readonly requests: number | undefined;
  /** `vms.status value` */
  readonly found: readonly string[];
}

/** Seeds one mistake and sends requests until it is confirmed in its field. */
export async function seedFault(
  fault: Fault,
  files: PackFiles,
  most: number,
  v4: V4 = createV4(),
): Promise<FaultResult> {
  const [pack, faulty] = [editPack(files, []), editPack(files, [fault])];
  const clock: Clock = { elapsed: 0 };
  const random = createRandom(7);
  const upstream = withChanges(v4, clock, random);
  const comparer = createComparer({
    pack,
    old: withOldHabits(await createService(pack, upstream), random),
    new: await createService(faulty, upstream),
    clock,
    random,
  });
  const requests = REQUESTS[fault.requests];
  const found = new Set<string>();
  for (let count = 1; count <= most; count += 1) {
    const request = requests[(count - 1) % requests.length];
    if (!request) break;
    const { result, differences } = await comparer.compare(request);
    if (result !== "different") continue;
    for (const { field, kind } of differences) found.add(`${field} ${kind}`);
    if (differences.some(({ field }) => field === fault.field))
      return { fault, requests: count, found: [...found] };
  }
  return { fault, requests: undefined, found: [...found] };
}
