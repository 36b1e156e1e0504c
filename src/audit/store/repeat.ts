/** Repeats background work of a store until it is stopped. The first step runs at once. */
export interface RepeatOptions {
  /** Does one step, and returns the pause before the next one, in milliseconds. */
  readonly step: () => Promise<number>;
  /**
   * Milliseconds before the next step after a failed one. Commits report errors of a store, so the work only tries
   * again.
   */
  readonly retryMs: number;
}

/** Starts the work. The returned function stops it after the current step. */
export function repeat({ step, retryMs }: RepeatOptions): () => void {
  let stopped = false;
  let timer = setTimeout(run, 0);

  function again(pause: number): void {
    if (!stopped) timer = setTimeout(run, pause);
  }

  function run(): void {
    step()
      .then(again)
      .catch(() => again(retryMs));
  }

  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
