/** Reads something again while requests are served. */
import type { Metrics } from "../metrics/metrics.ts";

/**
 * Reads the file again. Never rejects. @returns The problem of the file. If another call supersedes this one, the
 * result of the newest
 */
export type Reload = () => Promise<Error | undefined>;

interface ReloaderOptions {
  /** Reads it, and brings it into force, unless the signal was aborted: another call supersedes it. @throws If it is invalid */
  readonly read: (signal: AbortSignal) => unknown;
  /** The previous version stays. */
  readonly onFailure: (error: unknown) => void;
  readonly gauge?: { readonly name: string; readonly help: string };
  readonly metrics: Pick<Metrics, "addGauge">;
}

/** Creates a function that reads something again. If it is invalid, the previous one stays active. */
export function createReloader({ read, onFailure, gauge, metrics }: ReloaderOptions): Reload {
  let latest = new AbortController();
  /** The result of the newest call, which is the result of all that it supersedes, too. */
  let newest: Promise<Error | undefined> = Promise.resolve(undefined);
  let isLastSuccessful = true;
  if (gauge) metrics.addGauge(gauge.name, gauge.help, () => Number(isLastSuccessful));

  async function run({ signal }: AbortController): Promise<Error | undefined> {
    try {
      await read(signal);
      if (signal.aborted) return newest;
      isLastSuccessful = true;
      return undefined;
    } catch (error) {
      if (signal.aborted) return newest;
      isLastSuccessful = false;
      onFailure(error);
      return error as Error;
    }
  }

  return function reload() {
    latest.abort();
    latest = new AbortController();
    newest = run(latest);
    return newest;
  };
}
