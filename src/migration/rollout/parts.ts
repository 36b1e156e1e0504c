/** The interface between the choice of sides and other features. */
import { z } from "zod";
import type { ClientsParts } from "../../audit/index.ts";
import type { Block, DocumentStore, FeatureParts } from "../../base/index.ts";
import type { LegacyService } from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Rollout } from "./sides.ts";
import type { RolloutStatus } from "./status.ts";

/** One line without control characters, because it is displayed and logged. */
const line = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}]{1,200}$/u);

/** The input of an action. Its target is a route of the pack, a client, or `all`. */
export const ORDER = z.strictObject({ by: line, target: line, reason: line.nullable().default(null) });
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
