/** Closes something; it may return a promise. */
export type Closer = () => unknown;

/** Keeps something open until the end. @returns The same */
type Keep = <T>(value: T, close: (value: T) => unknown) => T;

/**
 * Runs a function, and then closes the resources that it registered, the last one first.
 *
 * @throws Its error, or else the first error of closing
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
 * Calls all functions, the last one first, because a resource may need earlier ones.
 *
 * @throws The first error, after all have been called. A resource that can't be closed does not keep others open.
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
