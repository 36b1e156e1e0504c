/** The client that needs a part of something that all clients share. */
export interface ShareClient {
  /** Hash of its token; undefined without one. */
  readonly token: string | undefined;
  /** Its network: an IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string;
  /** Whether v4 has accepted the token. */
  readonly isKnown: boolean;
}

/** The most that clients may use. */
export interface Shares {
  /** Clients with one token that v4 has accepted. */
  readonly token: number;
  /** Clients of one address, whatever their tokens: a customer may have several. */
  readonly address: number;
  /** All clients together whose token v4 has not accepted, and those of one address. */
  readonly unknown: number;
  readonly unknownPerAddress: number;
}

/** How much more a network may have than it leaves to others. */
const MOST_OF_FREE = 3;

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** How much of something is in use by whom: connections, places in a queue, or bytes. */
export class ShareUsage {
  all = 0;
  readonly #shares: Shares;
  /** That of clients whose token v4 has not accepted. */
  #unknown = 0;
  readonly #byToken = new Map<string, number>();
  readonly #byAddress = new Map<string, number>();
  readonly #unknownByAddress = new Map<string, number>();

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  /** Undefined stands for the gateway itself, which has no share. */
  count(client: ShareClient | undefined, change: number): void {
    this.all += change;
    if (client === undefined) return;
    const { token, address, isKnown } = client;
    addTo(this.#byAddress, address, change);
    if (isKnown && token !== undefined) return addTo(this.#byToken, token, change);
    this.#unknown += change;
    addTo(this.#unknownByAddress, address, change);
  }

  /** Whether so much more is within the client's share. */
  isWithin(client: ShareClient | undefined, amount = 1): boolean {
    if (client === undefined) return true;
    const { token, address, isKnown } = client;
    const shares = this.#shares;
    if ((this.#byAddress.get(address) ?? 0) + amount > shares.address) return false;
    if (isKnown && token !== undefined) return (this.#byToken.get(token) ?? 0) + amount <= shares.token;
    const ofAddress = (this.#unknownByAddress.get(address) ?? 0) + amount;
    return this.#unknown + amount <= shares.unknown && ofAddress <= shares.unknownPerAddress;
  }

  /**
   * Whether one more leaves a third of what the client's network has to others: so a few networks can't have all. A network that
   * has nothing may have the last one.
   *
   * @param size all there is
   */
  leavesEnough(client: ShareClient | undefined, size: number): boolean {
    const ofAddress = client && this.#byAddress.get(client.address);
    return (ofAddress ?? 0) <= MOST_OF_FREE * (size - this.all - 1);
  }

  /** The same for clients whose token v4 has not accepted: their network leaves as much as it has to others of them. */
  leavesEnoughOfUnknown(client: ShareClient | undefined, size: number): boolean {
    if (client === undefined || (client.isKnown && client.token !== undefined)) return true;
    const free = Math.min(this.#shares.unknown, size) - this.#unknown - 1;
    return (this.#unknownByAddress.get(client.address) ?? 0) <= free;
  }
}
