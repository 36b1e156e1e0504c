import type { IndexRow } from "./stored-row.ts";
import { UNACCEPTED, type Keyed } from "./summary-key.ts";
import { dayOf } from "./usage.ts";

/** Which names of its route a client sent. It is counted, and is no part of the record's text. */
export class SentMembers {
  /** The hash of the pack that has the names. */
  readonly pack: string;
  /** All names of the route, in the order of their bits. */
  readonly names: readonly string[];
  /** One bit for each name, in hexadecimal digits: the first name is the highest bit of the first byte. */
  readonly bits: string;

  constructor(pack: string, names: readonly string[], bits: Uint8Array) {
    this.pack = pack;
    this.names = names;
    this.bits = Buffer.from(bits.buffer, bits.byteOffset, bits.length).toString("hex");
  }

  /** JSON leaves it out. */
  toJSON(): undefined {
    return undefined;
  }
}

/** The numbers of the bits that are set. */
export function setBits(bytes: Uint8Array): number[] {
  const set: number[] = [];
  for (let index = 0; index < bytes.length * 8; index += 1)
    if ((bytes[index >> 3] ?? 0) & (0x80 >> (index & 7))) set.push(index);
  return set;
}

/** Sets all bits of another string of bits. @returns whether any of them was not set */
export function addBits(target: Uint8Array, added: Uint8Array): boolean {
  let isChanged = false;
  for (const [index, byte] of added.entries()) {
    const before = target[index] ?? 0;
    if ((before | byte) === before) continue;
    target[index] = before | byte;
    isChanged = true;
  }
  return isChanged;
}

/** The names that a client sent to a route on a day. */
export interface SentRow {
  readonly day: string;
  readonly client: string;
  readonly route: string;
  readonly pack: string;
  readonly bits: Buffer;
}

/** The bytes of a text of zeros and ones, whose length is a multiple of eight. */
export const bytesOfBits = (text: string): Buffer =>
  Buffer.from(
    Array.from({ length: text.length / 8 }, (_, at) => Number.parseInt(text.slice(at * 8, at * 8 + 8), 2)),
  );

/** Joins rows that have the same key, in the order of the keys. */
export function joinSent(rows: Iterable<SentRow>): SentRow[] {
  const joined = new Map<string, SentRow>();
  for (const row of rows) {
    const key = [row.day, row.client, row.route, row.pack].join("\n");
    const same = joined.get(key);
    if (same) addBits(same.bits, row.bits);
    else joined.set(key, row);
  }
  return [...joined].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

/** Joins what the rows of a commit say. Callers without an accepted token are left out. */
export const aggregateSent = (
  rows: readonly Pick<Keyed<IndexRow>, "time" | "key" | "route" | "sentBits">[],
): SentRow[] =>
  joinSent(
    rows.flatMap(({ time, key: client, route, sentBits }) => {
      if (!sentBits || route === null || client === UNACCEPTED) return [];
      const [pack = "", digits = ""] = sentBits.split(" ");
      return [{ day: dayOf(time), client, route, pack, bits: Buffer.from(digits, "hex") }];
    }),
  );

/** The names of a route in a pack. */
export interface NameList {
  readonly pack: string;
  readonly route: string;
  readonly names: readonly string[];
}

/** Gives out each list of names until it is stored. */
export class NameLists {
  readonly #stored = new Set<string>();
  readonly #waiting = new Map<string, NameList>();

  /** Takes note of the names of a record. */
  add(route: string | null, sent: SentMembers | undefined): void {
    if (!sent || route === null) return;
    const key = `${sent.pack} ${route}`;
    if (!this.#stored.has(key)) this.#waiting.set(key, { pack: sent.pack, route, names: sent.names });
  }

  /** The lists to be stored with the next commit. */
  waiting(): readonly NameList[] {
    return [...this.#waiting.values()];
  }

  /** Takes note of a commit. A reload of the pack has few lists: all of them are remembered. */
  confirm(lists: readonly NameList[]): void {
    for (const { pack, route } of lists) {
      const key = `${pack} ${route}`;
      this.#stored.add(key);
      this.#waiting.delete(key);
    }
  }
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
  const found = new Map<string, SentUsage>();
  for (const { client, route, pack, bits, firstDay, lastDay } of rows) {
    const names = namesOf(pack, route) ?? [];
    const requests = requestsOf.get(`${client}\n${route}`) ?? 0;
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
        requests,
      });
    }
  }
  return [...found.values()].toSorted(
    (one, other) => other.requests - one.requests || (one.name < other.name ? -1 : 1),
  );
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
