import { Shares } from "../../base/index.ts";
import type { ShareClient } from "./share-usage.ts";
import type { AttemptOutcome } from "./upstream-error.ts";

/** `open`: requests fail fast. `half-open`: the next request of a client probes whether v4 has recovered. */
export type CircuitState = "closed" | "open" | "half-open";

export interface CircuitBreakerOptions {
  /** Minimum number of recent attempts for opening the circuit. Default 50. */
  readonly minAttempts?: number;
  /**
   * Time in milliseconds that the circuit stays open before a probe, and that a client waits between two probes.
   * Default 1000.
   */
  readonly openMs?: number;
  /**
   * Whether clients may share an address, as behind a proxy that is not in `TRUST_PROXY`: if so, each accepted token is
   * treated as a client. Default: each network is.
   */
  readonly areAddressesShared?: boolean;
  /** Called when the circuit opens, and when it closes. */
  readonly onChange?: ((state: CircuitState) => void) | undefined;
  /** A monotonic clock in milliseconds. Default: the clock of the process. */
  readonly clock?: () => number;
}

/**
 * Milliseconds. Attempts are counted in windows of this length. A window starts with the first attempt after the
 * previous window.
 */
const WINDOW_MS = 10_000;

/**
 * Maximum number of clients for which the circuit opens separately. If more clients share most of the failures, it
 * opens for all clients.
 */
const MAX_BLAMED = 4;

/**
 * Maximum number of clients that may probe within `openMs`. If the probes of the blamed clients fail, that of another
 * client may succeed.
 */
const MAX_PROBES = MAX_BLAMED + 1;

/**
 * While v4 fails, requests fail fast and do not pile up. If a few clients cause most failures, the circuit only opens
 * for these, because other clients may use parts of v4 that work.
 *
 * This is own code, because it serves undici, file streams and the native proxy. It can't wrap calls as common
 * libraries do.
 */
export class CircuitBreaker {
  /** How long the circuit stays open before a probe, in milliseconds. */
  readonly openMs: number;
  readonly #options: CircuitBreakerOptions;
  readonly #clock: () => number;
  #windowEndsAt = -Infinity;
  #succeeded = 0;
  #failed = 0;
  /** Failures by client: by its name, and by its accepted token, which it may use in several networks. */
  readonly #failedBy = { name: new Shares(), token: new Shares() };
  /** The time when the circuit opened; undefined while it is closed. */
  #openedAt: number | undefined;
  /** The clients for which the circuit is open; undefined: for all clients. */
  #openFor: ReadonlySet<string> | undefined;
  /** The time when the last probe of each client started, or failed. A probe may never end, because a client can delay it. */
  readonly #probes = new Map<string, number>();

  constructor({ openMs = 1000, clock = () => performance.now(), ...options }: CircuitBreakerOptions = {}) {
    this.openMs = openMs;
    this.#clock = clock;
    this.#options = options;
  }

