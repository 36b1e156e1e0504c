/** The roll-out for other features and for people: its parts, its commands, and the actions `turn-back` and `resume`. */
import { z } from "zod";
import type { ClientsParts } from "../../audit/index.ts";
import {
  type Block,
  createAction,
  type DocumentStore,
  type FeatureAction,
  type FeatureCommands,
  type FeatureParts,
  lines,
  STATE_SETTINGS,
} from "../../base/index.ts";
import type { LegacyService } from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Rollout } from "./sides.ts";
import { nameForPeople, type RolloutStatus } from "./status.ts";

/** One line without control characters, because it is displayed and logged. */
const line = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}]{1,200}$/u);

/** The input of an action. Its target is a route of the pack, a client, or `all`. */
const ORDER = z.strictObject({ by: line, target: line, reason: line.nullable().default(null) });
type TurnBackOrder = z.output<typeof ORDER>;

/** The roll-out, after it was opened. */
export interface RolloutParts extends FeatureParts<Pack> {
  readonly rollout: Rollout;
  status(): RolloutStatus;
  describe(): readonly Block[];
  /** @returns clients whose requests with tokens of the gateway don't return. @throws {RefusedError} {StateUnavailableError} */
  turnBack(order: TurnBackOrder): Promise<{ readonly withTokens: readonly string[] }>;
  /**
   * Ends all returns with a name, so that the file decides again.
   *
   * @returns whether there are any
   * @throws {RefusedError} if the name is unknown; {StateUnavailableError}
   */
  resume(order: TurnBackOrder): Promise<boolean>;
}

export interface RolloutNeeds {
  readonly pack: Pack;
  readonly clients: Pick<ClientsParts, "current" | "candidate" | "join" | "addCheck">;
  readonly state: DocumentStore;
  readonly legacy: LegacyService | undefined;
}

export const ROLLOUT_COMMANDS: FeatureCommands<RolloutNeeds, RolloutParts> = {
  settings: ["ROLLOUT_FILE", "CLIENTS_FILE", "MAPPINGS_DIR", "WORDS", ...STATE_SETTINGS],
  absence: "there is no rollout",
  all: [
    {
      syntax: "",
      note: "Exits with 0, or with 1 if something has returned.",
      format: "json",
      run({ parts }) {
        const data = parts.status();
        return { blocks: parts.describe(), data, exitCode: data.trips.length === 0 ? 0 : 1 };
      },
    },
  ],
};

const TURN_BACK = createAction({
  name: "turn-back",
  form: ORDER,
  usage:
    'Send {"by": "your name", "target": "all"}: a route, a client or all, with "reason" if you like. Texts have at most 200 characters.',
  command: {
    syntax: "turn-back <target>",
    description: "Return a route, a client or all clients to the old service, on all replicas.",
    argument: "a route of the pack, a client of CLIENTS_FILE, or all",
    flags: [{ syntax: "--reason <text>", description: "the reason, shown with the return" }],
    withoutStore: "no gateway has started with this rollout",
  },
  async run(parts: RolloutParts, order) {
    const { withTokens } = await parts.turnBack(order);
    const what = order.target === "all" ? "Everything" : `"${order.target}"`;
    return {
      data: { withTokens },
      blocks: lines(
        `${what} returns to the old service within a second, until it is resumed.`,
        ...withTokens.map((client) => `${nameForPeople(client)}: requests with tokens of the gateway stay.`),
      ),
    };
  },
});

const RESUME = createAction({
  name: "resume",
  form: ORDER,
  command: {
    syntax: "resume <target>",
    description: "End a return, so that the rollout file applies again.",
    argument: "a route, a client, or all",
  },
  async run(parts: RolloutParts, order) {
    const { target } = order;
    const others = parts.status().trips.map((trip) => trip.name);
    if (await parts.resume(order))
      return { blocks: lines(`Within a second, "${target}" gets what the rollout file says.`) };
    const which = others.length === 0 ? "Nothing has." : `These have: ${others.toSorted().join(", ")}.`;
    return { blocks: lines(`${target} has not returned. ${which}`), exitCode: 1 };
  },
});

export const ROLLOUT_ACTIONS: readonly FeatureAction<RolloutParts>[] = [TURN_BACK, RESUME];
