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

/** The most that clients may use. */
interface UsageLimits {
  /** All there is. */
  readonly size: number;
  /** Clients with one token that v4 has accepted. */
  readonly token: number;
  /**
   * Clients of one network with any tokens, because a customer may have several: a multiple of what the network leaves
   * free. So a few networks can't have all. The next larger network may have twice as much, then three times.
   */
  readonly networkPerFree: number;
  /** All clients without an accepted token together. */
  readonly unknown: number;
  /** Such clients of one network: a multiple of what it leaves free of their part. */
  readonly unknownPerFree: number;
  /** Such clients of one network, whatever is free. The next larger network may have twice as much, then three times. */
  readonly unknownPerNetwork?: number;
}

/** How much the clients have taken, by each network that their addresses are in. */
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

  /** Whether each network stays within a maximum. */
  isWithin(networks: readonly string[], most: number, amount: number): boolean {
    return networks.every((network, level) => this.#taken.of(network) + amount <= most * (level + 1));
  }

  /**
   * Whether each network may have more and leaves enough of the size to others. One that has nothing may have the last.
   *
   * @param isAlone whether to judge each network as if no other one had anything
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
    return this.all + amount <= this.#limits.size && this.#isWithinShare(client, amount, false);
  }

  /** Whether one more is within the client's own share: it could have it if other networks had nothing. */
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
