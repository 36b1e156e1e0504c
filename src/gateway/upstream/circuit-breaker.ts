/**
 * `open`: requests fail fast, or one request probes whether v4 has recovered. `half-open`: the next request is the probe, also
 * where an earlier one still has no outcome.
 */
export type CircuitState = "closed" | "open" | "half-open";

/** The outcome of one attempt. `ignored` says nothing about v4: the client disconnected, for example. */
export type AttemptOutcome = "succeeded" | "failed" | "ignored";

/**
 * A circuit breaker: while v4 fails, requests fail fast and do not pile up. Where most failures are those of a few clients, it
 * opens for these alone: others may use parts of v4 that work.
 *
 * Own code: it serves undici, the streams of files and the native proxy alike, so it can't wrap calls as the usual
 * libraries do. It only counts; it has no timer.
 */
export interface CircuitBreaker {
  /**
   * Whether a client may call v4 now. If the circuit is half-open, one caller gets true, and its outcome decides.
   *
   * @param client The hash of its token; undefined: nobody's call, or that of a client without one.
   */
  allow(client?: string): boolean;
  /**
   * Records the outcome of an attempt. Call it once for each attempt that was allowed.
   *
   * @param client As for {@link allow}; undefined also for a failure that no client can cause.
   */
  record(outcome: AttemptOutcome, client?: string): void;
  /** For the clients that the circuit is about. */
  state(): CircuitState;
  /** Whether a client's calls fail fast now. */
  isOpenFor(client?: string): boolean;
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

/** The circuit opens for everybody if more clients than this share most of the failures. */
const MAX_CLIENTS = 4;

/** Attempts of one second. */
interface Bucket {
  second: number;
  succeeded: number;
  failed: number;
  /** Failures by client. */
  readonly failedBy: Map<string, number>;
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
    failedBy: new Map(),
  }));
  /** The last failure; undefined while the circuit is closed. */
  let openedAt: number | undefined;
  /** When the last probe began; undefined if there is none. It may never end: a client can hold it. */
  let probedAt: number | undefined;
  /** Whom the circuit is open for; undefined: everybody. */
  let openFor: ReadonlySet<string> | undefined;

  function count(outcome: "succeeded" | "failed", client: string | undefined): void {
    const second = Math.floor(clock() / 1000);
    const bucket = buckets[second % WINDOW_SECONDS] as Bucket;
    if (bucket.second !== second) {
      Object.assign(bucket, { second, succeeded: 0, failed: 0 });
      bucket.failedBy.clear();
    }
    bucket[outcome] += 1;
    if (outcome === "failed" && client !== undefined)
      bucket.failedBy.set(client, (bucket.failedBy.get(client) ?? 0) + 1);
  }

  function recentBuckets(): Bucket[] {
    const oldest = Math.floor(clock() / 1000) - WINDOW_SECONDS;
    return buckets.filter(({ second }) => second > oldest);
  }

  const failures = (recent: readonly Bucket[]): number =>
    recent.reduce((sum, bucket) => sum + bucket.failed, 0);

  function hasFailed(): boolean {
    const recent = recentBuckets();
    const failed = failures(recent);
    const all = recent.reduce((sum, bucket) => sum + bucket.succeeded, failed);
    return all >= minAttempts && failed > threshold * all;
  }

  /** The few clients with more than half of the failures; undefined where they are not few. */
  function findFailing(): ReadonlySet<string> | undefined {
    const recent = recentBuckets();
    const byClient = new Map<string, number>();
    for (const { failedBy } of recent)
      for (const [client, failed] of failedBy) byClient.set(client, (byClient.get(client) ?? 0) + failed);
    const worst = [...byClient].toSorted(([, a], [, b]) => b - a).slice(0, MAX_CLIENTS);
    const failed = worst.reduce((sum, [, count]) => sum + count, 0);
    return failed > failures(recent) / 2 ? new Set(worst.map(([client]) => client)) : undefined;
  }

  const isAside = (client: string | undefined): boolean =>
    openFor !== undefined && (client === undefined || !openFor.has(client));

  const forget = (): void => buckets.forEach((bucket) => (bucket.second = -1));

  function open(): void {
    const wasOpen = openedAt !== undefined;
    openedAt = clock();
    probedAt = undefined;
    if (!wasOpen) onChange("open");
  }

  function openForFailing(): void {
    const failing = findFailing();
    const all = failing && new Set([...failing, ...(openFor ?? [])]);
    openFor = all && all.size <= MAX_CLIENTS ? all : undefined;
    // From now on only the calls of others count.
    forget();
    open();
  }

  function close(): void {
    openedAt = undefined;
    probedAt = undefined;
    openFor = undefined;
    // The failures before the outage ended must not open it again.
    forget();
    onChange("closed");
  }

  /** A success closes the circuit, even that of an attempt that started before it opened. */
  function recordWhileOpen(outcome: AttemptOutcome, client: string | undefined): void {
    if (outcome === "succeeded") return close();
    if (isAside(client)) return outcome === "failed" ? countFailure(client) : undefined;
    if (outcome === "failed" && probedAt !== undefined) open();
    else probedAt = undefined;
  }

  function countFailure(client: string | undefined): void {
    count("failed", client);
    if (hasFailed()) openForFailing();
  }

  function state(): CircuitState {
    if (openedAt === undefined) return "closed";
    const since = Math.max(openedAt, probedAt ?? openedAt);
    return clock() - since < openMs ? "open" : "half-open";
  }

  return {
    state,
    openMs,
    isOpenFor: (client) => !isAside(client) && state() === "open",
    allow(client) {
      if (openedAt === undefined || isAside(client)) return true;
      if (state() === "open") return false;
      probedAt = clock();
      return true;
    },
    record(outcome, client) {
      if (openedAt !== undefined) recordWhileOpen(outcome, client);
      else if (outcome === "failed") countFailure(client);
      else if (outcome === "succeeded") count(outcome, client);
    },
  };
}
