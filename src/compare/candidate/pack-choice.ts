/**
 * The candidate: selects the serving pack, which is the pack of `MAPPINGS_DIR` or the promoted one, and offers the other
 * one to testers.
 */
import {
  CommandError,
  createSharedDocument,
  type DocumentStore,
  type Feature,
  type FeatureCommands,
  type FeatureParts,
  type KeyValueStore,
  lines,
  type Reload,
  type Settings,
  type SharedDocument,
  STATE_SETTINGS,
} from "../../base/index.ts";
import {
  assertReplaceable,
  type LoadedPack,
  loadFiles,
  loadPack,
  type Pack,
  type PackFiles,
  packFolder,
  packHash,
  readPack,
  readPackFiles,
} from "../../pack/index.ts";
import { z } from "zod";
import { createCandidateReloader, type ServingPacks } from "./candidate-pack.ts";

/** Milliseconds between two reads of the choice. */
const POLL_MS = 1000;

/** The gateway that serves the packs. */
interface FollowedGateway {
  readonly packs: ServingPacks;
  /** Checks whether the other configured files fit a pack. @throws {Error} */
  readonly checkPack: (pack: Pack) => void;
  /** Reads the active pack again, and then the candidate. */
  readonly reload: () => Promise<unknown>;
}

/** The choice between the two packs. */
export interface PackChoice extends FeatureParts {
  /** Whether the promoted pack should serve requests. */
  isPromoted(): boolean;
  /**
   * Returns the files of the selected pack. If no folder contains the promoted pack any more, an error is logged, and
   * the active pack stays. At the start, the pack of `MAPPINGS_DIR` is used in that case.
   *
   * @param active Undefined at the start.
   * @throws {PackError} if `MAPPINGS_DIR` can't be read
   */
  files(active?: LoadedPack): PackFiles;
  /** Offers the candidate to testers from now on, and reloads packs when the choice changes. */
  follow(gateway: FollowedGateway): void;
}

/** Returns the files of a folder; undefined if they can't be read. */
function tryReadPack(folder: string): PackFiles | undefined {
  try {
    return readPack(folder);
  } catch {
    return undefined;
  }
}

/** Loads the promoted pack, otherwise the given one, otherwise the pack of the folder. @throws {PackError} */
export function loadInitialPack(
  settings: Settings,
  loaded: LoadedPack | undefined,
  choice: PackChoice | undefined,
): LoadedPack {
  if (!choice?.isPromoted()) return loaded ?? loadFiles(readPackFiles(settings), settings);
  const chosen = choice.files();
  return loaded?.pack.hash === packHash(chosen, settings) ? loaded : loadFiles(chosen, settings);
}

/** The pack that should serve requests. */
const wantedPack = z.union([
  /** The current pack of `MAPPINGS_DIR`. */
  z.object({ pack: z.literal("active") }),
  /** The pack with this hash, in any of the folders. */
  z.object({ pack: z.literal("candidate"), hash: z.string() }),
]);

/** Creates the access to the choice. If none was made, it is the pack of `MAPPINGS_DIR`. */
const createWantedPack = (store: DocumentStore): SharedDocument<z.infer<typeof wantedPack>> =>
  createSharedDocument(store, { key: "pack:wanted", schema: wantedPack, empty: { pack: "active" } });

/** The services for the choice between the packs: the state store, which is opened only if there is a candidate. */
interface PackChoiceNeeds {
  openStore(): Promise<DocumentStore>;
}

interface CommandNeeds extends PackChoiceNeeds {
  readonly pack: Pack;
  readonly state: KeyValueStore;
}

const START_IT = `start the gateway, or give its ${STATE_SETTINGS.join(" or ")}`;

