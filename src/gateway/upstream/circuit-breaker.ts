import { namesOf, networkOf, RecentAttempts } from "./recent-attempts.ts";
import type { ShareClient } from "./share-usage.ts";
import type { AttemptOutcome } from "./upstream-error.ts";

/** `open`: requests fail fast. `half-open`: the next request of a client probes whether v4 has recovered. */
export type CircuitState = "closed" | "open" | "half-open";

export interface CircuitBreakerOptions {
  /** With fewer recent attempts the circuit stays closed. Default 50. */
  readonly minAttempts?: number;
  /** How long the circuit stays open before a probe, and how long a client waits between two probes, in milliseconds. Default 1000. */
  readonly openMs?: number;
  /** Whether clients may share an address, as behind a proxy that is not in `TRUST_PROXY`: then a token is a client. Default: no. */
  readonly areAddressesShared?: boolean;
  /** Called when the circuit opens, and when it closes. */
  readonly onChange?: ((state: CircuitState) => void) | undefined;
  /**
   * Milliseconds. Default: the monotonic clock of the process. If the clock were set back, the circuit would stay
   * open for that long.
   */
  readonly clock?: () => number;
}

/** The circuit opens for everybody if more networks or clients than this share most of the failures. */
const MAX_BLAMED = 4;

/**
 * Maximum number of probes that begin within `openMs`, each of another client. If probes of the blamed clients fail,
 * another client's probe may succeed.
 */
const MAX_PROBES = MAX_BLAMED + 1;

/**
 * While v4 fails, requests fail fast and do not pile up. If a few networks or clients cause most failures, the
 * circuit opens for these alone, because others may use parts of v4 that work. A customer may have many tokens, so
 * networks are blamed first.
 *
 * Own code, because it serves undici, file streams and the native proxy. It can't wrap calls as common libraries do.
 */
export class CircuitBreaker {
  /** How long the circuit stays open before a probe, in milliseconds. */
  readonly openMs: number;
  readonly #onChange: (state: CircuitState) => void;
  readonly #areAddressesShared: boolean;
  readonly #clock: () => number;
  readonly #recent: RecentAttempts;
  /** When it opened; undefined while the circuit is closed. */
  #openedAt: number | undefined;
  /** When the last probes began, or failed, by their clients. One may never end: a client can hold it. */
  #probes: ReadonlyMap<string, number> = new Map();
  /** Tokens and networks that the circuit is open for; undefined: everybody. */
  #openFor: ReadonlySet<string> | undefined;
  /** The networks or clients that have caused it. */
  #blamed: ReadonlySet<string> = new Set();

  constructor({
    minAttempts = 50,
    openMs = 1000,
    areAddressesShared = false,
    onChange,
    clock,
  }: CircuitBreakerOptions = {}) {
    this.openMs = openMs;
    this.#areAddressesShared = areAddressesShared;
    this.#onChange = onChange ?? (() => {});
    this.#clock = clock ?? (() => performance.now());
    this.#recent = new RecentAttempts(minAttempts, this.#clock);
  }

  /** The state for one client. @param client undefined: a call without a client */
  state(client?: ShareClient): CircuitState {
    if (this.#openedAt === undefined) return "closed";
    if (!this.#isOver(this.#openedAt)) return "open";
    const probes = this.#recentProbes();
    return probes.size >= MAX_PROBES || probes.has(this.#proberOf(client)) ? "open" : "half-open";
  }

  /** Whether a client's calls fail fast now. @param client as for {@link allow} */
  isOpenFor(client?: ShareClient): boolean {
    return this.#concerns(client) && this.state(client) === "open";
  }

  /**
   * Whether a client may call v4 now. If the circuit is half-open, its call is a probe: a success closes the circuit, and a failure
   * lets this client wait, and no other one.
   *
   * @param client undefined: nobody's call
   */
  allow(client?: ShareClient): boolean {
    if (this.#openedAt === undefined || !this.#concerns(client)) return true;
    if (this.state(client) === "open") return false;
    this.#probes = this.#recentProbes().set(this.#proberOf(client), this.#clock());
    return true;
  }

  /** Records the outcome of a call, once for each that was allowed. @param client undefined also if no client can cause it */
  record(outcome: AttemptOutcome, client?: ShareClient): void {
    const isOpen = this.#openedAt !== undefined;
    // Includes an attempt that started before the circuit opened.
    if (outcome === "succeeded" && isOpen) this.#close();
    else if (outcome === "succeeded") this.#recent.addSuccess(client);
    else if (isOpen && this.#concerns(client)) this.#endProbe(outcome, this.#proberOf(client));
    else if (outcome === "failed") this.#countFailure(client);
  }

  #isOver(since: number): boolean {
    return this.#clock() - since >= this.openMs;
  }

  #recentProbes(): Map<string, number> {
    return new Map([...this.#probes].filter(([, since]) => !this.#isOver(since)));
  }

  /** The client identity for probes, because anybody can invent tokens. */
  #proberOf(client: ShareClient | undefined): string {
    if (client === undefined) return "";
    const isByToken = this.#areAddressesShared && client.isKnown;
    return (isByToken ? client.token : undefined) ?? networkOf(client);
  }

  #endProbe(outcome: AttemptOutcome, prober: string): void {
    const probes = this.#recentProbes();
    if (!probes.delete(prober)) return;
    if (outcome === "failed") probes.set(prober, this.#clock());
    this.#probes = probes;
  }

  #concerns(client: ShareClient | undefined): boolean {
    const openFor = this.#openFor;
    return (
      openFor === undefined || (client !== undefined && namesOf(client).some((name) => openFor.has(name)))
    );
  }

  /** Counts a failure, and opens the circuit for the clients with most of the failures, or for all. */
  #countFailure(client: ShareClient | undefined): void {
    this.#recent.addFailure(client);
    if (!this.#recent.haveFailed()) return;
    const cause = this.#recent.findCause(MAX_BLAMED);
    this.#blamed = new Set([...(cause?.blamed ?? []), ...this.#blamed]);
    const isFew = cause !== undefined && this.#blamed.size <= MAX_BLAMED;
    this.#openFor = isFew ? new Set([...cause.openFor, ...(this.#openFor ?? [])]) : undefined;
    // From now on only the calls of others count.
    this.#recent.clear();
    const wasOpen = this.#openedAt !== undefined;
    this.#openedAt = this.#clock();
    this.#probes = new Map();
    if (!wasOpen) this.#onChange("open");
  }

  #close(): void {
    // The failures before must not open it again.
    this.#recent.clear();
    this.#blamed = new Set();
    this.#probes = new Map();
    this.#openFor = this.#openedAt = undefined;
    this.#onChange("closed");
  }
}
