import { createReloader, type FeatureHost, type Reload, type Settings } from "../../base/index.ts";
import {
  assertReplaceable,
  describeProblems,
  type LoadedPack,
  loadFilesInBackground,
  type Pack,
  type PackFiles,
  packHash,
  readPack,
  readPackFiles,
} from "../../pack/index.ts";

/** The packs that serve requests. */
export interface ServingPacks {
  /** The pack for requests that start now. */
  current(): { readonly pack: Pack };
  /** The pack that testers may select, if there is a candidate. */
  candidate(): { readonly pack: Pack } | undefined;
  /** Reads the catalogs of a candidate, then serves the requests that select it. Undefined: the candidate was removed. */
  offer(loaded: LoadedPack | undefined, isSuperseded: () => boolean): Promise<void>;
}

interface CandidateOptions {
  /** The folder of the candidate. */
  readonly folder: string;
  readonly packs: ServingPacks;
  /** Checks whether the other configured files fit a pack. @throws {Error} */
  readonly checkPack: (pack: Pack) => void;
}

/**
 * Creates the function that reads the candidate again, after the active pack. It follows the same rules as a pack that
 * replaces the active one. If it is invalid, the previous candidate stays. The active pack does not change. While the
 * candidate is the active pack, testers may select the pack of `MAPPINGS_DIR` instead. Never rejects.
 */
export function createCandidateReloader(
  settings: Settings,
  { folder, packs, checkPack }: CandidateOptions,
  { log, metrics }: Pick<FeatureHost, "log" | "metrics">,
): Reload {
  metrics.addGauge("candidate_offered", "1 while testers can request the candidate, otherwise 0.", () =>
    Number(packs.candidate() !== undefined),
  );

  /** Returns the files of the pack that is not active; undefined if both folders contain the active pack. */
  function otherFiles(active: string): PackFiles | undefined {
    const files = readPack(folder);
    if (packHash(files, settings) !== active) return files;
    const main = readPackFiles(settings);
    return packHash(main, settings) === active ? undefined : main;
  }

  async function replace(signal: AbortSignal): Promise<void> {
    const { pack: active } = packs.current();
    const files = otherFiles(active.hash);
    const isSuperseded = (): boolean => signal.aborted;
    if (files && packHash(files, settings) === packs.candidate()?.pack.hash) return;
    if (!files) return packs.offer(undefined, isSuperseded);
    const loaded = await loadFilesInBackground(files, settings, signal);
    if (isSuperseded()) return;
    assertReplaceable(loaded.pack, active);
    checkPack(loaded.pack);
    await packs.offer(loaded, isSuperseded);
    if (!isSuperseded())
      log.info({ pack: loaded.pack.hash, directory: files.directory }, "another pack can be asked for");
  }

  return createReloader({
    read: replace,
    onFailure: (error) =>
      log.warn(
        { code: "AG_CANDIDATE_REJECTED", faults: describeProblems(error) },
        "the candidate was rejected; the active pack is not concerned",
      ),
    gauge: {
      name: "candidate_last_reload_successful",
      help: "1 if the last reload of the candidate succeeded, otherwise 0.",
    },
    metrics,
  });
}
