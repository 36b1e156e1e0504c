/** Closes something; it may return a promise. */
export type Closer = () => unknown;

/** Registers a resource to close at the end. @returns the same resource */
type Keep = <T>(value: T, close: (value: T) => unknown) => T;

/**
 * Runs a function, and then closes the resources that it registered, the last one first.
 *
 * @throws the function's error, otherwise the first error of closing
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
 * @throws the first error, after all functions have been called. An error does not prevent the other resources from
 *   being closed.
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
