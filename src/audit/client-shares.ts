import type { RecordColumns } from "./stored-row.ts";

/** A client with at least this share of the bytes of a commit gets segments of its own. */
const OWN_SHARE = 1 / 4;

/** The owner of segments with records of several clients, of whom none has a larger share of a commit than `OWN_SHARE`. */
export const SEVERAL = "";

/** Returns the clients that get segments of their own. There are four at most, so that commits have few segments. */
export function owners(
  rows: readonly (Pick<RecordColumns, "client"> & { readonly size: number })[],
): Set<string> {
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
      const bytes = (full + bare) * (owner === SEVERAL ? OWN_SHARE : 1);
      if (bytes <= most) continue;
      most = bytes;
      largest = { owner, bare: bare >= full };
    }
    return largest;
  }
}
