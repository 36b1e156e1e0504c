/** Counts which names clients sent, and what their requests lost. */
import type { CountedRow } from "./count-usage.ts";
import { UNACCEPTED } from "./summary-key.ts";
import { dayNumber } from "./usage.ts";

/** How many requests of a client to a route had a name on a day. */
export interface NameRow {
  readonly day: number;
  readonly client: string;
  readonly route: string;
  readonly name: string;
  requests: number;
}

/** Counts the names of a column of the rows of a commit. Callers without an accepted token are left out. */
export function aggregateNames(rows: Iterable<CountedRow>, column: "sentNames" | "lostNames"): NameRow[] {
  // Few rows have different content.
  const counted = new Map<string, Omit<NameRow, "name"> & { readonly list: string }>();
  for (const row of rows) {
    const { time, key: client, route, requests = 1 } = row;
    const list = row[column];
    if (list === undefined || route === null || client === UNACCEPTED) continue;
    const day = dayNumber(time);
    const id = `${day}\n${client}\n${route}\n${list}`;
    const same = counted.get(id);
    if (same) same.requests += requests;
    else counted.set(id, { day, client, route, list, requests });
  }
  const named = new Map<string, NameRow>();
  for (const { list, ...row } of counted.values())
    for (const name of JSON.parse(list) as readonly string[]) {
      const id = `${row.day}\n${row.client}\n${row.route}\n${name}`;
      const same = named.get(id);
      if (same) same.requests += row.requests;
      else named.set(id, { ...row, name });
    }
  return [...named.values()];
}
