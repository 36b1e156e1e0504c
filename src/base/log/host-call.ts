/** Returns the reason of an error. The embedding program may throw any value. */
export const reasonOfError = (error: unknown): string =>
  error instanceof Error ? error.message : `it threw a ${typeof error}`;

/**
 * Calls a logger or a tracer of the embedding program. Requests don't depend on it, so its errors and rejected
 * promises go to `onError`.
 */
export function callHost<Result>(call: () => Result, onError: (error: unknown) => void): Result | undefined {
  try {
    const result = call();
    if (typeof result === "object" && result !== null && "then" in result)
      void Promise.resolve(result).catch(onError);
    return result;
  } catch (error) {
    onError(error);
    return undefined;
  }
}
