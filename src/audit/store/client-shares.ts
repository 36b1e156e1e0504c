import { Shares } from "../../base/storage/shares.ts";
import type { RecordColumns } from "./record-row.ts";

type SizedRow = Pick<RecordColumns, "client" | "network"> & { readonly size: number };

/** A client or a network with at least this share of the bytes of a commit gets segments of its own. */
const OWN_SHARE = 1 / 4;

/** The owner of segments with records of several clients, none of which has more than `OWN_SHARE` of a commit. */
const SEVERAL = "";
/** Separates the client and the network in an owner. */
const AT = "@";

/**
 * Owners of segments with records of several clients whose recent shares are below a limit. Without them, a few
 * flooding tokens, each below a quarter, would remove the records of quiet clients together with their own.
 */
const SMALLER: readonly (readonly [limit: number, owner: string])[] = [
  [1 / 256, "<1/256"],
  [1 / 16, "<1/16"],
];
const SHARED: ReadonlySet<string> = new Set([SEVERAL, ...SMALLER.map(([, owner]) => owner)]);

/** After this many bytes of records, earlier bytes count half. */
const RECENT_BYTES = 16 * 1024 * 1024;
/** Clients with fewer recent bytes are then forgotten, so that the map is bounded. */
const LEAST_BYTES = 4096;

/** The recent bytes of records of each client. A single commit may be small, and shows little about a client. */
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

  /** Returns the owner of the segments that contain the records of this client, if it has no segments of its own. */
  sharedOwner(client: string): string {
    const bytes = this.#bytes.get(client) ?? 0;
    return SMALLER.find(([limit]) => bytes < this.#all * limit)?.[1] ?? SEVERAL;
  }
}

/**
 * Returns the clients or networks with a large share of the bytes. There are at most four, so that a commit has few
 * segments.
 */
function largeOf(
  rows: readonly SizedRow[],
  nameOf: (row: SizedRow) => string | null,
): ReadonlySet<string | null> {
  const bytes = new Shares<string | null>();
  for (const row of rows) bytes.take(nameOf(row), row.size);
  const large = bytes.largest(1 / OWN_SHARE).filter(([, own]) => own >= bytes.all * OWN_SHARE);
  return new Set(large.map(([name]) => name));
}

/**
 * Creates the function that returns the owner of the segment for a row of a commit, `CLIENT@NETWORK`. A client
 * without a large share is replaced by a name for several clients. A network without a large share is left out.
 *
 * @param recent including the rows of this commit
 */
export function createOwnerOf(rows: readonly SizedRow[], recent: RecentBytes): (row: SizedRow) => string {
  const clients = largeOf(rows, ({ client }) => client);
  const networks = largeOf(rows, ({ network }) => network);
  return ({ client, network }) => {
    const shared = client === null ? SEVERAL : recent.sharedOwner(client);
    const owner = client !== null && clients.has(client) ? client : shared;
    return network !== "" && networks.has(network) ? `${owner}${AT}${network}` : owner;
  };
}

/** The names that an owner counts for: its client, unless it stands for several, and its network. */
function clientsOf(owner: string): readonly string[] {
  const [client = "", network] = owner.split(AT);
  if (network === undefined) return [client];
  const all = `network ${network}`;
  return SHARED.has(client) ? [all] : [client, all];
}

/** The next removal: from the oldest segment of a client with bodies, or without. */
export interface Cut {
  readonly owner: string;
  /** False: the bodies of its records are removed. True: it is deleted, because its bodies are already removed. */
  readonly bare: boolean;
}

/** The bytes of an owner's segments. */
interface Share {
  /** Bytes of segments whose records have their bodies. */
  full: number;
  /** Bytes of segments whose bodies have been removed. */
  bare: number;
}

/** What has the most bytes for one client. None of several clients has more than `OWN_SHARE`, unless they have most of all. */
function heaviest(bytes: Iterable<readonly [name: string, bytes: number]>, all: number): string | undefined {
  let most = 0;
  let found: string | undefined;
  for (const [name, own] of bytes) {
    const isShared = SHARED.has(name.split(AT, 1)[0] ?? "");
    const weight = isShared && own <= all / 2 ? own * OWN_SHARE : own;
    if (weight <= most) continue;
    most = weight;
    found = name;
  }
  return found;
}

/**
 * The bytes of each owner in a full store. They decide what is removed: first the records of the client with the
 * largest share, so that no client can remove the records of another one. All records of one token count as one
 * client, and so do all records of one network, because anybody can get many tokens or many addresses.
 */
export class ClientShares {
  readonly #shares = new Map<string, Share>();

  add({ owner, bare }: Cut, bytes: number): void {
    const share = this.#shares.get(owner) ?? { full: 0, bare: 0 };
    share[bare ? "bare" : "full"] += bytes;
    this.#shares.set(owner, share);
  }

  /** Forgets bytes that were not found, so that the next cut is a different one. */
  clear({ owner, bare }: Cut): void {
    const share = this.#shares.get(owner);
    if (share) share[bare ? "bare" : "full"] = 0;
  }

  /**
   * Returns the next cut. Undefined if nothing is left. The oldest bodies go first. Records without bodies go when
   * they take half of the share. So the newest bodies and some old records stay.
   */
  next(): Cut | undefined {
    const owner = this.#largest();
    if (owner === undefined) return undefined;
    const { full, bare } = this.#shares.get(owner) ?? { full: 0, bare: 0 };
    return { owner, bare: bare >= full };
  }

  /** The largest owner of the largest client. */
  #largest(): string | undefined {
    const clients = new Shares();
    let all = 0;
    for (const [owner, { full, bare }] of this.#shares) {
      all += full + bare;
      for (const client of clientsOf(owner)) clients.take(client, full + bare);
    }
    const largest = heaviest(clients.entries(), all);
    if (largest === undefined) return undefined;
    const own = [...this.#shares]
      .filter(([owner]) => clientsOf(owner).includes(largest))
      .map(([owner, { full, bare }]) => [owner, full + bare] as const);
    return heaviest(own, clients.of(largest));
  }
}
