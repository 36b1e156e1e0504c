import type { StoredToken } from "./stored-token.ts";
import type { RefreshToken } from "./token-refresh.ts";
import type { TokenRecords } from "./token-records.ts";

/** Pause after a refresh that failed. */
const RETRY_MS = 5000;

/** Pause after the refresh of a token that v4 has rejected: v4 may reject the next one as well. */
const REJECTED_RETRY_MS = 30_000;

/** Tokens that are in a pause. If there are more, all are tried again at once. */
const MAX_PAUSES = 10_000;

/** Whether a token should be refreshed now. */
export const isDue = ({ refresh, renewAt, over }: StoredToken, now: number): boolean =>
  refresh !== undefined && !over && renewAt !== undefined && renewAt <= now;

const rejectedKey = (hash: string): string => `rejected ${hash}`;

export interface TokenRefresherOptions {
  readonly records: TokenRecords;
  readonly refresh: RefreshToken;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** A monotonic clock in milliseconds. Default: that of the process. */
  readonly elapsed?: () => number;
  /** Called for each read or refresh that failed. */
  readonly onError: (error: unknown) => void;
}

/** Refreshes tokens. If that does not help, it waits before it tries the token again. */
export class TokenRefresher {
  readonly #options: TokenRefresherOptions;
  readonly #pauses = new Map<string, { readonly until: number; readonly hasFailed: boolean }>();

  constructor(options: TokenRefresherOptions) {
    this.#options = options;
  }

  #elapsed(): number {
    return this.#options.elapsed?.() ?? performance.now();
  }

  /**
   * Whether a refresh may be tried. A token that can't be used waits for the refresh of another process, but not after a
   * failure.
   */
  mayRefresh(key: string, isUnusable = false): boolean {
    const pause = this.#pauses.get(key);
    return !pause || pause.until <= this.#elapsed() || (isUnusable && !pause.hasFailed);
  }

  #pauseFor(key: string, milliseconds: number, hasFailed: boolean): void {
    if (this.#pauses.size >= MAX_PAUSES) this.#pauses.clear();
    this.#pauses.set(key, { until: this.#elapsed() + milliseconds, hasFailed });
  }

  /** Refreshes a token, and pauses if that did not help. A failure is reported only. */
  async tryRefresh(hash: string, rejectedHash?: string): Promise<void> {
    this.#pauses.delete(hash);
    let hasFailed = false;
    await this.#options.refresh(hash, rejectedHash).catch((error: unknown) => {
      hasFailed = true;
      this.#options.onError(error);
    });
    const { storedToken } = this.#options.records.cached(hash) ?? {};
    if (storedToken && isDue(storedToken, this.#options.clock())) this.#pauseFor(hash, RETRY_MS, hasFailed);
  }

  /** Refreshes a token that v4 has rejected: it may have expired early, or another process is refreshing it. */
  async refreshRejected(hash: string, storedToken: StoredToken, rejectedHash: string): Promise<void> {
    if (!storedToken.refresh || storedToken.over) return;
    const due = isDue(storedToken, this.#options.clock());
    if (!this.mayRefresh(due ? hash : rejectedKey(hash), due)) return;
    await this.tryRefresh(hash, rejectedHash);
    if (!due) this.#pauseFor(rejectedKey(hash), REJECTED_RETRY_MS, true);
  }
}
