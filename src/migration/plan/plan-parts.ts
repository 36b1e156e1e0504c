/** The interface between the plan and other features. */
import type { AuditStore, ClientsParts } from "../../audit/index.ts";
import type { Block, FeatureParts, KeyValueStore } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Action } from "./control.ts";
import type { PlanStatus } from "./plan-status.ts";
import type { Plan } from "./plan.ts";
import type { PlanInForce } from "./rules.ts";

/** The plan, after it was opened. */
export interface PlanParts extends FeatureParts<Pack> {
  readonly rules: PlanInForce;
  plan(): Plan;
  /** Returns the plan with its stages. */
  status(): PlanStatus;
  describe(): readonly Block[];
  /** Accepts the dates of the plan as published. @throws {StateUnavailableError} */
  announce(): Promise<void>;
  /** Stops all stages or one, or lets them continue. @throws {RefusedError} {StateUnavailableError} */
  change(what: "pause" | "resume", action: Action): Promise<void>;
}

export interface PlanNeeds {
  readonly pack: Pack;
  readonly clients: Pick<ClientsParts, "current" | "candidate" | "join">;
  readonly state: Pick<KeyValueStore, "get" | "setIfAbsent" | "replace">;
  readonly audit: Pick<AuditStore, "decisions"> | undefined;
  /** Accept dates that are earlier than the published dates. */
  readonly isAnnounced: boolean;
}