  /** Returns the state for one client. @param client undefined: a call that belongs to no client */
  state(client?: ShareClient): CircuitState {
    if (this.#openedAt === undefined) return "closed";
    if (this.#isRecent(this.#openedAt)) return "open";
    for (const [name, since] of this.#probes) if (!this.#isRecent(since)) this.#probes.delete(name);
    return this.#probes.size >= MAX_PROBES || this.#probes.has(this.#nameOf(client)) ? "open" : "half-open";
  }

  /** Whether a client's calls currently fail fast. @param client as for {@link allow} */
  isOpenFor(client?: ShareClient): boolean {
    return this.#concerns(client) && this.state(client) === "open";
  }

  /**
   * Whether a client may call v4 now. If the circuit is half-open, its call is a probe: a successful probe closes the
   * circuit, and after a failed probe only this client waits.
   *
   * @param client undefined: the call belongs to no client
   */
  allow(client?: ShareClient): boolean {
    if (this.#openedAt === undefined || !this.#concerns(client)) return true;
    const isProbe = this.state(client) === "half-open";
    if (isProbe) this.#probes.set(this.#nameOf(client), this.#clock());
    return isProbe;
  }

  /**
   * Records the outcome of a call, once for each allowed call. @param client undefined if the call belongs to no
   * client, or no client can cause the outcome
   */
  record(outcome: AttemptOutcome, client?: ShareClient): void {
    const isOpen = this.#openedAt !== undefined;
    // This includes attempts that started before the circuit opened.
    if (outcome === "succeeded" && isOpen) this.#change(undefined, undefined);
    else if (isOpen && this.#concerns(client)) this.#endProbe(outcome, this.#nameOf(client));
    else if (outcome !== "ignored") this.#count(outcome, client);
  }

  /**
   * Returns the name by which a client is counted. Any client can invent tokens, so clients without an accepted token
   * are counted by their largest network.
   */
  #nameOf(client: ShareClient | undefined): string {
    const network = client?.networks.at(-1) ?? "";
    return this.#options.areAddressesShared && client?.isKnown ? (client.token ?? network) : network;
  }

  /** Returns the accepted token of a client. A client without one is counted by its name. */
  #tokenOf(client: ShareClient): string {
    return (client.isKnown ? client.token : undefined) ?? this.#nameOf(client);
  }

  #isRecent(since: number): boolean {
    return this.#clock() - since < this.openMs;
  }

  #concerns(client: ShareClient | undefined): boolean {
    if (this.#openFor === undefined) return true;
    return (
      client !== undefined &&
      [this.#nameOf(client), this.#tokenOf(client)].some((name) => this.#openFor?.has(name))
    );
  }

  #endProbe(outcome: AttemptOutcome, name: string): void {
    if (!this.#isRecent(this.#probes.get(name) ?? -Infinity)) return;
    if (outcome === "failed") this.#probes.set(name, this.#clock());
    else this.#probes.delete(name);
  }

  /** Counts an attempt, and opens the circuit for the clients with most of the failures, or for all clients. */
  #count(outcome: AttemptOutcome, client: ShareClient | undefined): void {
    const now = this.#clock();
    if (now >= this.#windowEndsAt) this.#startWindow(now + WINDOW_MS);
    if (outcome === "succeeded") return void (this.#succeeded += 1);
    this.#failed += 1;
    if (client) this.#failedBy.name.take(this.#nameOf(client));
    if (client) this.#failedBy.token.take(this.#tokenOf(client));
    const { minAttempts = 50 } = this.#options;
    if (this.#failed + this.#succeeded < minAttempts || this.#failed <= this.#succeeded) return;
    this.#change(now, this.#findBlamed(this.#failedBy.token) ?? this.#findBlamed(this.#failedBy.name));
  }

  /**
   * Returns the clients that cause most of the failures: the worst clients, including all that are tied with the last
   * of them. Undefined if there are too many: the circuit then opens for all clients.
   */
  #findBlamed(failed: Shares): ReadonlySet<string> | undefined {
    const names = new Set(this.#openFor);
    let sum = 0;
    let least = Infinity;
    for (const [name, count] of failed.largest(MAX_BLAMED + 1)) {
      if (sum > this.#failed / 2 && count < least) break;
      names.add(name);
      sum += count;
      least = count;
    }
    return sum > this.#failed / 2 && names.size <= MAX_BLAMED ? names : undefined;
  }

  /** Opens or closes the circuit. Earlier attempts are forgotten: while it is open, only calls of other clients count. */
  #change(openedAt: number | undefined, openFor: ReadonlySet<string> | undefined): void {
    const wasOpen = this.#openedAt !== undefined;
    this.#openedAt = openedAt;
    this.#openFor = openFor;
    this.#startWindow(-Infinity);
    this.#probes.clear();
    if (openedAt === undefined) this.#options.onChange?.("closed");
    else if (!wasOpen) this.#options.onChange?.("open");
  }

  #startWindow(endsAt: number): void {
    this.#windowEndsAt = endsAt;
    this.#succeeded = this.#failed = 0;
    this.#failedBy.name.clear();
    this.#failedBy.token.clear();
  }
}
