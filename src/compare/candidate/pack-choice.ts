import { isDeepStrictEqual } from "node:util";
import { type KeyValueStore, type Log, type Metrics, Outage, type Settings } from "../../base/index.ts";
import {
  type LoadedPack,
  loadFiles,
  type PackFiles,
  packFolder,
  packHash,
  readPack,
  readPackFiles,
} from "../../pack/index.ts";
import { openExistingState } from "../../gateway/index.ts";
import { readWantedPack, type WantedPack } from "./wanted-pack.ts";

/** Time between two looks at what is wanted. */
const POLL_MS = 1000;

/** Which of the two packs serves. */
export interface PackChoice {
  /** Whether the promoted pack is to serve. */
  isPromoted(): boolean;
  /**
   * The files of the pack that is to serve. If no folder has the promoted one any more, it is an error in the log, and the
   * active pack stays; at the start it is that of `MAPPINGS_DIR`.
   *
   * @param active Undefined at the start.
   * @throws {PackError} If `MAPPINGS_DIR` can't be read.
   */
  files(active?: LoadedPack): PackFiles;
  /** Looks every second at what is wanted, and reloads when it has changed. @returns ends it */
  follow(
    store: Pick<KeyValueStore, "get">,
    reload: () => Promise<unknown>,
    metrics: Pick<Metrics, "addGauge">,
  ): () => void;
}

/** The files of a folder; undefined if they can't be read. */
function tryReadPack(folder: string): PackFiles | undefined {
  try {
    return readPack(folder);
  } catch {
    return undefined;
  }
}

const ACTIVE: WantedPack = { pack: "active" };

/** Looks once at what is wanted, before the store is opened for good. @throws {StateUnavailableError} */
async function readAtStart(settings: Settings): Promise<WantedPack> {
  const store = await openExistingState(settings);
  try {
    return store ? await readWantedPack(store) : ACTIVE;
  } finally {
    await store?.close();
  }
}

/**
 * Opens the choice between the two packs.
 *
 * @returns undefined without a candidate: then `MAPPINGS_DIR` serves
 */
export async function openPackChoice(settings: Settings, log: Log): Promise<PackChoice | undefined> {
  const { CANDIDATE_MAPPINGS_DIR: candidateFolder } = settings;
  if (candidateFolder === undefined) return undefined;
  let wanted = ACTIVE;
  let isMissing = false;
  const outage = new Outage({
    begins: (error) =>
      log.error(
        { code: "AG_PROMOTED_PACK_UNKNOWN", error },
        "the state store does not say which pack is promoted: the active one stays until it does",
      ),
    ends: () => log.info({}, "the state store says again which pack is promoted"),
  });

  /** Reads what is wanted. What was read before counts while that fails. */
  async function refresh(read: () => Promise<WantedPack>): Promise<void> {
    try {
      wanted = await read();
      outage.succeeded();
    } catch (error) {
      outage.failed(error);
    }
  }
  await refresh(() => readAtStart(settings));

  /** The files with a hash, of whichever folder has them. */
  const findFiles = (hash: string): PackFiles | undefined =>
    [candidateFolder, packFolder(settings.MAPPINGS_DIR)]
      .map(tryReadPack)
      .find((files) => files && packHash(files, settings) === hash);

  return {
    isPromoted: () => wanted.pack === "candidate",
    files(active) {
      isMissing = false;
      if (wanted.pack === "active") return readPackFiles(settings);
      const { hash } = wanted;
      const found = findFiles(hash);
      const isServing = active?.pack.hash === hash;
      isMissing = !found;
      if (!found)
        log.error(
          { code: "AG_PROMOTED_PACK_MISSING", hash, isServing },
          isServing
            ? "no folder has the promoted pack any more: it serves until this process ends. Promote what CANDIDATE_MAPPINGS_DIR has now, or roll back"
            : "no folder has the promoted pack: another one serves. Restore it in CANDIDATE_MAPPINGS_DIR, promote what it has now, or roll back",
        );
      if (isServing) return active.files;
      return found ?? active?.files ?? readPackFiles(settings);
    },
    follow(store, reload, metrics) {
      metrics.addGauge("pack_promoted", "1 while a promoted pack is to serve, else 0.", () =>
        Number(wanted.pack === "candidate"),
      );
      metrics.addGauge(
        "pack_promoted_missing",
        "1 if no folder had the promoted pack when the packs were read last, else 0.",
        () => Number(isMissing),
      );
      let isBusy = false;
      async function look(): Promise<void> {
        const before = wanted;
        await refresh(() => readWantedPack(store));
        if (isDeepStrictEqual(before, wanted)) return;
        log.info({ wanted }, "another pack is wanted");
        await reload();
      }
      const timer = setInterval(() => {
        if (isBusy) return;
        isBusy = true;
        void look().finally(() => (isBusy = false));
      }, POLL_MS).unref();
      return () => clearInterval(timer);
    },
  };
}

/** Loads the promoted pack, else the given one, else that of the folder. @throws {PackError} */
export function loadInitialPack(
  settings: Settings,
  loaded: LoadedPack | undefined,
  choice: PackChoice | undefined,
): LoadedPack {
  if (!choice?.isPromoted()) return loaded ?? loadFiles(readPackFiles(settings), settings);
  const chosen = choice.files();
  return loaded?.pack.hash === packHash(chosen, settings) ? loaded : loadFiles(chosen, settings);
}
