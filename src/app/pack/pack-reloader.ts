import { isDeepStrictEqual } from "node:util";
import {
  assertReplaceable,
  describeProblems,
  type LoadedPack,
  loadFilesInBackground,
  type Pack,
  type PackFiles,
} from "../../pack/index.ts";
import { createReloader, type Log, type Metrics, type Reload, type Settings } from "../../base/index.ts";

interface ReloadOptions {
  readonly initial: LoadedPack;
  /** Reads the files of the new pack. @throws {PackError} */
  readonly readFiles: (active: LoadedPack) => PackFiles;
  /**
   * Serves requests with a pack. If it fails, the previous pack stays active.
   *
   * @param isSuperseded Returns whether a later reload, which replaces this pack, has started in the meantime.
   */
  readonly activate: (loaded: LoadedPack, isSuperseded: () => boolean) => Promise<void>;
  /** Checks whether the other configured files are valid with a pack. @throws {Error} */
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
): Reload {
  let active = initial;
  let activeSince = Date.now();
  metrics.addGauge(
    "pack_in_use_since_seconds",
    "Time of activation of the active pack, in seconds since the epoch.",
    () => activeSince / 1000,
  );

  async function replace(files: PackFiles, signal: AbortSignal): Promise<void> {
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

  return createReloader({
    read: (signal) => replace(readFiles(active), signal),
    onFailure: (error) =>
      log.error(
        { code: "AG_PACK_RELOAD_FAILED", faults: describeProblems(error) },
        "the pack was rejected, the active one stays",
      ),
    gauge: {
      name: "pack_last_reload_successful",
      help: "1 if the last reload of the pack succeeded, otherwise 0.",
    },
    metrics,
  });
}
