/** Calls that one request may have under way at the same time. */
const MOST_AT_ONCE = 8;

/** Runs over values, a few at a time, and gives the results in their order. The first failure is the whole's: no run is begun after it. */
export async function mapConcurrent<T, R>(values: readonly T[], run: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = values.entries();
  let failed = false;
  const work = async (): Promise<void> => {
    for (const [index, value] of left) {
      if (failed) return;
      results[index] = await run(value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, values.length) }, work));
  return results;
}
