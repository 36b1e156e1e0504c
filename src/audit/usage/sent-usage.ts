/** Reads which names clients sent. */
import type { SentRow } from "./sent-members.ts";

/** The numbers of the bits that are set. */
export function setBits(bytes: Uint8Array): number[] {
  const set: number[] = [];
  for (let index = 0; index < bytes.length * 8; index += 1)
    if ((bytes[index >> 3] ?? 0) & (0x80 >> (index & 7))) set.push(index);
  return set;
}

/** A name that a client sent to a route. */
export interface SentUsage {
  /** The key of the client; null: requests without a token. */
  readonly client: string | null;
  readonly route: string;
  /** `body.label`, `body.plan=small`, `query.page`, `filter.status`, `filter.status=running`. */
  readonly name: string;
  /** The first and the last day on which it was sent, `2026-03-01`. */
  readonly firstDay: string;
  readonly lastDay: string;
  /** All requests of the client to the route in the days of the query, with the name or without it. */
  readonly requests: number;
}

/** The days on which a client sent the same names to a route. */
export interface SentDays extends Pick<SentRow, "client" | "route" | "pack"> {
  readonly bits: Uint8Array;
  readonly firstDay: string;
  readonly lastDay: string;
}

/** All requests of a client to a route. */
export interface RouteRequests {
  readonly client: string;
  readonly route: string;
  readonly requests: number;
}

/** A name, and the first and the last day on which a client sent it to a route. */
type NameDays = Omit<SentUsage, "requests">;

/**
 * Finds the names that the bits of rows stand for, each of a client and a route once.
 *
 * @param count Counts a row. It gets what was counted of the same name in other rows
 */
export function collectNames<Row extends SentDays, Counts>(
  rows: Iterable<Row>,
  namesOf: (pack: string, route: string) => readonly string[] | undefined,
  count: (row: Row, others: Counts | undefined) => Counts,
): (NameDays & Counts)[] {
  const found = new Map<string, NameDays & Counts>();
  for (const row of rows) {
    const { client, route, pack, bits, firstDay, lastDay } = row;
    const names = namesOf(pack, route) ?? [];
    for (const index of setBits(bits)) {
      const name = names[index];
      if (name === undefined) continue;
      const key = `${client}\n${route}\n${name}`;
      const other = found.get(key);
      found.set(key, {
        client: client || null,
        route,
        name,
        firstDay: other && other.firstDay < firstDay ? other.firstDay : firstDay,
        lastDay: other && other.lastDay > lastDay ? other.lastDay : lastDay,
        ...count(row, other),
      });
    }
  }
  return [...found.values()];
}

/**
 * Lists the names that clients sent, those of the most frequent routes first.
 *
 * @param namesOf The names of a route in a pack
 */
export function listSent(
  rows: Iterable<SentDays>,
  namesOf: (pack: string, route: string) => readonly string[] | undefined,
  counted: Iterable<RouteRequests>,
): SentUsage[] {
  const requestsOf = new Map<string, number>();
  for (const { client, route, requests } of counted) requestsOf.set(`${client}\n${route}`, requests);
  const found = collectNames(rows, namesOf, ({ client, route }) => ({
    requests: requestsOf.get(`${client}\n${route}`) ?? 0,
  }));
  return found.toSorted((one, other) => other.requests - one.requests || (one.name < other.name ? -1 : 1));
}

/** Looks up each list of names once. */
export function cacheNames(
  namesOf: (pack: string, route: string) => readonly string[] | undefined,
): typeof namesOf {
  const cached = new Map<string, readonly string[] | undefined>();
  return (pack, route) => {
    const key = `${pack} ${route}`;
    if (!cached.has(key)) cached.set(key, namesOf(pack, route));
    return cached.get(key);
  };
}
