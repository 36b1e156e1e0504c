/** The interface between the plan and other features. */
import type {
  AuditStore,
  ClientDirectory,
  ClientIdentity,
  ClientsParts,
  DecisionReader,
} from "../../audit/index.ts";
import type { Block, FeatureParts, KeyValueStore, Log, Metrics } from "../../base/index.ts";
import type { PlanRules } from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Action, PlanControl } from "./control.ts";
import type { PlanStatus } from "./describe-plan.ts";
import type { KnownClients } from "./known-clients.ts";
import type { Plan, StageWindow } from "./plan.ts";

/** The rules of a plan, and the data for the page of a client. */
export interface PlanInForce extends PlanRules {
  /** When a route ends for a client, in milliseconds since the epoch; undefined: no date is known. */
  endOf(identity: ClientIdentity, route: string | null): number | undefined;
  /** The open window, or else the next one, of each stage that a client is in and that is not paused. */
  windowsFor(identity: ClientIdentity): readonly StageWindow[];
}

/** What decides by a plan. */
export interface PlanOptions {
  /** The plan of the file. */
  readonly plan: () => Plan;
  readonly directory: () => ClientDirectory;
  readonly control: PlanControl;
  /** Whether the dates of the plan were compared with those that were published. */
  readonly isConfirmed: () => boolean;
  readonly known: KnownClients | undefined;
  /** Undefined without an audit store, as `known`: a plan with a freeze or with `wait_for` needs it. */
  readonly decisions: DecisionReader | undefined;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "countStage">;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** The plan, open. */
export interface PlanParts extends FeatureParts<Pack> {
  readonly rules: PlanInForce;
  plan(): Plan;
  /** The plan with its stages. */
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
  /** Accept dates that are earlier than those that were published. */
  readonly isAnnounced: boolean;
}
