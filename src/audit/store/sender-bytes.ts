import { Shares } from "../../base/storage/shares.ts";
import type { WaitingColumns } from "./record-row.ts";

type SizedRow = Pick<WaitingColumns, "client" | "network"> & { readonly size: number };

/** A client or a network with at least this share of the recent bytes gets segments of its own. */
const OWN_SHARE = 1 / 4;

/** Owners of segments with records of several clients, whose shares are smaller. The first one that fits. */
const SEVERAL: readonly (readonly [limit: number, owner: string])[] = [
  [1 / 256, "<1/256"],
  [1 / 16, "<1/16"],
  [OWN_SHARE, ""],
];
const isOfSeveral = (client: string): boolean => SEVERAL.some(([, owner]) => owner === client);

/** Separates the client and the network in an owner. */
const AT = "@";

/** After this many bytes of records, those before are forgotten: they count as long as others follow. */
const RECENT_BYTES = 16 * 1024 * 1024;

/** The bytes of some records, of each client and of each network. */
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
   * Returns the owner of the segment for a row, `CLIENT@NETWORK`. Clients without a large share have common segments, so
   * that there are few. A network without a large share is left out.
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

/** The names that an owner counts for: its client, unless it stands for several, and its network. */
function clientsOf(owner: string): readonly string[] {
  const [client = "", network] = owner.split(AT);
  if (network === undefined) return [client];
  const all = `network ${network}`;
  return isOfSeveral(client) ? [all] : [client, all];
}

/** Segments of an owner, whose records have their bodies, or not any more. */
interface OwnedSegments {
  readonly owner: string;
  readonly isBare: boolean;
}

/** What has the most bytes for one client. None of several clients has more than `OWN_SHARE`, unless they have most of all. */
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
 * The bytes of each owner in a full store. They decide what is removed: first the records of the client with the
 * largest share, so that no client can remove the records of another one. All records of one token count as one
 * client, and so do all records of one network, because anybody can get many tokens or many addresses.
 */
export class StoredShares {
  readonly #full = new Shares();
  readonly #bare = new Shares();

  add({ owner, isBare }: OwnedSegments, bytes: number): void {
    (isBare ? this.#bare : this.#full).take(owner, bytes);
  }

  /**
   * Returns the segments whose oldest one is next: its bodies are removed, or it is deleted if they already are.
   * Records without bodies go when they take half of the share. So the newest bodies and some old records stay.
   *
   * @returns undefined if nothing is left
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