const PROMOTION_COMMANDS: FeatureCommands<CommandNeeds, object> = {
  settings: ["CANDIDATE_MAPPINGS_DIR", "MAPPINGS_DIR", "WORDS", ...STATE_SETTINGS],
  absence: "there is no candidate",
  all: [
    {
      syntax: "promote",
      withoutStore: START_IT,
      /** Promotes the candidate. @throws {PackError} if a pack is invalid; {StateUnavailableError} */
      async run({ needs: { pack, state }, settings: { CANDIDATE_MAPPINGS_DIR: folder = "", WORDS } }) {
        const candidate = loadPack(folder, WORDS);
        if (candidate.hash === pack.hash)
          throw new CommandError("the candidate is the pack of MAPPINGS_DIR: there is nothing to promote");
        assertReplaceable(candidate, pack);
        await createWantedPack(state).change(() => ({ pack: "candidate", hash: candidate.hash }));
        return {
          blocks: lines(
            `Promoted ${candidate.hash}: running gateways serve it within a few seconds.`,
            `alpha-gateway rollback brings back ${pack.hash}, the pack of MAPPINGS_DIR.`,
          ),
        };
      },
    },
    {
      syntax: "rollback",
      settings: STATE_SETTINGS,
      runsWhileOff: true,
      withoutStore: START_IT,
      /** Withdraws the promotion. @throws {StateUnavailableError} */
      async run({ needs: { state } }) {
        const wanted = createWantedPack(state);
        await wanted.refresh();
        const isPromoted = wanted.current().pack === "candidate";
        if (isPromoted) await wanted.change(() => ({ pack: "active" }));
        return {
          blocks: lines(
            isPromoted
              ? "Rolled back: running gateways serve the pack of MAPPINGS_DIR within a few seconds."
              : "Nothing is promoted: the pack of MAPPINGS_DIR serves.",
          ),
        };
      },
    },
  ],
};

export const PACK_CHOICE: Feature<PackChoiceNeeds, PackChoice | undefined> = {
  name: "promotion",
  setting: "CANDIDATE_MAPPINGS_DIR",
  commands: PROMOTION_COMMANDS,
  async open(settings, { openStore }, host) {
    const { log, metrics, repeat } = host;
    const { CANDIDATE_MAPPINGS_DIR: candidateFolder } = settings;
    if (candidateFolder === undefined) return undefined;
    const { current: wanted, refresh } = createWantedPack(await openStore());
    let isMissing = false;
    let reload: (() => Promise<unknown>) | undefined;
    let readCandidate: Reload | undefined;
    const look = repeat(
      POLL_MS,
      async () => {
        const before = wanted();
        await refresh();
        if (!reload || wanted() === before) return;
        log.info({ wanted: wanted() }, "another pack is wanted");
        await reload();
      },
      {
        code: "AG_PROMOTED_PACK_UNKNOWN",
        begins: "the state store does not say which pack is promoted: the active one stays until it does",
        ends: "the state store says again which pack is promoted",
      },
    );
    await look();
    const isPromoted = (): boolean => wanted().pack === "candidate";
    metrics.addGauge("pack_promoted", "1 while a pack is promoted, otherwise 0.", () => Number(isPromoted()));
    metrics.addGauge("pack_promoted_missing", "1 if no folder contains the promoted pack, otherwise 0.", () =>
      Number(isMissing),
    );

    /** Returns the files with a hash, from any of the folders. */
    const findFiles = (hash: string): PackFiles | undefined =>
      [candidateFolder, packFolder(settings.MAPPINGS_DIR)]
        .map(tryReadPack)
        .find((files) => files && packHash(files, settings) === hash);

    return {
      isPromoted,
      files(active) {
        isMissing = false;
        const choice = wanted();
        if (choice.pack === "active") return readPackFiles(settings);
        const { hash } = choice;
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
      follow({ packs, checkPack, ...gateway }) {
        reload = gateway.reload;
        readCandidate = createCandidateReloader(
          settings,
          { folder: candidateFolder, packs, checkPack },
          host,
        );
        void readCandidate();
      },
      afterPackReload: async () => void (await readCandidate?.()),
    };
  },
};
