/** Counts which losses requests had. */
import { countByBits } from "./count-usage.ts";
import { setBits } from "./sent-usage.ts";
import type { IndexRow } from "../store/stored-row.ts";
import type { Keyed } from "./summary-key.ts";

/** How many requests of a client to a route lost the same on a day. */
export interface LossRow {
  readonly day: string;
  readonly client: string;
  readonly route: string;
  readonly pack: string;
  /** The number of the loss in the names of the route. */
  readonly place: number;
  requests: number;
}

/** The columns of a record that its losses need. */
export type LossyRow = Pick<Keyed<IndexRow>, "time" | "key" | "route" | "lostBits" | "requests">;

/** Counts the losses of a commit. Callers without an accepted token are left out. */
export function aggregateLosses(rows: Iterable<LossyRow>): LossRow[] {
  const counted = new Map<string, LossRow>();
  for (const { day, client, route, pack, bits, requests } of countByBits(rows, "lostBits")) {
    for (const place of setBits(bits)) {
      const id = [day, client, route, pack, place].join("\n");
      const same = counted.get(id);
      if (same) same.requests += requests;
      else counted.set(id, { day, client, route, pack, place, requests });
    }
  }
  return [...counted.values()];
}
