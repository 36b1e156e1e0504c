/** What becomes of a call in addition to the main call. */
import type { PreparedRequest } from "../calls/prepared-request.ts";
import type { UpstreamResponse } from "../calls/upstream-response.ts";

/** v4's response; of one that was cached, only its JSON. */
export type CallResponse = Pick<UpstreamResponse, "success" | "json"> & Partial<UpstreamResponse>;

/** Why a call has no value: v4's error, or that of the call itself. */
export interface FailedCall {
  readonly response?: UpstreamResponse;
  readonly prepared?: PreparedRequest;
  readonly error?: unknown;
}

/** What became of a call. */
export type CallOutcome =
  | { readonly value: unknown; readonly response?: CallResponse }
  | { readonly failure: FailedCall }
  /** Its response did not meet the condition in time. */
  | { readonly isUnfinished: true };
