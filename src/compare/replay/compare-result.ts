/** Compares a replay with its record: the route, the calls to v4, the status and the response. */
import type { AuditRecord } from "../../audit/index.ts";
import { isObject, parseJson } from "../../base/index.ts";
import { type CatalogCopy, NO_CATALOGS, type Pack, responseFields, type Route } from "../../pack/index.ts";
import { type DryRunResponse, isJsonType } from "../dry-run/dry-run.ts";
import { compareBodies, createDifference, createIdComparison, type ReplayDifference } from "./differences.ts";
import { isCallOf, type RecordedV4, withoutWaiting } from "../dry-run/recorded-v4.ts";

interface ComparedCall {
  readonly method: string;
  readonly path: string;
  readonly filter: string | null;
  readonly body?: unknown;
}

const comparableFilter = (filter: string | null): unknown => {
  try {
    return filter === null ? null : parseJson(filter);
  } catch {
    return filter;
  }
};

const requestLine = ({ method, path }: Pick<ComparedCall, "method" | "path">): string => `${method} ${path}`;

const READS = new Set(["GET", "HEAD"]);

/** Whether a request can have an effect. Some upstreams read lists by a POST. */
const isWrite = (call: ComparedCall, route: Route | undefined): boolean =>
  !READS.has(call.method) && !(route?.search && "call" in route.source && isCallOf(route.source.call, call));

/** The first write that changed places with another request. The order of reads has no effect: some are concurrent. */
function compareOrder(
  pairs: readonly (readonly [was: ComparedCall, is: ComparedCall])[],
  is: readonly ComparedCall[],
  route: Route | undefined,
): ReplayDifference[] {
  const places = new Map(is.map((call, index) => [call, index]));
  const found = pairs.map(([call, other]) => ({
    line: requestLine(call),
    place: places.get(other) ?? 0,
    writes: isWrite(call, route),
  }));
  for (const [index, first] of found.entries()) {
    const moved = found
      .slice(index + 1)
      .find((second) => second.place < first.place && (first.writes || second.writes));
    if (moved)
      return [
        createDifference(
          "order of v4 calls",
          `${first.line}, then ${moved.line}`,
          `${moved.line}, then ${first.line}`,
        ),
      ];
  }
  return [];
}

/** The differences of the v4 requests. */
function compareCalls(
  was: readonly ComparedCall[],
  is: readonly ComparedCall[],
  route: Route | undefined,
): ReplayDifference[] {
  const remaining = [...is];
  const pairs: [ComparedCall, ComparedCall][] = [];
  const differences = was.flatMap((call): ReplayDifference[] => {
    const index = remaining.findIndex((candidate) => requestLine(candidate) === requestLine(call));
    const [other] = index === -1 ? [] : remaining.splice(index, 1);
    if (!other) return [createDifference("v4 call", requestLine(call), undefined)];
    pairs.push([call, other]);
    const isEqual = route && createIdComparison(route);
    return [
      ...compareBodies(
        `filter of ${requestLine(call)}`,
        comparableFilter(call.filter),
        comparableFilter(other.filter),
        isEqual,
      ),
      ...compareBodies(`body of ${requestLine(call)}`, call.body, other.body, isEqual),
    ];
  });
  return [
    ...differences,
    ...compareOrder(pairs, is, route),
    ...remaining.map((call) => createDifference("v4 call", undefined, requestLine(call))),
  ];
}

const NEUTRAL_REASON = "a neutral reason";

/** A neutral error names the id of its request. A replay has another id, and another version may word it otherwise. */
const withoutId = (text: string, id: string): unknown =>
  JSON.parse(text, (_name, value: unknown) =>
    typeof value === "string" && id !== "" && value.includes(id) ? NEUTRAL_REASON : value,
  );

/** Removes values that JSON can't express, such as undefined members. */
const asJson = (value: unknown): unknown =>
  value === undefined ? undefined : parseJson(JSON.stringify(value));

