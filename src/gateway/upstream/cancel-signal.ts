/** Cancels calls if their client disconnects, or their time limit ends. */
import { UpstreamError } from "./upstream-error.ts";

/** The part of an `AbortSignal` that calls need. */
export interface CancelSignal {
  readonly aborted: boolean;
  /** The reason: an {@link UpstreamError}, or any other value if the client has disconnected. */
  readonly reason?: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A signal that its owner aborts once. It costs a tenth of an `AbortController`. */
export class Cancellation implements CancelSignal {
  aborted = false;
  reason: UpstreamError | undefined;
  #listeners: (() => void)[] = [];

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const index = this.#listeners.indexOf(listener);
    if (index !== -1) this.#listeners.splice(index, 1);
  }

  /** @param reason Default: the client has disconnected */
  abort(reason?: UpstreamError): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

/** Returns the error of calls that a signal has cancelled. */
export const cancelError = ({ reason }: CancelSignal): UpstreamError =>
  reason instanceof UpstreamError ? reason : new UpstreamError("client_aborted", "the client disconnected");

/** Cancels calls if their client disconnects, or their time limit ends. It always has a reason. */
export class TimeLimit extends Cancellation {
  readonly #client: CancelSignal | undefined;
  readonly #endsAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = (): void => this.#client && this.abort(cancelError(this.#client));

  /**
   * @param client undefined for calls of the gateway itself
   * @param ms the time limit in milliseconds
   * @param createError creates the error of calls that exceed the limit
   */
  constructor(client: CancelSignal | undefined, ms: number, createError: () => UpstreamError) {
    super();
    this.#client = client;
    this.#endsAt = performance.now() + ms;
    this.#timer = setTimeout(() => this.abort(createError()), ms);
    if (client?.aborted) this.#onAbort();
    client?.addEventListener("abort", this.#onAbort);
  }

  /** Milliseconds until the time limit. */
  get remainingMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Throws if the signal is aborted. @throws {UpstreamError} the reason */
  throwIfAborted(): void {
    if (this.reason) throw this.reason;
  }

  /** Must be called when the last call has ended. */
  release(): void {
    clearTimeout(this.#timer);
    this.#client?.removeEventListener("abort", this.#onAbort);
  }
}

/** Waits for some milliseconds, or until a signal is aborted. A call after that fails without being sent. */
export function pauseUntilAborted(ms: number, signal: CancelSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
