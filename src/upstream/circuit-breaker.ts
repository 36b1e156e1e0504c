/** `open`: v4 is left alone, or one call finds out whether it is back. `half-open`: the next call will find out. */
export type CircuitState = "closed" | "open" | "half-open";

/** What one try came to. Nothing follows from `neither`: the client went away, say. */
export type AttemptOutcome = "answered" | "failed" | "neither";

/**
 * A circuit breaker: leaves a v4 that fails alone, so that its clients are told at once, and their requests don't
 * pile up. It is asked before each try and told of each outcome; it wraps nothing and sets no timer.
 */
export interface CircuitBreaker {
  /** May v4 be asked now? When it is half-open one try may, and its outcome decides. */
  allow(): boolean;
  /** Each try that was admitted has one outcome. */
  record(outcome: AttemptOutcome): void;
  state(): CircuitState;
  /** For how long v4 is left alone, in milliseconds. */
  readonly pauseMs: number;
}

export interface CircuitBreakerOptions {
  /** Share of tries that failed, of those of the last seconds, above which it opens. Default 0.5. */
  readonly threshold?: number;
  /** Fewer tries than this in the last seconds tell nothing. Default 50. */
  readonly fewest?: number;
  /** For how long v4 is left alone, in milliseconds. Default 1000. */
  readonly pauseMs?: number;
  /** Hears when it opens, and when it closes. */
  readonly onChange?: ((state: CircuitState) => void) | undefined;
  /** Milliseconds of a clock that nobody sets. Default that of the process. */
  readonly clock?: () => number;
}

/** Tries are counted by the second, for so many seconds. */
const SECONDS = 10;

interface Second {
  number: number;
  answered: number;
  failed: number;
}

/**
 * Makes the breaker of one v4.
 *
 * Its clock is monotonic: with the time of day, a clock that is set back would hold it open for as long.
 */
export function createCircuitBreaker({
  threshold = 0.5,
  fewest = 50,
  pauseMs = 1000,
  onChange = () => {},
  clock = () => performance.now(),
}: CircuitBreakerOptions = {}): CircuitBreaker {
  const seconds = Array.from({ length: SECONDS }, (): Second => ({ number: -1, answered: 0, failed: 0 }));
  /** When v4 failed last; undefined while it is closed. */
  let openedAt: number | undefined;
  let trying = false;

  function count(outcome: "answered" | "failed"): void {
    const number = Math.floor(clock() / 1000);
    const second = seconds[number % SECONDS] as Second;
    if (second.number !== number) Object.assign(second, { number, answered: 0, failed: 0 });
    second[outcome] += 1;
  }

  function fails(): boolean {
    const oldest = Math.floor(clock() / 1000) - SECONDS;
    const recent = seconds.filter(({ number }) => number > oldest);
    const failed = recent.reduce((sum, second) => sum + second.failed, 0);
    const all = recent.reduce((sum, second) => sum + second.answered, failed);
    return all >= fewest && failed > threshold * all;
  }

  function open(): void {
    const again = openedAt !== undefined;
    openedAt = clock();
    trying = false;
    if (!again) onChange("open");
  }

  function close(): void {
    openedAt = undefined;
    trying = false;
    // What led to it is over.
    for (const second of seconds) second.number = -1;
    onChange("closed");
  }

  /** It answers again, perhaps to a call from before it was left alone. */
  const outcomeWhileOpen = (outcome: AttemptOutcome): void => {
    if (outcome === "answered") close();
    else if (outcome === "failed" && trying) open();
    else trying = false;
  };

  function state(): CircuitState {
    if (openedAt === undefined) return "closed";
    return trying || clock() - openedAt < pauseMs ? "open" : "half-open";
  }

  return {
    state,
    pauseMs,
    allow() {
      // The usual way, and the shortest.
      if (openedAt === undefined) return true;
      if (state() === "open") return false;
      trying = true;
      return true;
    },
    record(outcome) {
      if (openedAt !== undefined) return outcomeWhileOpen(outcome);
      if (outcome === "neither") return;
      count(outcome);
      if (outcome === "failed" && fails()) open();
    },
  };
}
