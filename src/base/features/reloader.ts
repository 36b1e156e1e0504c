/** Reads a file again while requests are served. */
import type { Metrics } from "../metrics/metrics.ts";

/**
 * Reads the file again. Never rejects. @returns the problem of the file. If a later call supersedes this one, the
 * result of the later call
 */
export type Reload = () => Promise<Error | undefined>;

interface ReloaderOptions {
  /**
   * Reads the file and activates it, unless a later call superseded this one and aborted the signal. @throws if the
   * file is invalid
   */
  readonly read: (signal: AbortSignal) => unknown;
  /** Called if the file is invalid. The previous version stays active. */
  readonly onFailure: (error: unknown) => void;
  readonly gauge?: { readonly name: string; readonly help: string };
  readonly metrics: Pick<Metrics, "addGauge">;
}

/** Creates a function that reads a file again. If it is invalid, the previous version stays active. */
export function createReloader({ read, onFailure, gauge, metrics }: ReloaderOptions): Reload {
  let latest = new AbortController();
  /** The result of the newest call. Calls that it supersedes have the same result. */
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
