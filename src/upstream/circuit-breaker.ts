/**
 * `open`: requests fail fast, or one request probes whether v4 has recovered. `half-open`: the next request is the probe, also
 * where an earlier one still has no outcome.
 */
export type CircuitState = "closed" | "open" | "half-open";

/** The outcome of one attempt. `ignored` says nothing about v4: the client disconnected, for example. */
export type AttemptOutcome = "succeeded" | "failed" | "ignored";

/**
 * A circuit breaker: while v4 fails, requests fail fast and do not pile up.
 *
 * Own code: it serves undici, the streams of files and the native proxy alike, so it can't wrap calls as the usual
 * libraries do. It only counts; it has no timer.
 */
export interface CircuitBreaker {
  /** Whether v4 may be called now. If the circuit is half-open, one caller gets true, and its outcome decides. */
  allow(): boolean;
  /** Records the outcome of an attempt. Call it once for each attempt that was allowed. */
  record(outcome: AttemptOutcome): void;
  state(): CircuitState;
  /** How long the circuit stays open before a probe, in milliseconds. */
  readonly openMs: number;
}

export interface CircuitBreakerOptions {
  /** The circuit opens if more than this share of the recent attempts failed. Default 0.5. */
  readonly threshold?: number;
  /** With fewer recent attempts the circuit stays closed. Default 50. */
  readonly minAttempts?: number;
  /** How long the circuit stays open before a probe, in milliseconds. Default 1000. */
  readonly openMs?: number;
  /** Called when the circuit opens, and when it closes. */
  readonly onChange?: ((state: CircuitState) => void) | undefined;
  /** A monotonic clock in milliseconds. Default: that of the process. */
  readonly clock?: () => number;
}

/** Attempts of this many seconds are recent. */
const WINDOW_SECONDS = 10;

/** Attempts of one second. */
interface Bucket {
  second: number;
  succeeded: number;
  failed: number;
}

/**
 * Creates the circuit breaker of one v4.
 *
 * Its clock is monotonic. With the system clock, setting the clock back would keep the circuit open for as long.
 */
export function createCircuitBreaker({
  threshold = 0.5,
  minAttempts = 50,
  openMs = 1000,
  onChange = () => {},
  clock = () => performance.now(),
}: CircuitBreakerOptions = {}): CircuitBreaker {
  const buckets = Array.from({ length: WINDOW_SECONDS }, (): Bucket => ({
    second: -1,
    succeeded: 0,
    failed: 0,
  }));
  /** The last failure; undefined while the circuit is closed. */
  let openedAt: number | undefined;
  /** When the last probe began; undefined if there is none. It may never end: a client can hold it. */
  let probedAt: number | undefined;

  function count(outcome: "succeeded" | "failed"): void {
    const second = Math.floor(clock() / 1000);
    const bucket = buckets[second % WINDOW_SECONDS] as Bucket;
    if (bucket.second !== second) Object.assign(bucket, { second, succeeded: 0, failed: 0 });
    bucket[outcome] += 1;
  }

  function hasFailed(): boolean {
    const oldest = Math.floor(clock() / 1000) - WINDOW_SECONDS;
    const recent = buckets.filter(({ second }) => second > oldest);
    const failed = recent.reduce((sum, bucket) => sum + bucket.failed, 0);
    const all = recent.reduce((sum, bucket) => sum + bucket.succeeded, failed);
    return all >= minAttempts && failed > threshold * all;
  }

  function open(): void {
    const wasOpen = openedAt !== undefined;
    openedAt = clock();
    probedAt = undefined;
    if (!wasOpen) onChange("open");
  }

  function close(): void {
    openedAt = undefined;
    probedAt = undefined;
    // The failures before the outage ended must not open it again.
    for (const bucket of buckets) bucket.second = -1;
    onChange("closed");
  }

  /** A success closes the circuit, even that of an attempt that started before it opened. */
  function recordWhileOpen(outcome: AttemptOutcome): void {
    if (outcome === "succeeded") close();
    else if (outcome === "failed" && probedAt !== undefined) open();
    else probedAt = undefined;
  }

  function state(): CircuitState {
    if (openedAt === undefined) return "closed";
    const since = Math.max(openedAt, probedAt ?? openedAt);
    return clock() - since < openMs ? "open" : "half-open";
  }

  return {
    state,
    openMs,
    allow() {
      if (openedAt === undefined) return true;
      if (state() === "open") return false;
      probedAt = clock();
      return true;
    },
    record(outcome) {
      if (openedAt !== undefined) return recordWhileOpen(outcome);
      if (outcome === "ignored") return;
      count(outcome);
      if (outcome === "failed" && hasFailed()) open();
    },
  };
}
