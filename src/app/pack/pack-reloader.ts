import { isDeepStrictEqual } from "node:util";
import {
  assertReplaceable,
  describeProblems,
  type LoadedPack,
  loadFilesInBackground,
  type Pack,
  type PackFiles,
} from "../../pack/index.ts";
import type { Log, Metrics, Settings } from "../../base/index.ts";

/**
 * Replaces the active pack while requests are served. Never rejects.
 *
 * @returns Why the pack was rejected, which is logged too. If another reload replaces this one: the result of the newest.
 */
export type ReloadPack = () => Promise<Error | undefined>;

export interface ReloadOptions {
  readonly initial: LoadedPack;
  /** The files of the pack that is to serve. @throws {PackError} */
  readonly readFiles: (active: LoadedPack) => PackFiles;
  /**
   * Serves requests with a pack. If it fails, the previous pack stays active.
   *
   * @param isSuperseded Whether another reload has started meanwhile, so that this pack is no longer wanted.
   */
  readonly activate: (loaded: LoadedPack, isSuperseded: () => boolean) => Promise<void>;
  /** Checks whether what else is configured fits a pack. @throws {Error} */
  readonly checkPack: (pack: Pack) => void;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "addGauge">;
}

/**
 * Creates the function that reloads the pack: it reads, validates and compiles the files in the background, then
 * activates the pack. If the pack is invalid, the previous one stays active.
 */
export function createPackReloader(
  settings: Settings,
  { initial, readFiles, activate, checkPack, log, metrics }: ReloadOptions,
): ReloadPack {
  let active = initial;
  /** Aborted when another reload starts. */
  let latest = new AbortController();
  /** The result of that reload, which is the result of all that it replaces, too. */
  let newest: Promise<Error | undefined> = Promise.resolve(undefined);
  let isLastSuccessful = true;
  let activeSince = Date.now();
  metrics.addGauge(
    "pack_last_reload_successful",
    "1 if the last reload of the pack succeeded, 0 if its pack was rejected.",
    () => Number(isLastSuccessful),
  );
  metrics.addGauge(
    "pack_in_use_since_seconds",
    "When the active pack was activated, in seconds since the epoch.",
    () => activeSince / 1000,
  );

  async function replace(files: PackFiles, { signal }: AbortController): Promise<void> {
    if (isDeepStrictEqual(files, active.files)) return;
    const isSuperseded = (): boolean => signal.aborted;
    const loaded = await loadFilesInBackground(files, settings, signal);
    if (isSuperseded()) return;
    assertReplaceable(loaded.pack, active.pack);
    checkPack(loaded.pack);
    await activate(loaded, isSuperseded);
    if (isSuperseded()) return;
    active = loaded;
    activeSince = Date.now();
    log.info({ routes: loaded.pack.routes.length }, "the pack was reloaded");
  }

  async function run(reload: AbortController): Promise<Error | undefined> {
    const { signal } = reload;
    try {
      await replace(readFiles(active), reload);
      if (signal.aborted) return newest;
      isLastSuccessful = true;
      return undefined;
    } catch (error) {
      if (signal.aborted) return newest;
      isLastSuccessful = false;
      log.error(
        { code: "AG_PACK_RELOAD_FAILED", faults: describeProblems(error) },
        "the pack was rejected, the active one stays",
      );
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
