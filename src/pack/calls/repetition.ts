/** A call that is repeated until an operation of the upstream has ended. */
import { resolveReference } from "../../base/index.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { GATEWAY_TIMEOUT } from "../errors/statuses.ts";
import type { KeyContext } from "../keys/key-context.ts";
import type { ReceivedResponse, Scope } from "../translation-context.ts";
import type { CallDefinition } from "./call-definition.ts";
import type { CallExpressions } from "./call-expressions.ts";

/** The states of an operation. */
export type OperationState = "done" | "failed" | "in progress";

/** How a call is repeated. */
export interface Repetition {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly stateOf: (response: ReceivedResponse, scope: Scope) => MaybePromise<OperationState>;
  /** Returns the upstream's error for a failed operation. */
  readonly errorOf: (response: ReceivedResponse, scope: Scope) => MaybePromise<unknown>;
  /** The status of that error. */
  readonly errorStatus: number;
}

/** The response while an operation is in progress. */
type Unfinished =
  | { readonly error: { readonly status: number; readonly reason: string } }
  | {
      readonly body: (scope: Scope) => MaybePromise<unknown>;
      /** The status of the response; undefined selects the status of the route. */
      readonly status: number | undefined;
    };

/** Compiles how a call is repeated; undefined if the call is sent once. */
export function compileRepetition(
  { repeat }: CallDefinition,
  expressions: CallExpressions,
): Repetition | undefined {
  if (!repeat) return undefined;
  const { until, failed, interval_ms: intervalMs, timeout_ms: timeoutMs } = repeat;
  const isDone = expressions.ofResponse(until, ["repeat", "until"]);
  const hasFailed = failed && expressions.ofResponse(failed.when, ["repeat", "failed", "when"]);
  const errorOf =
    failed?.error === undefined
      ? ({ json }: ReceivedResponse) => json
      : expressions.ofResponse(failed.error, ["repeat", "failed", "error"]);
  return {
    intervalMs,
    timeoutMs,
    stateOf: (response, scope) =>
      thenMaybe(isDone(response, scope), (done): MaybePromise<OperationState> => {
        if (done) return "done";
        return thenMaybe(hasFailed?.(response, scope), (hasFailedNow) =>
          hasFailedNow ? "failed" : "in progress",
        );
      }),
    errorOf,
    errorStatus: failed?.status ?? 422,
  };
}

/** Compiles the response while the operation is in progress; undefined: the gateway's default. */
export function compileUnfinished(
  { unfinished }: CallDefinition,
  expressions: CallExpressions,
  { dialect, location }: KeyContext,
): Unfinished | undefined {
  if (!unfinished) return undefined;
  const { message, status, body = "" } = unfinished;
  if (message !== undefined) {
    const known = new Map(Object.entries(dialect.messages));
    const reason = resolveReference(location.at("unfinished", "message"), "message", message, known) ?? "";
    return { error: { status: status ?? GATEWAY_TIMEOUT, reason } };
  }
  const { evaluate } = expressions.compile(body, ["unfinished", "body"]);
  return { body: (scope) => evaluate(scope.response?.json, scope), status };
}
