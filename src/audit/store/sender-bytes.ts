import { Shares } from "../../base/storage/shares.ts";
import type { WaitingColumns } from "./record-row.ts";

type SizedRow = Pick<WaitingColumns, "client" | "network"> & { readonly size: number };

/** A client or a network with at least this share of the recent bytes gets its own segments. */
const OWN_SHARE = 1 / 4;

/** Owners of segments that contain records of several clients with smaller shares. The first owner that fits is used. */
const SEVERAL: readonly (readonly [limit: number, owner: string])[] = [
  [1 / 256, "<1/256"],
  [1 / 16, "<1/16"],
  [OWN_SHARE, ""],
];
const isOfSeveral = (client: string): boolean => SEVERAL.some(([, owner]) => owner === client);

/** Separates the client and the network in an owner. */
const AT = "@";

/** Number of bytes of records after which earlier records are ignored. */
const RECENT_BYTES = 16 * 1024 * 1024;

/** The bytes of records by client and by network. */
class SenderBytes {
  readonly clients = new Shares();
  readonly networks = new Shares();

  add({ client, network, size }: SizedRow): void {
    this.clients.take(client ?? "", size);
    this.networks.take(network, size);
  }
}

/** The recent bytes of records of each client and network. A single commit may be small, and shows little about a client. */
export class RecentBytes {
  #earlier = new SenderBytes();
  #latest = new SenderBytes();

  add(rows: readonly SizedRow[]): void {
    for (const row of rows) this.#latest.add(row);
    if (this.#latest.clients.all < RECENT_BYTES) return;
    this.#earlier = this.#latest;
    this.#latest = new SenderBytes();
  }

  /**
   * Returns the owner of the segment for a row, `CLIENT@NETWORK`. Clients without a large share have common segments,
   * so that their number stays small. A network without a large share is omitted.
   */
  ownerOf({ client, network }: SizedRow): string {
    const share = client === null ? 1 : this.#shareOf("clients", client);
    const owner = SEVERAL.find(([limit]) => share < limit)?.[1] ?? client ?? "";
    const isLarge = network !== "" && this.#shareOf("networks", network) >= OWN_SHARE;
    return isLarge ? `${owner}${AT}${network}` : owner;
  }

  #shareOf(kind: "clients" | "networks", name: string): number {
    const [earlier, latest] = [this.#earlier[kind], this.#latest[kind]];
    return (earlier.of(name) + latest.of(name)) / (earlier.all + latest.all);
  }
}

/** The names to which an owner's bytes are added: its client, unless the owner represents several clients, and its network. */
function clientsOf(owner: string): readonly string[] {
  const [client = "", network] = owner.split(AT);
  if (network === undefined) return [client];
  const all = `network ${network}`;
  return isOfSeveral(client) ? [all] : [client, all];
}

/** The segments of an owner whose records contain bodies, or those whose bodies were removed. */
interface OwnedSegments {
  readonly owner: string;
  readonly isBare: boolean;
}

/**
 * Returns the owner with the most bytes of one client. Owners of several clients are only chosen if they have more than
 * `OWN_SHARE` of all bytes.
 */
function heaviest(bytes: Shares, all: number): string | undefined {
  let most = 0;
  let found: string | undefined;
  for (const [name, own] of bytes.entries()) {
    const isShared = isOfSeveral(name.split(AT, 1)[0] ?? "");
    const weight = isShared && own <= all / 2 ? own * OWN_SHARE : own;
    if (weight <= most) continue;
    most = weight;
    found = name;
  }
  return found;
}

/**
 * The bytes of each owner in a full store. They decide which records are removed: first those of the client with the
 * largest share, so that no client can displace the records of other clients. All records of one token are treated as
 * one client, and so are all records of one network, because any client can get many tokens or many addresses.
 */
export class StoredShares {
  readonly #full = new Shares();
  readonly #bare = new Shares();

  add({ owner, isBare }: OwnedSegments, bytes: number): void {
    (isBare ? this.#bare : this.#full).take(owner, bytes);
  }

  /**
   * Returns the segments to reduce next: the bodies of the oldest segment are removed, or it is deleted if it contains
   * no bodies. Records without bodies are deleted if they use half of the share, so that the newest bodies and some old
   * records are kept.
   *
   * @returns undefined if no segments are left
   */
  next(): OwnedSegments | undefined {
    const clients = new Shares();
    const stored = [...this.#full.entries(), ...this.#bare.entries()];
    for (const [owner, bytes] of stored) for (const client of clientsOf(owner)) clients.take(client, bytes);
    const largest = heaviest(clients, this.#full.all + this.#bare.all);
    if (largest === undefined) return undefined;
    const owners = new Shares();
    for (const [owner, bytes] of stored) if (clientsOf(owner).includes(largest)) owners.take(owner, bytes);
    const owner = heaviest(owners, owners.all);
    return owner === undefined ? undefined : { owner, isBare: this.#bare.of(owner) >= this.#full.of(owner) };
  }
}
