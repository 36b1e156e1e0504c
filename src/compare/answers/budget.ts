/** The limits of comparisons: calls per second, a share of each client's own limit, and memory. */
import { LRUCache } from "lru-cache";
import { type ShareLimits, Shares } from "../../base/index.ts";

/** The limits of one source of comparisons. */
export interface Limits {
  /** Calls of this process per second. Default: any number. */
  readonly perSecond?: number;
  /** Calls for one client within `clientSeconds`. Default: any number. */
  readonly perClient?: number;
  readonly clientSeconds?: number;
  /** Bytes of requests and answers that are held. */
  readonly memory: number;
  /** Comparisons in progress, including those that wait. */
  readonly comparisons?: number;
}

/** Clients whose calls are counted. */
const MAX_CLIENTS = 20_000;

/** The comparisons in progress, where the limits name no number. */
const MAX_COMPARISONS = 500;

/** The part of comparisons in progress, and of their memory, that one client may have. */
const CLIENT_SHARE = 0.25;

const limitsOf = (all: number): ShareLimits => ({ all, each: all * CLIENT_SHARE });

/** Counts the resources of comparisons. A comparison without room is skipped, and no client ever waits for one. */
export class Budget {
  readonly #limits: () => Limits;
  readonly #clock: () => number;
  /** Calls that may be made now; refilled with time. */
  #calls = Infinity;
  #refilledAt = 0;
  /** Use by client, like the bytes. */
  readonly #comparisons = new Shares();
  readonly #bytes = new Shares();
  readonly #clients = new LRUCache<string, { from: number; calls: number }>({ max: MAX_CLIENTS });

  /** @param clock milliseconds, monotonic */
  constructor(limits: () => Limits, clock: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes.all;
  }

  /** Comparisons in progress. */
  get comparisons(): number {
    return this.#comparisons.all;
  }

  /** Begins a comparison of a client. @returns whether there is room for one */
  begin(client: string): boolean {
    return this.#comparisons.tryTake(client, limitsOf(this.#limits().comparisons ?? MAX_COMPARISONS));
  }

  /** Ends a comparison that has begun. @param bytes that it holds */
  end(client: string, bytes: number): void {
    this.#comparisons.giveBack(client);
    this.#bytes.giveBack(client, bytes);
  }

  /** Takes one call for a client. @returns whether it may be made */
  takeCall(client: string): boolean {
    const { perSecond = Infinity, perClient = Infinity, clientSeconds = 0 } = this.#limits();
    const now = this.#clock();
    this.#calls = Math.min(
      Math.max(1, perSecond),
      this.#calls + ((now - this.#refilledAt) / 1000) * perSecond,
    );
    this.#refilledAt = now;
    const used = this.#clients.get(client);
    const isSameWindow = used !== undefined && now - used.from < clientSeconds * 1000;
    if (this.#calls < 1 || (isSameWindow ? used.calls : 0) >= perClient) return false;
    this.#calls -= 1;
    if (isSameWindow) used.calls += 1;
    else this.#clients.set(client, { from: now, calls: 1 });
    return true;
  }

  /** Holds bytes for a comparison that has begun until {@link end}. @returns whether there is memory for them */
  hold(client: string, bytes: number): boolean {
    return (
      this.#comparisons.of(client) > 0 && this.#bytes.tryTake(client, limitsOf(this.#limits().memory), bytes)
    );
  }
}
