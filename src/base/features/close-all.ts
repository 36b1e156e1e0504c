/** Closes something; it may return a promise. */
export type Closer = () => unknown;

/** Keeps something open until the end. @returns The same */
export type Keep = <T>(value: T, close: (value: T) => unknown) => T;

/**
 * Runs something, and then closes what it kept, the last one first.
 *
 * @throws What it throws, or else the first error of closing
 */
export async function withClosing<T>(run: (keep: Keep) => Promise<T>): Promise<T> {
  const closers: Closer[] = [];
  let result: T;
  try {
    result = await run((value, close) => {
      closers.push(() => close(value));
      return value;
    });
  } catch (error) {
    await closeAll(closers).catch(() => {});
    throw error;
  }
  await closeAll(closers);
  return result;
}

/**
 * Calls all functions, the last one first: what was opened later may need what was opened before.
 *
 * @throws The first error, once all have been called: one that can't be closed keeps no other open.
 */
export async function closeAll(closers: readonly Closer[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closers.toReversed()) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