/** All differences between a record and its replay. */
export function compareResult(
  record: AuditRecord,
  { response, context }: DryRunResponse,
  pack: Pack,
  { unknown, cached }: RecordedV4,
  entries: EntryComparison | undefined,
): ReplayDifference[] {
  const { alpha, v4 } = record;
  const route = context.match?.route;
  const uncached = (context.upstream?.calls ?? []).filter(
    (call) => !cached.some((request) => requestLine(request) === requestLine(call)),
  );
  const sent = uncached.map(({ method, path, filter, body }) => ({
    method,
    path,
    filter,
    ...(body !== undefined && { body: asJson(body) }),
  }));
  const calls = compareCalls(withoutWaiting(v4, route), withoutWaiting(sent, route), route);
  const routeChange =
    (route?.name ?? null) === alpha.route
      ? []
      : [createDifference("route", alpha.route, route?.name ?? null)];
  // Without the response of v4 to a new request, the response of the gateway is unknown.
  if (unknown.length > 0) return [...routeChange, ...calls];
  const status =
    response.status === alpha.status ? [] : [createDifference("status", alpha.status, response.status)];
  return [
    ...routeChange,
    ...calls,
    ...status,
    ...(response.status === pack.statuses.failed
      ? compareBodies(
          "response",
          withoutId(JSON.stringify(alpha.response ?? null), record.requestId),
          withoutId(response.body, response.headers["x-request-id"] ?? ""),
        )
      : compareBodies("response", alpha.response, bodyOf(response), entries?.isEqual)),
  ];
}

/** The parsed body of a response; its text if it is no JSON. */
export const bodyOf = ({ body, headers }: DryRunResponse["response"]): unknown =>
  isJsonType(headers["content-type"]) ? parseJson(body || "null") : body;

/** All values of a body at some paths, without indexes. */
function* valuesAt(
  paths: ReadonlyMap<string, string>,
  at: string,
  value: unknown,
): Generator<[string, unknown]> {
  const catalog = paths.get(at);
  if (Array.isArray(value)) for (const item of value) yield* valuesAt(paths, at, item);
  else if (catalog !== undefined) yield [catalog, value];
  else if (isObject(value))
    for (const [name, member] of Object.entries(value)) yield* valuesAt(paths, `${at}.${name}`, member);
}

/** The entries in the responses of one route. */
export type EntryComparison = ReturnType<typeof createEntryComparison>;

/** Creates the comparison for a route of a pack. */
export function createEntryComparison(route: Route, pack: Pack) {
  const { id: reference } = pack.dialect.client;
  const catalogs = new Map<string, string>();
  for (const [path, { rule }] of responseFields(route, pack))
    if (rule.catalog !== undefined) catalogs.set(`response.${path}`, rule.catalog);
  const pathOf = (at: string): string => at.replaceAll(/\[\d+\]/g, "");

  function isKnown(catalog: string, entry: unknown, copy: Pick<CatalogCopy, "find">): boolean {
    const id = isObject(entry) ? entry[reference] : undefined;
    if (typeof id !== "string") return true;
    const v4Ids = pack.resources.get(catalog)?.catalog?.filterIds(id, { ...NO_CATALOGS, ...copy });
    return v4Ids?.some((v4Id) => copy.find(catalog, v4Id) !== undefined) ?? false;
  }

  return {
    /** Accepts an entry with the same id, and all lists of entries. */
    isEqual(at: string, was: unknown, is: unknown): boolean {
      if (!catalogs.has(pathOf(at))) return false;
      if (Array.isArray(was) && Array.isArray(is))
        return was.length !== 1 || is.length !== 1 || idsEqual(was[0], is[0], reference);
      return idsEqual(was, is, reference);
    },
    /** The differences of entries, from the response under the control. */
    compareWithControl: (control: unknown, is: unknown): ReplayDifference[] =>
      compareBodies("response", control, is).filter(({ what }) => {
        const path = pathOf(what);
        return [...catalogs.keys()].some((entry) => path === entry || path.startsWith(`${entry}.`));
      }),
    /**
     * The catalogs of entries in a response that v4's objects are missing for.
     *
     * @param copy the entries that are made of v4's objects
     */
    findUnknown: (is: unknown, copy: Pick<CatalogCopy, "find">): readonly string[] => {
      const entries = [...valuesAt(catalogs, "response", is)];
      return [...new Set(entries.flatMap(([name, entry]) => (isKnown(name, entry, copy) ? [] : [name])))];
    },
  };
}

const idsEqual = (was: unknown, is: unknown, reference: string): boolean =>
  isObject(was) && isObject(is) && was[reference] === is[reference];
