/** The key `poll` of a route: how the result of a call is polled. */
import { GATEWAY_TIMEOUT } from "../errors/statuses.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import { compileExpressionAt } from "../load/compile-expression.ts";
import type { PollDefinition } from "./poll-definition.ts";
import type { Endpoint } from "./endpoint.ts";
import { joinLines, type ReceivedHeaders } from "../headers/response-headers.ts";

/** What an operation says about itself. */
export type OperationState = "done" | "failed" | "in progress";

/** The parts of an upstream response that expressions read. */
interface ReadResponse {
  readonly status: number;
  readonly headers: ReceivedHeaders;
  readonly json: unknown;
}

/** A call whose result must be polled. */
export interface Poll {
  /** The status of the call that means so. */
  readonly status: number;
  /** The GET that is repeated. */
  readonly endpoint: Endpoint;
  /** Returns the value of `{operation}` in its path. */
  readonly operationOf: (call: ReadResponse) => MaybePromise<unknown>;
  readonly stateOf: (response: ReadResponse) => MaybePromise<OperationState>;
  /** Returns what the call would have responded with; undefined if that is the whole response. */
  readonly resultOf: ((response: ReadResponse) => MaybePromise<unknown>) | undefined;
  /** Returns the upstream's error. */
  readonly errorOf: (response: ReadResponse) => MaybePromise<unknown>;
  /** The status of that error. */
  readonly errorStatus: number;
  /** Whether expressions of it read headers of responses. */
  readonly readsHeaders: boolean;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** The response while the operation is in progress; undefined: the gateway's own. */
  readonly unfinished:
    | { readonly error: { readonly status: number; readonly reason: string } }
    | {
        readonly body: (call: unknown, path: Readonly<Record<string, string>>) => MaybePromise<unknown>;
        /** Undefined: that of the route. */
        readonly status: number | undefined;
      }
    | undefined;
}

/** Requests that one operation is polled with. */
const MOST_POLLS = 100;

/** What the key needs of its route. */
interface PollContext {
  /** Compiles the path of a request after the call. @param more names that it may have, too */
  readonly endpointOf: (text: string, more: readonly string[], location: SourceLocation) => Endpoint;
  readonly messages: Readonly<Record<string, string>>;
}

function reportInvalidPoll(definition: PollDefinition, endpoint: Endpoint, location: SourceLocation): void {
  const { operation, done, failed = [], failure, interval_ms: interval, timeout_ms: timeout } = definition;
  if (endpoint.method !== "GET") location.at("upstream").report("an operation is polled by a GET");
  if (operation !== undefined && !endpoint.names.has("operation"))
    location.at("operation").report({
      message: '"operation" has no effect: the path of "upstream" does not have {operation}',
      hint: `${definition.upstream}/{operation}`,
    });
  if (operation === undefined && endpoint.names.has("operation"))
    location.at("upstream").report({
      message: "nothing says what {operation} is",
      hint: "add operation: JSONata over the response to the call, or use {response.id}",
    });
  failed.forEach((state, index) => {
    if (done.includes(state))
      location.at("failed", index).report(`${JSON.stringify(state)} is in "done" as well`);
  });
  if (failure && failed.length === 0)
    location.at("failure").report('"failure" has no effect: "failed" has no states');
  if (interval > timeout)
    location.at("interval_ms").report("nothing would be polled: interval_ms is longer than timeout_ms");
  if (timeout > MOST_POLLS * interval)
    location
      .at("interval_ms")
      .report(`an operation is polled ${MOST_POLLS} times at most: interval_ms is too short for timeout_ms`);
}

/** Compiles `unfinished`. */
function compileUnfinished(
  definition: PollDefinition["unfinished"],
  messages: PollContext["messages"],
  location: SourceLocation,
): Poll["unfinished"] {
  if (!definition) return undefined;
  const { message, status, body } = definition;
  if (message !== undefined) {
    const known = new Map(Object.entries(messages));
    const reason = resolveReference(location.at("message"), "message", message, known) ?? "";
    return { error: { status: status ?? GATEWAY_TIMEOUT, reason } };
  }
  const expression = compileExpressionAt(location.at("body"), body ?? "", ["path"]);
  return { body: (call, path) => expression.evaluate(call, { path }), status };
}

/** Compiles the key `poll` of a route. */
export function compilePoll(
  definition: PollDefinition | undefined,
  { endpointOf, messages }: PollContext,
  location: SourceLocation,
): Poll | undefined {
  if (!definition) return undefined;
  const { done, failed = [], failure } = definition;
  const endpoint = endpointOf(definition.upstream, ["operation"], location.at("upstream"));
  reportInvalidPoll(definition, endpoint, location);
  let readsHeaders = false;
  const evaluated = (source: string | undefined, ...keys: readonly string[]) => {
    if (source === undefined) return undefined;
    const expression = compileExpressionAt(location.at(...keys), source, ["status", "response_headers"]);
    readsHeaders ||= expression.variables.has("response_headers");
    return ({ status, headers, json }: ReadResponse) =>
      expression.evaluate(json, { status, response_headers: joinLines(headers) });
  };
  const states = new Map<unknown, OperationState>([
    ...failed.map((state) => [state, "failed"] as const),
    ...done.map((state) => [state, "done"] as const),
  ]);
  const read = evaluated(definition.state, "state");
  const operationOf = evaluated(definition.operation, "operation") ?? (() => undefined);
  const resultOf = evaluated(definition.result, "result");
  return {
    status: definition.status,
    endpoint,
    operationOf,
    stateOf: (response) => thenMaybe(read?.(response), (state) => states.get(state) ?? "in progress"),
    resultOf,
    errorOf: evaluated(failure?.error, "failure", "error") ?? (({ json }) => json),
    errorStatus: failure?.status ?? 422,
    readsHeaders,
    intervalMs: definition.interval_ms,
    timeoutMs: definition.timeout_ms,
    unfinished: compileUnfinished(definition.unfinished, messages, location.at("unfinished")),
  };
}
