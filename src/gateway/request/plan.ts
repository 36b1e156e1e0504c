/** The interface between the pipeline and the plan for the end of the client's API. */
import type { ClientIdentity } from "../../audit/index.ts";

/** A stage of the plan that applies to a request. */
interface AppliedStage {
  /** The name of the stage in the metrics. */
  readonly name: string;
  /** The text for clients. */
  readonly text: string | undefined;
}

/** The reason why a request is refused. */
export type Decision =
  | { readonly kind: "freeze" | "end"; readonly stage: AppliedStage }
  | {
      readonly kind: "brown_out";
      readonly stage: AppliedStage & { readonly status: number };
      /** The end of the brown-out, in milliseconds since the epoch. */
      readonly window: { readonly until: number };
    };

/** A field that responses lack during a brown-out. */
interface HiddenField {
  readonly kind: "field";
  /** The name of the stage. */
  readonly name: string;
  readonly object: string;
  readonly field: string;
}

/** The plan's decision about a request. */
export interface PlanVerdict {
  /** The reason for refusing the request; undefined if the request is served. */
  readonly decision: Decision | undefined;
  /** Fields that the response lacks, if there are any. */
  readonly hiddenFields: readonly HiddenField[] | undefined;
}

/** Proof of the identity of a request's sender. */
export interface SenderProof {
  /** Returns whether v4 accepts the token. Called if a freeze depends on it. */
  readonly isAccepted: () => boolean | Promise<boolean>;
  readonly address: string;
}

/** The part of the plan that is used to process requests. */
export interface PlanRules {
  /** Whether there is a plan. */
  readonly isActive: () => boolean;
  /**
   * Returns the plan's current decision about a request. Undefined if not found.
   *
   * @param proof Undefined if the sender is unknown, because an application is unproven, or can't be read. No freeze
   *   applies then, and the request is not counted as a retry.
   * @throws {AuditUnavailableError} if the client's history can't be read; the errors of `proof.isAccepted`
   */
  judge(
    identity: () => ClientIdentity,
    route: string,
    proof: SenderProof | undefined,
  ): PlanVerdict | undefined | Promise<PlanVerdict | undefined>;
  /** The address of a page for clients about the end of the API. */
  readonly link: () => string | undefined;
  /** Returns `Deprecation`, `Sunset` and `Link`. Undefined if there is no plan. */
  headersFor(
    identity: () => ClientIdentity,
    route: string | null,
  ): Readonly<Record<string, string>> | undefined;
  /** Counts a request to which a stage applied. */
  count(stage: string, kind: string): void;
}

/** The plan of a gateway without a plan. */
export const NO_PLAN: PlanRules = {
  isActive: () => false,
  judge: () => undefined,
  link: () => undefined,
  headersFor: () => undefined,
  count: () => {},
};
