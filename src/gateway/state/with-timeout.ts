class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/** Whether an error says that {@link withTimeout} did not wait any longer. */
export const isTimeout = (error: unknown): error is Error => error instanceof TimeoutError;

/**
 * Waits for work for at most `timeoutMs` milliseconds. A later result is dropped. A result that arrived while this process
 * was busy counts as in time.
 *
 * @throws {Error} If the work takes longer.
 */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // Sockets are read between timers and immediates.
    const onTimeout = () =>
      setImmediate(() => reject(new TimeoutError(`no response within ${timeoutMs} ms`)));
    timer = setTimeout(onTimeout, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
