import { isDeepStrictEqual } from "node:util";
import { formatDiagnosticLine, PackError } from "../mapping/load/diagnostic.ts";
import type { PackFiles } from "../mapping/load/load-pack.ts";
import type { Metrics } from "../observability/metrics/metrics.ts";
import type { Settings } from "../config/schema.ts";
import type { Log } from "../observability/log.ts";
import { assertReplaces, loadFiles, readPackOf, type LoadedPack } from "./load-pack.ts";

/** Takes another pack into use while requests are served. It never rejects: what is refused is told. */
export type ReloadPack = (files?: PackFiles) => Promise<void>;

export interface ReloadOptions {
  readonly initial: LoadedPack;
  /**
   * Puts a pack to work; what goes wrong leaves the one before in use.
   *
   * @param overtaken Has another been asked for meanwhile, so that this one is not wanted any more?
   */
  readonly activate: (loaded: LoadedPack, overtaken: () => boolean) => Promise<void>;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "gauge">;
}

/** Places alone: a line of the log shows no line of a file. */
const faultsOf = (error: unknown): readonly string[] =>
  error instanceof PackError ? error.diagnostics.map(formatDiagnosticLine) : [(error as Error).message];

/**
 * Reads, checks and compiles the pack anew, and then puts it to work. A pack with a fault is refused and the one
 * in use stays, so that there is one at every moment. Without files they are read from the folder.
 */
export function createPackReloader(
  settings: Settings,
  { initial: first, activate: use, log, metrics }: ReloadOptions,
): ReloadPack {
  let inUse = first;
  let asked = 0;
  let successful = true;
  let since = Date.now();
  metrics.gauge(
    "pack_last_reload_successful",
    "Is the pack in use the last one that was asked for? 0: that one was refused.",
    () => Number(successful),
  );
  metrics.gauge(
    "pack_in_use_since_seconds",
    "When the pack in use was taken into use, in seconds since the epoch.",
    () => since / 1000,
  );

  async function take(files: PackFiles, overtaken: () => boolean): Promise<void> {
    if (isDeepStrictEqual(files, inUse.files)) return;
    const loaded = loadFiles(files, settings);
    assertReplaces(loaded.pack, inUse.pack, settings);
    await use(loaded, overtaken);
    if (overtaken()) return;
    inUse = loaded;
    since = Date.now();
    log.info({ routes: loaded.pack.routes.length }, "the pack was reloaded");
  }

  return async function reload(given) {
    const turn = (asked += 1);
    const overtaken = (): boolean => turn !== asked;
    try {
      await take(given ?? readPackOf(settings), overtaken);
      if (!overtaken()) successful = true;
    } catch (error) {
      if (!overtaken()) successful = false;
      log.error(
        { code: "AG_PACK_RELOAD_FAILED", faults: faultsOf(error) },
        "the pack was rejected, the active one stays",
      );
    }
  };
}
