import type { AuditRecord, RecordedCall } from "../../audit/index.ts";
import { printJson } from "../../base/index.ts";
import { type Endpoint, isSuccess, type Pack, type Route, type RouteCall } from "../../pack/index.ts";
import {
  type HttpRequest,
  type HttpResponse,
  type Upstream,
  type UpstreamCallRecord,
  UpstreamError,
} from "../../gateway/index.ts";

type CallName = Pick<RecordedCall, "method" | "path">;

/** Returns the repeated call of a route that a request belongs to. Undefined if not found. */
const repeatedCall = (
  call: CallName,
  place: RouteCall["place"],
  route: Route | undefined,
): RouteCall | undefined =>
  route?.calls.find((each) => each.repeats && each.place === place && isCallOf(each.endpoint, call));

/**
 * Removes the requests that wait until the main call is possible, or for its result, because their number does not
 * depend on the pack.
 */
export function withoutWaiting<Call extends CallName>(
  calls: readonly Call[],
  route: Route | undefined,
): Call[] {
  const { source } = route ?? {};
  if (!source || !("call" in source)) return [...calls];
  const main = calls.findIndex((call) => isCallOf(source.call, call));
  const mainIndex = main === -1 ? calls.length : main;
  return calls.filter(
    (call, index) =>
      index === mainIndex || !repeatedCall(call, index < mainIndex ? "before" : "after", route),
  );
}

/** Whether the main call is sent even if v4 denies an earlier call. */
const isSkipped = (call: CallName, route: Route | undefined): boolean =>
  repeatedCall(call, "before", route)?.isOptional === true;

/** Returns the last request for each operation, because the responses of a replay are immediate. */
function lastOfRepeated<Call extends CallName>(calls: readonly Call[], route: Route | undefined): Call[] {
  const repeated = calls.filter(
    (call) =>
      repeatedCall(call, "after", route) || (repeatedCall(call, "before", route) && !isSkipped(call, route)),
  );
  return [...new Map(repeated.map((call) => [call.path, call])).values()];
}

/** A call in the form that v4 received. */
type MadeCall = Pick<RecordedCall, "method" | "path" | "filter" | "body">;

/** The calls of a route. */
interface RouteCalls {
  readonly route: Route | undefined;
  readonly calls: readonly MadeCall[];
}

const callTexts = ({ route, calls }: RouteCalls): string[] =>
  withoutWaiting(calls, route).map(({ method, path, filter, body }) =>
    JSON.stringify([method, path, filter, body === undefined ? null : printJson(body)]),
  );

/** Whether all calls under a different pack were recorded. It may make fewer calls: its response is then known as well. */
export function areMade(made: RouteCalls, other: RouteCalls): boolean {
  const left = callTexts(made);
  return callTexts(other).every((words) => {
    const index = left.indexOf(words);
    if (index !== -1) left.splice(index, 1);
    return index !== -1;
  });
}

const toText = (response: unknown): string =>
  typeof response === "string" || response === undefined ? (response ?? "") : printJson(response);

/** A past call with its response. */
type PlayedCall = Pick<UpstreamCallRecord, "method" | "path" | "status" | "response">;

/** Returns the calls of a record. Headers are not recorded, so a call may require any version. */
export const recordedCalls = ({ v4 }: Pick<AuditRecord, "v4">): readonly PlayedCall[] =>
  v4.map(({ method, path, status, response }) => ({
    method,
    path,
    status,
    response: { headers: { etag: '"recorded"' }, bytes: Buffer.from(toText(response)) },
  }));

/** An upstream that returns the recorded responses of past calls. */
export interface RecordedV4 extends Upstream {
  /** Sets the next calls whose responses are returned, and the route that made them. */
  play(route: string | null, calls: readonly PlayedCall[]): void;
  /** Requests without a recorded response. */
  readonly unknown: readonly HttpRequest[];
  /** Requests without a recorded response, because the response was cached (`keep` in the pack). */
  readonly cached: readonly HttpRequest[];
}

/** Creates the upstream. Catalogs are not recorded, so it contains none. */
export function createRecordedV4(pack: Pack): RecordedV4 {
  let remaining: PlayedCall[] = [];
  let unknown: HttpRequest[] = [];
  let cached: HttpRequest[] = [];
  let route: Route | undefined;
  let isMainCallSent = false;

  const isCached = (call: HttpRequest): boolean =>
    (route?.calls ?? []).some(({ cacheSeconds, endpoint }) => cacheSeconds > 0 && isCallOf(endpoint, call));

  function respond(call: HttpRequest): HttpResponse {
    const { source } = route ?? {};
    isMainCallSent ||= source !== undefined && "call" in source && isCallOf(source.call, call);
    if (!isMainCallSent && isSkipped(call, route))
      return { status: 403, headers: {}, bytes: Buffer.alloc(0), ms: 0 };
    const index = remaining.findIndex(({ method, path }) => method === call.method && path === call.path);
    const [recorded] = index === -1 ? [] : remaining.splice(index, 1);
    // The operation was still in progress when its result was last requested.
    if (!recorded && repeatedCall(call, "after", route))
      return { status: 404, headers: {}, bytes: Buffer.alloc(0), ms: 0 };
    if (!recorded) (isCached(call) ? cached : unknown).push(call);
    if (!recorded || recorded.status === null)
      throw new UpstreamError("unreachable", "no response is recorded");
    const { headers = {}, bytes = Buffer.alloc(0) } = recorded.response ?? {};
    return { status: recorded.status, headers, bytes, ms: 0 };
  }

  return {
    play(name, calls) {
      route = name === null ? undefined : pack.route(name);
      remaining = [...withoutWaiting(calls, route), ...lastOfRepeated(calls, route)];
      unknown = [];
      cached = [];
      isMainCallSent = false;
    },
    get unknown() {
      return unknown;
    },
    get cached() {
      return cached;
    },
    call: async (call) => respond(call),
    close: () => Promise.resolve(),
  };
}

/** Returns `GET /path` for a request, without its query. */
export const callName = ({ method, path }: RecordedCall): string => `${method} ${path.split("?", 1)[0]}`;

/** Whether a recorded request belongs to an endpoint. */
export const isCallOf = (
  endpoint: Endpoint,
  { method, path }: Pick<RecordedCall, "method" | "path">,
): boolean => endpoint.method === method && endpoint.matches(path.split("?", 1)[0] ?? "");

/** Finds the last successful v4 request to an endpoint. */
export function findRecordedCall(record: AuditRecord, endpoint: Endpoint): RecordedCall | undefined {
  return record.v4.findLast(
    (call) => call.status !== null && isSuccess(call.status) && isCallOf(endpoint, call),
  );
}
