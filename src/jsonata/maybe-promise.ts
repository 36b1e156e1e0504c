/**
 * An interpreted expression answers later, a compiled one at once. What is built on expressions goes on
 * in the same turn where it can, and waits only where it must.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value now, or as soon as it is there. */
export function thenMaybe<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** All values of a list, at once if none of them is late. */
export function allMaybe<T>(values: readonly MaybePromise<T>[]): MaybePromise<T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[]);
}

/** Marks the rejections of promises that nobody will wait for as handled: left alone, one would end the process. */
export function ignoreRejections(values: readonly unknown[]): void {
  for (const value of values) if (value instanceof Promise) value.catch(() => {});
}

/**
 * Makes a value of each item, and gives all of them as {@link allMaybe} does.
 *
 * @throws what `make` throws; promises that it gave before are not left without a handler
 */
export function allOf<Item, T>(
  items: readonly Item[],
  make: (item: Item) => MaybePromise<T>,
): MaybePromise<T[]> {
  const values: MaybePromise<T>[] = [];
  try {
    for (const item of items) values.push(make(item));
  } catch (error) {
    ignoreRejections(values);
    throw error;
  }
  return allMaybe(values);
}
