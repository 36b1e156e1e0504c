import { type CircuitClient, namesOf, RecentAttempts } from "./recent-attempts.ts";
import type { AttemptOutcome } from "./upstream-error.ts";

/** `open`: requests fail fast. `half-open`: the next request probes whether v4 has recovered, also if an earlier one has no outcome. */
export type CircuitState = "closed" | "open" | "half-open";

export interface CircuitBreakerOptions {
  /** With fewer recent attempts the circuit stays closed. Default 50. */
  readonly minAttempts?: number;
  /** How long the circuit stays open before a probe, in milliseconds. Default 1000. */
  readonly openMs?: number;
  /** Called when the circuit opens, and when it closes. */
  readonly onChange?: ((state: CircuitState) => void) | undefined;
  /** In milliseconds. Default: that of the process. If it could be set back, the circuit would stay open for as long. */
  readonly clock?: () => number;
}

/** The circuit opens for everybody if more networks or clients than this share most of the failures. */
const MAX_BLAMED = 4;

/**
 * While v4 fails, requests fail fast and do not pile up. Where most failures are those of a few networks or clients, the circuit
 * opens for these alone: others may use parts of v4 that work. A customer may have many tokens, so networks are blamed first.
 *
 * Own code: it serves undici, the streams of files and the native proxy alike, so it can't wrap calls as the usual libraries do.
 */
export class CircuitBreaker {
  /** How long the circuit stays open before a probe, in milliseconds. */
  readonly openMs: number;
  readonly #onChange: (state: CircuitState) => void;
  readonly #clock: () => number;
  readonly #recent: RecentAttempts;
  /** The last failure; undefined while the circuit is closed. */
  #openedAt: number | undefined;
  /** When the last probe began; undefined if there is none. It may never end: a client can hold it. */
  #probedAt: number | undefined;
  /** Tokens and networks that the circuit is open for; undefined: everybody. */
  #openFor: ReadonlySet<string> | undefined;
  /** The networks or clients that have caused it. */
  #blamed: ReadonlySet<string> = new Set();

  constructor({ minAttempts = 50, openMs = 1000, onChange, clock }: CircuitBreakerOptions = {}) {
    this.openMs = openMs;
    this.#onChange = onChange ?? (() => {});
    this.#clock = clock ?? (() => performance.now());
    this.#recent = new RecentAttempts(minAttempts, this.#clock);
  }

  /** For the clients that the circuit is about. */
  state(): CircuitState {
    if (this.#openedAt === undefined) return "closed";
    const since = this.#probedAt ?? this.#openedAt;
    return this.#clock() - since < this.openMs ? "open" : "half-open";
  }

  /** Whether a client's calls fail fast now. @param client as for {@link allow} */
  isOpenFor(client?: CircuitClient): boolean {
    return this.#concerns(client) && this.state() === "open";
  }

  /**
   * Whether a client may call v4 now. If the circuit is half-open, one caller gets true, and its outcome decides.
   *
   * @param client undefined: nobody's call
   */
  allow(client?: CircuitClient): boolean {
    if (this.#openedAt === undefined || !this.#concerns(client)) return true;
    if (this.state() === "open") return false;
    this.#probedAt = this.#clock();
    return true;
  }

  /** Records the outcome of an attempt, once for each that was allowed. @param client undefined also if no client can cause it */
  record(outcome: AttemptOutcome, client?: CircuitClient): void {
    const isOpen = this.#openedAt !== undefined;
    // Also that of an attempt that started before it opened.
    if (outcome === "succeeded" && isOpen) this.#close();
    else if (outcome === "succeeded") this.#recent.addSuccess(client);
    else if (isOpen && this.#concerns(client)) {
      if (outcome === "failed" && this.#probedAt !== undefined) this.#openedAt = this.#clock();
      this.#probedAt = undefined;
    } else if (outcome === "failed") this.#countFailure(client);
  }

  #concerns(client: CircuitClient | undefined): boolean {
    const openFor = this.#openFor;
    return (
      openFor === undefined || (client !== undefined && namesOf(client).some((name) => openFor.has(name)))
    );
  }

  /** Counts a failure, and opens the circuit for those who have most of the failures, or for everybody. */
  #countFailure(client: CircuitClient | undefined): void {
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
    this.#probedAt = undefined;
    if (!wasOpen) this.#onChange("open");
  }

  #close(): void {
    // The failures before must not open it again.
    this.#recent.clear();
    this.#blamed = new Set();
    this.#openFor = this.#openedAt = this.#probedAt = undefined;
    this.#onChange("closed");
  }
}
