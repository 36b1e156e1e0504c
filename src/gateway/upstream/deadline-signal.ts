import { UpstreamError } from "./upstream-error.ts";

/** What a call needs of an `AbortSignal`. */
export interface CancelSignal {
  readonly aborted: boolean;
  /** Why it was aborted, where it is not the client. */
  readonly overdue?: UpstreamError | undefined;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Aborts calls when their client disconnects, or when a time is up that is shorter than that of one call. */
export class DeadlineSignal implements CancelSignal {
  /** Why calls end, unless it is the client; undefined before. */
  overdue: UpstreamError | undefined;
  readonly #client: CancelSignal;
  readonly #endsAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners = new Set<() => void>();
  readonly #onAbort = (): void => {
    for (const listener of this.#listeners) listener();
  };

  /** @param ms milliseconds */
  constructor(client: CancelSignal, ms: number) {
    this.#client = client;
    this.#endsAt = performance.now() + ms;
    this.#timer = setTimeout(() => {
      this.overdue = new UpstreamError("deadline", `no result in ${ms} ms`);
      this.#onAbort();
    }, ms);
    client.addEventListener("abort", this.#onAbort);
  }

  get aborted(): boolean {
    return this.overdue !== undefined || this.#client.aborted;
  }

  /** Milliseconds until the time is up. */
  get remainingMs(): number {
    return this.#endsAt - performance.now();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Must be called when the last call has ended. */
  release(): void {
    clearTimeout(this.#timer);
    this.#client.removeEventListener("abort", this.#onAbort);
  }
}
