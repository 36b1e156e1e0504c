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

/** The requests of a commit whose losses are the same. */
interface SameLosses extends Pick<LossRow, "day" | "client" | "route"> {
  readonly lostBits: string;
  requests: number;
}

function groupLosses(rows: Iterable<LossyRow>): Iterable<SameLosses> {
  const groups = new Map<string, SameLosses>();
  for (const { time, key: client, route, lostBits, requests = 1 } of rows) {
    if (!lostBits || route === null || client === UNACCEPTED) continue;
    const day = dayOf(time);
    const id = `${day}\n${client}\n${route}\n${lostBits}`;
    const same = groups.get(id);
    if (same) same.requests += requests;
    else groups.set(id, { day, client, route, lostBits, requests });
  }
  return groups.values();
}

/** Counts the losses of a commit. Callers without an accepted token are left out. */
export function aggregateLosses(rows: Iterable<LossyRow>): LossRow[] {
  const counted = new Map<string, LossRow>();
  for (const { day, client, route, lostBits, requests } of groupLosses(rows)) {
    const [pack = "", digits = ""] = lostBits.split(" ");
    for (const place of setBits(Buffer.from(digits, "hex"))) {
      const id = [day, client, route, pack, place].join("\n");
      const same = counted.get(id);
      if (same) same.requests += requests;
      else counted.set(id, { day, client, route, pack, place, requests });
    }
  }
  return [...counted.values()];
}
