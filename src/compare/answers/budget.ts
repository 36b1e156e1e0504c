/** The limits of comparisons: calls per second, a share of each client's own limit, and memory. */
import { LRUCache } from "lru-cache";
import { type ShareLimits, Shares } from "../../base/index.ts";

/** The limits of one source of comparisons. */
export interface Limits {
  /** Maximum number of calls of this process per second. Default: unlimited. */
  readonly perSecond?: number;
  /** Maximum number of calls for one client within `clientSeconds`. Default: unlimited. */
  readonly perClient?: number;
  readonly clientSeconds?: number;
  /** Maximum number of bytes of requests and responses in memory. */
  readonly memory: number;
  /** Maximum number of comparisons in progress, including those that wait. */
  readonly comparisons?: number;
}

/** Maximum number of clients whose calls are counted. */
const MAX_CLIENTS = 20_000;

/** Default of the maximum number of comparisons in progress. */
const MAX_COMPARISONS = 500;

/** Maximum share of one client in the comparisons in progress, and in their memory. */
const CLIENT_SHARE = 0.25;

const limitsOf = (all: number): ShareLimits => ({ all, each: all * CLIENT_SHARE });

/**
 * Counts the resources of comparisons. A comparison that exceeds the limits is skipped, and no client ever waits for a
 * comparison.
 */
export class Budget {
  readonly #limits: () => Limits;
  readonly #clock: () => number;
  /** Number of calls that may be made now. Refilled over time. */
  #calls = Infinity;
  #refilledAt = 0;
  /** Comparisons and bytes in use, by client. */
  readonly #comparisons = new Shares();
  readonly #bytes = new Shares();
  readonly #clients = new LRUCache<string, { from: number; calls: number }>({ max: MAX_CLIENTS });

  /** @param clock a monotonic clock in milliseconds */
  constructor(limits: () => Limits, clock: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Number of bytes in use. */
  get bytes(): number {
    return this.#bytes.all;
  }

  /** Number of comparisons in progress. */
  get comparisons(): number {
    return this.#comparisons.all;
  }

  /** Starts a comparison for a client. @returns whether the limits allow it */
  begin(client: string): boolean {
    return this.#comparisons.tryTake(client, limitsOf(this.#limits().comparisons ?? MAX_COMPARISONS));
  }

  /** Ends a comparison. @param bytes number of bytes that it used */
  end(client: string, bytes: number): void {
    this.#comparisons.giveBack(client);
    this.#bytes.giveBack(client, bytes);
  }

  /** Counts one call for a client. @returns whether it may be made */
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

  /** Reserves bytes for a comparison until {@link end}. @returns whether there is enough memory */
  hold(client: string, bytes: number): boolean {
    return (
      this.#comparisons.of(client) > 0 && this.#bytes.tryTake(client, limitsOf(this.#limits().memory), bytes)
    );
  }
}
