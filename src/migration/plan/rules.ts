/** Decides about requests by a plan, with the services that it needs. */
import type { ClientDirectory, ClientIdentity, DecisionReader } from "../../audit/index.ts";
import type { Log, Metrics } from "../../base/index.ts";
import type { PlanRules } from "../../gateway/index.ts";
import type { PlanControl } from "./control.ts";
import type { KnownClients } from "./known-clients.ts";
import type { Plan, StageWindow } from "./plan.ts";

/** The rules of a plan, and the data for the page of a client. */
export interface PlanInForce extends PlanRules {
  /** Returns when a route ends for a client, in milliseconds since the epoch; undefined: no date is known. */
  endOf(identity: ClientIdentity, route: string | null): number | undefined;
  /** Returns the open brown-out, otherwise the next one, of each stage that applies to a client and is not paused. */
  windowsFor(identity: ClientIdentity): readonly StageWindow[];
}

/** The inputs of a plan's rules. */
export interface PlanOptions {
  /** Returns the plan of the file. */
  readonly plan: () => Plan;
  readonly directory: () => ClientDirectory;
  readonly control: PlanControl;
  /** Returns whether the dates of the plan were compared with the published ones. */
  readonly isConfirmed: () => boolean;
  readonly known: KnownClients | undefined;
  /** Reads decisions. Undefined if there is no audit store, like `known`. A plan with a freeze or with `wait_for` requires it. */
  readonly decisions: DecisionReader | undefined;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "countStage">;
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}
