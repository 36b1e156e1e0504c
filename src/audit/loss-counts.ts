/** Counts which losses requests had. */
import { setBits } from "./sent-usage.ts";
import type { IndexRow } from "./stored-row.ts";
import { UNACCEPTED, type Keyed } from "./summary-key.ts";
import { dayOf } from "./usage.ts";

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
  for (const { time, key: client, route, lostBits, requests = 1 } of rows) {
    if (!lostBits || route === null || client === UNACCEPTED) continue;
    const [pack = "", digits = ""] = lostBits.split(" ");
    const day = dayOf(time);
    for (const place of setBits(Buffer.from(digits, "hex"))) {
      const id = [day, client, route, pack, place].join("\n");
      const same = counted.get(id);
      if (same) same.requests += requests;
      else counted.set(id, { day, client, route, pack, place, requests });
    }
  }
  return [...counted.values()];
}
