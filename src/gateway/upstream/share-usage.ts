import { Shares } from "../../base/index.ts";

/** The client that needs a part of something that all clients share. */
export interface ShareClient {
  /** Hash of its token; undefined without one. */
  readonly token: string | undefined;
  /** The networks that its address is in, the smallest first: see `addressNetworks`. */
  readonly networks: readonly string[];
  /** Whether v4 has accepted the token. */
  readonly isKnown: boolean;
}

/** The most that clients may use. Of networks, it is the smallest; the next larger may have twice as much, then three times. */
export interface UsageLimits {
  /** All there is. */
  readonly size: number;
  /** Clients with one token that v4 has accepted. */
  readonly token: number;
  /** Clients of one network with any tokens, because a customer may have several. */
  readonly network: number;
  /** All clients without an accepted token together, and such clients of one network. */
  readonly unknown: number;
  readonly unknownPerNetwork: number;
  /** The maximum of a network within the part of unknown clients, as a multiple of what it leaves free. Default: 1. */
  readonly mostOfFreeUnknown?: number;
}

/** The maximum of a network in total, as a multiple of what it leaves free. */
const MOST_OF_FREE = 3;

/** The limits of networks: of all, of one, and of one in proportion to the rest. */
interface NetworkLimits {
  readonly all: number;
  readonly each: number;
  readonly mostOfFree: number;
}

/** How much the networks of clients have taken, the small ones and those around them. */
class NetworkShares {
  all = 0;
  readonly #taken = new Shares();

  take(networks: readonly string[], change: number): void {
    this.all += change;
    for (const network of networks) this.#taken.take(network, change);
  }

  /** The amount of a client's largest network. */
  ofLargest(networks: readonly string[]): number {
    return this.#taken.of(networks.at(-1) ?? "");
  }

  /** Whether each network stays within its limit. */
  isWithin(networks: readonly string[], { each }: NetworkLimits, amount: number): boolean {
    return networks.every((network, level) => this.#taken.of(network) + amount <= each * (level + 1));
  }

  /** Whether each network leaves enough to others: so a few can't have all. One that has nothing may have the last. */
  leavesEnough(networks: readonly string[], { all, mostOfFree }: NetworkLimits, amount: number): boolean {
    const free = all - this.all - amount;
    return networks.every((network, level) => this.#taken.of(network) <= mostOfFree * (level + 1) * free);
  }
}

/** The amount in use by client: connections, places in a queue, or bytes. */
export class ShareUsage {
  readonly #limits: UsageLimits;
  readonly #byToken = new Shares();
  readonly #byNetwork = new NetworkShares();
  /** The amount of clients without an accepted token. */
  readonly #unknown = new NetworkShares();

  constructor(limits: UsageLimits) {
    this.#limits = limits;
  }

  get all(): number {
    return this.#byNetwork.all;
  }

  /** Undefined stands for the gateway itself, which has no share. */
  count(client: ShareClient | undefined, change: number): void {
    this.#byNetwork.take(client?.networks ?? [], change);
    if (client === undefined) return;
    const { token, networks, isKnown } = client;
    if (isKnown && token !== undefined) this.#byToken.take(token, change);
    else this.#unknown.take(networks, change);
  }

  /** Whether a client with an accepted token has nothing. */
  hasNone(client: ShareClient | undefined): boolean {
    return client?.token !== undefined && client.isKnown && this.#byToken.of(client.token) === 0;
  }

  /** The amount of a client's largest network. */
  ofNetwork({ networks }: ShareClient): number {
    return this.#byNetwork.ofLargest(networks);
  }

  /** Whether so much more is free, and within the client's share. */
  isWithin(client: ShareClient | undefined, amount = 1): boolean {
    return (
      this.all + amount <= this.#limits.size &&
      this.isWithinOwn(client, amount) &&
      this.#leavesEnough(client, amount)
    );
  }

  /** Whether it is within the client's share, regardless of free amounts. */
  isWithinOwn(client: ShareClient | undefined, amount = 1): boolean {
    if (client === undefined) return true;
    const { token, networks, isKnown } = client;
    if (!this.#byNetwork.isWithin(networks, this.#networkLimits, amount)) return false;
    if (isKnown && token !== undefined) return this.#byToken.of(token) + amount <= this.#limits.token;
    return (
      this.#unknown.all + amount <= this.#limits.unknown &&
      this.#unknown.isWithin(networks, this.#unknownLimits, amount)
    );
  }

  #leavesEnough(client: ShareClient | undefined, amount: number): boolean {
    if (client === undefined) return true;
    const { token, networks, isKnown } = client;
    if (!this.#byNetwork.leavesEnough(networks, this.#networkLimits, amount)) return false;
    if (isKnown && token !== undefined) return true;
    return this.#unknown.leavesEnough(networks, this.#unknownLimits, amount);
  }

  get #networkLimits(): NetworkLimits {
    const { size, network } = this.#limits;
    return { all: size, each: network, mostOfFree: MOST_OF_FREE };
  }

  get #unknownLimits(): NetworkLimits {
    const { size, unknown, unknownPerNetwork, mostOfFreeUnknown = 1 } = this.#limits;
    return { all: Math.min(unknown, size), each: unknownPerNetwork, mostOfFree: mostOfFreeUnknown };
  }
}
