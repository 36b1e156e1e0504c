/** The interface between the pipeline and the plan by which the client's API ends. Who plans, and how, is not its business. */
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

/** A field that responses lack for a while. */
export interface HiddenField {
  readonly kind: "field";
  /** Of the stage. */
  readonly name: string;
  readonly object: string;
  readonly field: string;
}

/** The plan's decision about a request. */
export interface PlanVerdict {
  /** Undefined: the request is served. */
  readonly decision: Decision | undefined;
  /** Fields that its response lacks, if it lacks some. */
  readonly hiddenFields: readonly HiddenField[] | undefined;
}

/** The sender of a request that says who it is. */
export interface SenderProof {
  /** Asks whether v4 accepts the token, where a freeze depends on it. */
  readonly isAccepted: () => boolean | Promise<boolean>;
  readonly address: string;
}

/** The part of the plan that the processing of requests uses. */
export interface PlanRules {
  /** Whether there is a plan. */
  readonly isActive: () => boolean;
  /**
   * The plan's decision about a request now; undefined: none.
   *
   * @param proof Undefined: it is not known who sends the request, since an application may be only named, or can't be read. Then no
   *   freeze applies, and nothing counts as a retry.
   * @throws {AuditUnavailableError} if it can't be read whether the client is new, and what `proof.isAccepted` throws
   */
  judge(
    identity: () => ClientIdentity,
    route: string,
    proof: SenderProof | undefined,
  ): PlanVerdict | undefined | Promise<PlanVerdict | undefined>;
  /** Where clients read about the end. */
  readonly link: () => string | undefined;
  /** `Deprecation`, `Sunset` and `Link`; undefined without a plan. */
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
