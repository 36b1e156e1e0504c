/**
 * Waits for work, and no longer than so many milliseconds. What it brings after that is dropped. An answer that has
 * come while this process was busy itself is in time.
 */
export async function withTimeout<T>(work: Promise<T>, mostMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // What has come in is read between a timer and an immediate.
    const end = () => setImmediate(() => reject(new Error(`no answer within ${mostMs} ms`)));
    timer = setTimeout(end, mostMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
