/**
 * A value, or a promise of it. Compiled expressions return values, and interpreted expressions return promises. Code
 * that uses expressions continues synchronously whenever it can: `await` on a plain value would cost a microtask per
 * field.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: immediately, or when the promise resolves. */
export function thenMaybe<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns all values of a list: immediately if none is a promise. */
export function awaitAll<T>(values: readonly MaybePromise<T>[]): MaybePromise<T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[]);
}

/** Handles the rejections of promises that are never awaited: an unhandled rejection would end the process. */
export function ignoreRejections(values: readonly unknown[]): void {
  for (const value of values) if (value instanceof Promise) value.catch(() => {});
}

/**
 * Maps each item to a value, and returns all values as {@link awaitAll} does.
 *
 * @throws Whatever `map` throws. Rejections of the promises that it returned before are handled.
 */
export function mapMaybe<Item, T>(
  items: readonly Item[],
  map: (item: Item) => MaybePromise<T>,
): MaybePromise<T[]> {
  const values: MaybePromise<T>[] = [];
  try {
    for (const item of items) values.push(map(item));
  } catch (error) {
    ignoreRejections(values);
    throw error;
  }
  return awaitAll(values);
}
