/** The interface between the pipeline and the plan by which the client's API ends. */
import type { ClientIdentity } from "../../audit/index.ts";

/** A stage of the plan that applies to a request. */
interface AppliedStage {
  /** Identifies it in the metrics. */
  readonly name: string;
  /** The text for clients. */
  readonly text: string | undefined;
}

/** Why a request is refused. */
export type Decision =
  | { readonly kind: "freeze" | "end"; readonly stage: AppliedStage }
  | {
      readonly kind: "brown_out";
      readonly stage: AppliedStage & { readonly status: number };
      /** When the window ends, in milliseconds since the epoch. */
      readonly window: { readonly until: number };
    };

/** A field that responses lack during a window. */
interface HiddenField {
  readonly kind: "field";
  /** The name of the stage. */
  readonly name: string;
  readonly object: string;
  readonly field: string;
}

/** The plan's decision about a request. */
export interface PlanVerdict {
  /** Undefined: the request is served. */
  readonly decision: Decision | undefined;
  /** Fields that the response lacks, if there are any. */
  readonly hiddenFields: readonly HiddenField[] | undefined;
}

/** The identity of the sender of a request. */
export interface SenderProof {
  /** Asks whether v4 accepts the token, if a freeze depends on it. */
  readonly isAccepted: () => boolean | Promise<boolean>;
  readonly address: string;
}

/** The part of the plan that the processing of requests uses. */
export interface PlanRules {
  /** Whether there is a plan. */
  readonly isActive: () => boolean;
  /**
   * The plan's decision about a request now. Undefined without one.
   *
   * @param proof Undefined if the sender is unknown, because an application is unproven, or can't be read. Then no
   * freeze applies, and nothing counts as a retry.
   * @throws {AuditUnavailableError} if the past of the client can't be read. Also the errors of `proof.isAccepted`
   */
  judge(
    identity: () => ClientIdentity,
    route: string,
    proof: SenderProof | undefined,
  ): PlanVerdict | undefined | Promise<PlanVerdict | undefined>;
  /** A page for clients about the end. */
  readonly link: () => string | undefined;
  /** `Deprecation`, `Sunset` and `Link`. Undefined without a plan. */
  headersFor(
    identity: () => ClientIdentity,
    route: string | null,
  ): Readonly<Record<string, string>> | undefined;
  /** Counts a request to which a stage applied. */
  count(stage: string, kind: string): void;
}

/** A gateway without a plan. */
export const NO_PLAN: PlanRules = {
  isActive: () => false,
  judge: () => undefined,
  link: () => undefined,
  headersFor: () => undefined,
  count: () => {},
};
