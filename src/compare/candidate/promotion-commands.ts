/** `alpha-gateway promote` and `alpha-gateway rollback`: which pack all gateways of a state store serve. */
import {
  CommandError,
  type FeatureCommands,
  type KeyValueStore,
  lines,
  STATE_SETTINGS,
} from "../../base/index.ts";
import { assertReplaceable, loadPack, type Pack } from "../../pack/index.ts";
import { createWantedPack, type PackChoiceNeeds } from "./wanted-pack.ts";

interface CommandNeeds extends PackChoiceNeeds {
  readonly pack: Pack;
  readonly state: KeyValueStore;
}

const START_IT = "start the gateway, or give its DATA_DIR or REDIS_URL";

export const PROMOTION_COMMANDS: FeatureCommands<CommandNeeds, object> = {
  settings: ["CANDIDATE_MAPPINGS_DIR", "MAPPINGS_DIR", "WORDS", ...STATE_SETTINGS],
  absence: "there is no candidate",
  all: [
    {
      syntax: "promote",
      withoutStore: START_IT,
      /** @throws {PackError} If a pack is invalid. {StateUnavailableError} */
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
      /** @throws {StateUnavailableError} */
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
