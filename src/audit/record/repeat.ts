/** Repeats background work of a store until it is stopped: the first step at once. */
export interface RepeatOptions {
  /** Does one step, and returns the pause before the next one, in milliseconds. */
  readonly step: () => Promise<number>;
  /** Pause after a step that failed. Errors of a store are reported by its commits: the work only tries again. */
  readonly retryMs: number;
}

/** Starts the work. The result stops it; a step that has begun is completed. */
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
