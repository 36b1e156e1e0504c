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

/** The attempts in one window. */
interface Attempts {
  readonly since: number;
  succeeded: number;
  /** Failures by client: by its name, and by its accepted token, which it may use in several networks. */
  readonly failed: readonly [byName: Shares, byToken: Shares];
  /** Failures that no client can cause. */
  failedAnyway: number;
}

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
  #attempts: Attempts | undefined;
  /** The time when the circuit opened; undefined while it is closed. */
  #openedAt: number | undefined;
  /** The clients for which the circuit is open; undefined: for all clients. */
  #openFor: ReadonlySet<string> | undefined;
  /** The time when the last probe of each client started, or failed. A probe may never end, because a client can delay it. */
  #probes: ReadonlyMap<string, number> = new Map();

  constructor(options: CircuitBreakerOptions = {}) {
    this.openMs = options.openMs ?? 1000;
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  /** Returns the state for one client. @param client undefined: a call that belongs to no client */
  state(client?: ShareClient): CircuitState {
    if (this.#openedAt === undefined) return "closed";
    if (this.#isRecent(this.#openedAt)) return "open";
    const probes = this.#recentProbes();
    return probes.size >= MAX_PROBES || probes.has(this.#nameOf(client)) ? "open" : "half-open";
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
    if (this.state(client) === "open") return false;
    this.#probes = this.#recentProbes().set(this.#nameOf(client), this.#clock());
    return true;
  }

  /**
   * Records the outcome of a call, once for each allowed call. @param client undefined if the call belongs to no
   * client, or no client can cause the outcome
   */
  record(outcome: AttemptOutcome, client?: ShareClient): void {
    const isOpen = this.#openedAt !== undefined;
    // This includes attempts that started before the circuit opened.
    if (outcome === "succeeded" && isOpen) this.#close();
    else if (outcome === "succeeded") this.#recentAttempts().succeeded += 1;
    else if (isOpen && this.#concerns(client)) this.#endProbe(outcome, this.#nameOf(client));
    else if (outcome === "failed") this.#countFailure(client);
  }

  /**
   * Returns the name by which a client is counted. Any client can invent tokens, so clients without an accepted token
   * are counted by their largest network.
   */
  #nameOf(client: ShareClient | undefined): string {
    if (client === undefined) return "";
    const isByToken = this.#options.areAddressesShared === true && client.isKnown;
    return (isByToken ? client.token : undefined) ?? client.networks.at(-1) ?? "";
  }

  /** Returns the accepted token of a client. A client without one is counted by its name. */
  #tokenOf(client: ShareClient | undefined): string {
    return (client?.isKnown === true ? client.token : undefined) ?? this.#nameOf(client);
  }

  #isRecent(since: number): boolean {
    return this.#clock() - since < this.openMs;
  }

  #recentProbes(): Map<string, number> {
    return new Map([...this.#probes].filter(([, since]) => this.#isRecent(since)));
  }

  #endProbe(outcome: AttemptOutcome, name: string): void {
    const probes = this.#recentProbes();
    if (!probes.delete(name)) return;
    if (outcome === "failed") probes.set(name, this.#clock());
    this.#probes = probes;
  }

  #concerns(client: ShareClient | undefined): boolean {
    if (this.#openFor === undefined) return true;
    if (client === undefined) return false;
    return this.#openFor.has(this.#nameOf(client)) || this.#openFor.has(this.#tokenOf(client));
  }

  #recentAttempts(): Attempts {
    const now = this.#clock();
    if (this.#attempts === undefined || now - this.#attempts.since >= WINDOW_MS)
      this.#attempts = { since: now, succeeded: 0, failed: [new Shares(), new Shares()], failedAnyway: 0 };
    return this.#attempts;
  }

  /** Counts a failure, and opens the circuit for the clients with most of the failures, or for all clients. */
  #countFailure(client: ShareClient | undefined): void {
    const attempts = this.#recentAttempts();
    const [byName, byToken] = attempts.failed;
    if (client === undefined) attempts.failedAnyway += 1;
    else {
      byName.take(this.#nameOf(client));
      byToken.take(this.#tokenOf(client));
    }
    const failures = byName.all + attempts.failedAnyway;
    const all = failures + attempts.succeeded;
    if (all >= (this.#options.minAttempts ?? 50) && failures > all / 2)
      this.#open(this.#findBlamed(byToken, failures) ?? this.#findBlamed(byName, failures));
  }

  /**
   * Returns the clients that cause most of the failures: the worst clients, including all that are tied with the last
   * of them. Undefined if there are too many: the circuit then opens for all clients.
   */
  #findBlamed(failed: Shares, failures: number): ReadonlySet<string> | undefined {
    const blamed = new Set<string>();
    let sum = 0;
    let least = Infinity;
    for (const [name, count] of failed.largest(MAX_BLAMED + 1)) {
      if (sum > failures / 2 && count < least) break;
      blamed.add(name);
      sum += count;
      least = count;
    }
    const names = new Set([...blamed, ...(this.#openFor ?? [])]);
    return sum > failures / 2 && names.size <= MAX_BLAMED ? names : undefined;
  }

  #open(openFor: ReadonlySet<string> | undefined): void {
    const wasOpen = this.#openedAt !== undefined;
    this.#openFor = openFor;
    this.#openedAt = this.#clock();
    // From now on, only calls of other clients are counted.
    this.#forget();
    if (!wasOpen) this.#options.onChange?.("open");
  }

  #close(): void {
    this.#openFor = this.#openedAt = undefined;
    // Earlier failures must not open the circuit again.
    this.#forget();
    this.#options.onChange?.("closed");
  }

  #forget(): void {
    this.#attempts = undefined;
    this.#probes = new Map();
  }
}
