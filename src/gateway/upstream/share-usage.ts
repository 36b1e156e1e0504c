import { Shares } from "../../base/index.ts";

/** A client that needs a part of a shared resource. */
export interface ShareClient {
  /** Hash of the client's token; undefined if missing. */
  readonly token: string | undefined;
  /** The networks that contain the client's address, the smallest first: see `addressNetworks`. */
  readonly networks: readonly string[];
  /** Whether v4 has accepted the token. */
  readonly isKnown: boolean;
}

/** The maximum use of a resource by clients. */
interface UsageLimits {
  /** The size of the resource. */
  readonly size: number;
  /** Maximum for clients with the same accepted token. */
  readonly token: number;
  /**
   * Maximum for clients of one network, with any tokens: a multiple of the amount that the network leaves free, so that
   * a few networks can't use everything. The next larger network may use twice as much, then three times.
   */
  readonly networkPerFree: number;
  /** Maximum for all clients without an accepted token together. */
  readonly unknown: number;
  /** Maximum for such clients of one network: a multiple of the amount that the network leaves free of their part. */
  readonly unknownPerFree: number;
  /**
   * Maximum for such clients of one network, regardless of the free amount. The next larger network may use twice as
   * much, then three times.
   */
  readonly unknownPerNetwork?: number;
}

/** The amount that clients use, by each network that contains their address. */
class NetworkShares {
  all = 0;
  readonly #taken = new Shares();

  take(networks: readonly string[], change: number): void {
    this.all += change;
    for (const network of networks) this.#taken.take(network, change);
  }

  /** Returns the amount of a client's largest network. */
  ofLargest(networks: readonly string[]): number {
    return this.#taken.of(networks.at(-1) ?? "");
  }

  /** Whether each network stays within a maximum. */
  isWithin(networks: readonly string[], most: number, amount: number): boolean {
    return networks.every((network, level) => this.#taken.of(network) + amount <= most * (level + 1));
  }

  /**
   * Whether each network may use more and still leaves enough for other networks. A network that uses nothing may use
   * the last of it.
   *
   * @param isAlone whether to judge each network as if no other network used anything
   */
  leavesEnough(
    networks: readonly string[],
    size: number,
    perFree: number,
    amount: number,
    isAlone: boolean,
  ): boolean {
    return networks.every((network, level) => {
      const taken = this.#taken.of(network);
      const free = Math.max(0, size - (isAlone ? taken : this.all) - amount);
      return taken <= perFree * (level + 1) * free;
    });
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

  /** Changes the amount of a client. Undefined: the gateway itself, which is not limited. */
  count(client: ShareClient | undefined, change: number): void {
    this.#byNetwork.take(client?.networks ?? [], change);
    if (client === undefined) return;
    const { token, networks, isKnown } = client;
    if (isKnown && token !== undefined) this.#byToken.take(token, change);
    else this.#unknown.take(networks, change);
  }

  /** Whether a client has an accepted token and uses nothing. */
  hasNone(client: ShareClient | undefined): boolean {
    return client?.token !== undefined && client.isKnown && this.#byToken.of(client.token) === 0;
  }

  /** Returns the amount of a client's largest network. */
  ofNetwork({ networks }: ShareClient): number {
    return this.#byNetwork.ofLargest(networks);
  }

  /** Whether this amount is free, and within the client's share. */
  isWithin(client: ShareClient | undefined, amount = 1): boolean {
    return this.all + amount <= this.#limits.size && this.#isWithinShare(client, amount, false);
  }

  /** Whether one more is within the client's own share, if other networks used nothing. */
  isWithinOwn(client: ShareClient | undefined): boolean {
    return this.#isWithinShare(client, 1, true);
  }

  /** @param isAlone as in {@link NetworkShares.leavesEnough} */
  #isWithinShare(client: ShareClient | undefined, amount: number, isAlone: boolean): boolean {
    if (client === undefined) return true;
    const { size, networkPerFree, token: mostOfToken } = this.#limits;
    const { unknown, unknownPerFree, unknownPerNetwork = unknown } = this.#limits;
    const { token, networks, isKnown } = client;
    if (!this.#byNetwork.leavesEnough(networks, size, networkPerFree, amount, isAlone)) return false;
    if (isKnown && token !== undefined) return this.#byToken.of(token) + amount <= mostOfToken;
    return (
      this.#unknown.all + amount <= unknown &&
      this.#unknown.isWithin(networks, unknownPerNetwork, amount) &&
      this.#unknown.leavesEnough(networks, Math.min(unknown, size), unknownPerFree, amount, isAlone)
    );
  }
}
