/** A call to the upstream in addition to the main call of a route. */
import type { MaybePromise } from "../../jsonata/index.ts";
import type { UpstreamBodyFormat } from "../bodies/body-format.ts";
import type { Failure } from "../errors/http-error.ts";
import type { Checks } from "../expressions/checks.ts";
import type { Endpoint } from "./endpoint.ts";
import type { NamedValues } from "../expressions/conditions.ts";
import type { ReceivedResponse, Scope } from "../translation-context.ts";

/** Texts of an operation. */
export type OperationState = "done" | "failed" | "in progress";

/** How a call is repeated. */
export interface Repetition {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly stateOf: (response: ReceivedResponse, scope: Scope) => MaybePromise<OperationState>;
  /** Returns the upstream's error of an operation that has failed. */
  readonly errorOf: (response: ReceivedResponse, scope: Scope) => MaybePromise<unknown>;
  /** The status of that error. */
  readonly errorStatus: number;
}

/** The response while an operation is in progress. */
export type Unfinished =
  | { readonly error: { readonly status: number; readonly reason: string } }
  | {
      readonly body: (scope: Scope) => MaybePromise<unknown>;
      /** Undefined: that of the route. */
      readonly status: number | undefined;
    };

/** A call of a route, in addition to its main call. */
export interface RouteCall {
  /** The keys that lead to it in its route. */
  readonly at: readonly (string | number)[];
  /** The name that the pack gives it; without one, its operation. */
  readonly name: string;
  readonly endpoint: Endpoint;
  /** When it is sent. `beside`: the main call and this one have parts of the same object. */
  readonly place: "before" | "beside" | "after";
  /** The purpose of its response: the response of the route, its fields, or rules and values of the request. */
  readonly use: "answer" | "fields" | "rules";
  /** Why and when it is sent, for authors. */
  readonly why: string;
  /** The same for programs that call the upstream without the gateway. Undefined if only the gateway needs it. */
  readonly guide: string | undefined;
  /** Set if it is sent again until its response meets a condition. How often does not depend on the pack. */
  readonly repeats: Repetition | undefined;
  /** Whether the request goes on without its response if it fails. */
  readonly isOptional: boolean;
  /** Seconds for which its response is cached; 0: not cached. */
  readonly cacheSeconds: number;
  /** Whether all pages of a list are read. */
  readonly allPages: boolean;
  /** The status of the main call with which it is sent; undefined: any success. */
  readonly status: number | undefined;
  /** Whether its expressions read headers of responses. */
  readonly readsHeaders: boolean;
  /** Its name in `$calls` and in paths; undefined without one. */
  readonly member: string | undefined;
  /** The earlier calls whose values its path has. */
  readonly needs: readonly string[];
  /** Whether it can be sent together with the call before it. */
  readonly isIndependent: boolean;
  readonly isNeeded: (input: unknown, scope: Scope) => MaybePromise<boolean>;
  /** Returns the values for each of which the call is sent. Undefined if it is sent once. */
  readonly eachValue: ((input: unknown, scope: Scope) => MaybePromise<unknown>) | undefined;
  /** Whether these values are known before the main call. */
  readonly knowsEach: boolean;
  /** The member of the upstream's body that has the values; undefined if the expression does not start with one. */
  readonly eachMember: string | undefined;
  /** Returns more values of its path. */
  readonly valuesOf: NamedValues;
  /** Returns its body, and how it is sent; undefined without one. */
  readonly body:
    | {
        readonly of: (input: unknown, scope: Scope) => MaybePromise<unknown>;
        readonly format: UpstreamBodyFormat;
      }
    | undefined;
  /** The member of the upstream's object that it reads or writes, and how it is read; undefined for no part. */
  readonly part: { readonly name: string; readonly read: Endpoint } | undefined;
  /** Returns the response that replaces the main call's. `whole` means the whole response. */
  readonly answerOf:
    | ((response: ReceivedResponse, scope: Scope) => MaybePromise<unknown>)
    | "whole"
    | undefined;
  /** Check its response. `scope` has it. */
  readonly checks: Checks;
  /** The client's field of the error if the upstream does not find the object; undefined: the upstream's error is translated. */
  readonly notFoundField: string | undefined;
  /** Status and code of the client's error if the upstream refuses the call. */
  readonly failure: Failure | undefined;
  /**
   * Returns the client's object if the call fails. It gets the upstream's error, if there is one. Undefined without a
   * fallback.
   */
  readonly fallback:
    | ((scope: Scope, failure: ReceivedResponse | undefined) => MaybePromise<unknown>)
    | undefined;
  /** Undefined: the gateway's own. */
  readonly unfinished: Unfinished | undefined;
}

/** The calls of a route by when they are sent. */
export interface CallOrder {
  /** Sent before the main call, one after the other. */
  readonly before: readonly RouteCall[];
  /** Parts of the object of the main call. */
  readonly parts: readonly RouteCall[];
  /** Sent after the main call, one group after the other. The calls of a group are sent concurrently. */
  readonly after: readonly (readonly RouteCall[])[];
}

/** Groups the calls of a route. */
export function orderCalls(calls: readonly RouteCall[]): CallOrder {
  const at = (place: RouteCall["place"]) => calls.filter((call) => call.place === place);
  const after: RouteCall[][] = [];
  for (const call of at("after")) {
    const group = after.at(-1);
    if (call.isIndependent && group?.[0]?.isIndependent) group.push(call);
    else after.push([call]);
  }
  return { before: at("before"), parts: at("beside"), after };
}
