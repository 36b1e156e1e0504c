/** What comparisons may cost: calls per second, a share of each client's own limit, and memory. */
import { LRUCache } from "lru-cache";

/** The limits of a rollout file. */
export interface Limits {
  /** Calls of this process per second. */
  readonly perSecond: number;
  /** Calls for one client within `clientSeconds`. */
  readonly perClient: number;
  readonly clientSeconds: number;
  /** Bytes of requests and answers that are held. */
  readonly memory: number;
}

/** Clients whose calls are counted. */
const MAX_CLIENTS = 20_000;

/** Comparisons in progress, those that wait for their second pair of answers among them. */
const MAX_COMPARISONS = 500;

/** The part of comparisons in progress, and of their memory, that one client may have. */
const CLIENT_SHARE = 0.25;

/** What the comparisons of one client use now. */
interface Used {
  comparisons: number;
  bytes: number;
}

/** Counts what comparisons use. A comparison that finds no room is left out; no client ever waits for one. */
export class Budget {
  readonly #limits: () => Limits;
  readonly #clock: () => number;
  /** Calls that may be made now; refilled with time. */
  #calls = Infinity;
  #refilledAt = 0;
  #bytes = 0;
  #comparisons = 0;
  readonly #used = new Map<string, Used>();
  readonly #clients = new LRUCache<string, { from: number; calls: number }>({ max: MAX_CLIENTS });

  /** @param clock milliseconds, monotonic */
  constructor(limits: () => Limits, clock: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Comparisons in progress. */
  get comparisons(): number {
    return this.#comparisons;
  }

  /** Begins a comparison of a client. @returns whether there is room for one */
  begin(client: string): boolean {
    const used = this.#used.get(client) ?? { comparisons: 0, bytes: 0 };
    if (this.#comparisons >= MAX_COMPARISONS || used.comparisons >= MAX_COMPARISONS * CLIENT_SHARE)
      return false;
    this.#used.set(client, used);
    this.#comparisons += 1;
    used.comparisons += 1;
    return true;
  }

  /** Ends a comparison that has begun. @param bytes that it holds */
  end(client: string, bytes: number): void {
    this.#comparisons -= 1;
    this.#bytes -= bytes;
    const used = this.#used.get(client);
    if (!used) return;
    used.comparisons -= 1;
    used.bytes -= bytes;
    if (used.comparisons === 0) this.#used.delete(client);
  }

  /** Takes one call for a client. @returns whether it may be made */
  takeCall(client: string): boolean {
    const { perSecond, perClient, clientSeconds } = this.#limits();
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
    const { memory } = this.#limits();
    const used = this.#used.get(client);
    if (!used || this.#bytes + bytes > memory || used.bytes + bytes > memory * CLIENT_SHARE) return false;
    this.#bytes += bytes;
    used.bytes += bytes;
    return true;
  }
}
