import type { RecordColumns } from "./stored-row.ts";

type SizedRow = Pick<RecordColumns, "client"> & { readonly size: number };

/** A client with at least this share of the bytes of a commit gets segments of its own. */
const OWN_SHARE = 1 / 4;

/** The owner of segments with records of several clients, of whom none has a larger share of a commit than `OWN_SHARE`. */
export const SEVERAL = "";

/**
 * Owners of segments with records of several clients, whose shares of the recent bytes are below a limit. Otherwise a few
 * tokens that flood, none of them with a quarter, would remove the records of quiet clients with their own.
 */
const SMALLER: readonly (readonly [limit: number, owner: string])[] = [
  [1 / 256, "<1/256"],
  [1 / 16, "<1/16"],
];
const SHARED: ReadonlySet<string> = new Set([SEVERAL, ...SMALLER.map(([, owner]) => owner)]);

/** After so many bytes of records, earlier ones count half. */
const RECENT_BYTES = 16 * 1024 * 1024;
/** Clients with fewer recent bytes are forgotten then, so that the map is bounded. */
const LEAST_BYTES = 4096;

/** The bytes of records that each client caused lately. One commit alone may be small, and says little about a client. */
export class RecentBytes {
  readonly #bytes = new Map<string, number>();
  #all = 0;
  #sinceHalved = 0;

  add(rows: readonly SizedRow[]): void {
    for (const { client, size } of rows) {
      this.#all += size;
      this.#sinceHalved += size;
      if (client !== null) this.#bytes.set(client, (this.#bytes.get(client) ?? 0) + size);
    }
    if (this.#sinceHalved < RECENT_BYTES) return;
    this.#sinceHalved = 0;
    this.#all /= 2;
    for (const [client, bytes] of this.#bytes)
      if (bytes < LEAST_BYTES) this.#bytes.delete(client);
      else this.#bytes.set(client, bytes / 2);
  }

  /** Returns the owner of the segments that have the records of this client, if it has none of its own. */
  sharedOwner(client: string): string {
    const bytes = this.#bytes.get(client) ?? 0;
    return SMALLER.find(([limit]) => bytes < this.#all * limit)?.[1] ?? SEVERAL;
  }
}

/** Returns the clients that get segments of their own. There are four at most, so that commits have few segments. */
export function owners(rows: readonly SizedRow[]): Set<string> {
  const bytes = new Map<string, number>();
  let all = 0;
  for (const { client, size } of rows) {
    all += size;
    if (client !== null) bytes.set(client, (bytes.get(client) ?? 0) + size);
  }
  return new Set([...bytes].flatMap(([client, own]) => (own >= all * OWN_SHARE ? [client] : [])));
}

/** What is removed next: from the oldest segment of a client that has its bodies, or that has none. */
export interface Cut {
  readonly owner: string;
  /** False: the bodies of its records are removed. True: it has none, and is deleted. */
  readonly bare: boolean;
}

/** The bytes of a client's segments. */
interface Share {
  /** Of segments whose records have their bodies. */
  full: number;
  /** Of segments whose bodies have been removed. */
  bare: number;
}

/**
 * The bytes of each client in a store that is full. They decide what is removed: first from the client with the largest share,
 * so that no client can remove the records of another one.
 */
export class ClientShares {
  readonly #shares = new Map<string, Share>();

  add({ owner, bare }: Cut, bytes: number): void {
    const share = this.#shares.get(owner) ?? { full: 0, bare: 0 };
    share[bare ? "bare" : "full"] += bytes;
    this.#shares.set(owner, share);
  }

  /** Forgets bytes that are not found, so that the next cut is another one. */
  clear({ owner, bare }: Cut): void {
    const share = this.#shares.get(owner);
    if (share) share[bare ? "bare" : "full"] = 0;
  }

  /**
   * Returns the next cut; undefined if nothing is left. The oldest bodies go first. Records without bodies go when they take
   * half of the share, so that neither the newest bodies are removed nor all old records.
   */
  next(): Cut | undefined {
    let largest: Cut | undefined;
    let most = 0;
    for (const [owner, { full, bare }] of this.#shares) {
      // None of several clients has more than this.
      const bytes = (full + bare) * (SHARED.has(owner) ? OWN_SHARE : 1);
      if (bytes <= most) continue;
      most = bytes;
      largest = { owner, bare: bare >= full };
    }
    return largest;
  }
}
