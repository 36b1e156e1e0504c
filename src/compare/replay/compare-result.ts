/** Compares the outcomes of a request, recorded or under a pack: the route, the calls to v4, the status and the response. */
import type { AuditRecord } from "../../audit/index.ts";
import { isObject, parseJson } from "../../base/index.ts";
import { type CatalogCopy, NO_CATALOGS, type Pack, responseFields, type Route } from "../../pack/index.ts";
import { READ_METHODS } from "../../gateway/index.ts";
import { alignByPlace, type CompareRules, type Part, type PartDifference } from "../answers/compare.ts";
import { type DryRunResponse, isJsonType } from "../dry-run/dry-run.ts";
import { compareBodies, createIdComparison, type ReplayDifference } from "./differences.ts";
import { isCallOf, type RecordedV4, withoutWaiting } from "../dry-run/recorded-v4.ts";

interface ComparedCall {
  readonly method: string;
  readonly path: string;
  readonly filter: string | null;
  readonly body?: unknown;
}

/** The outcome of a request. */
export interface ReplayOutcome {
  readonly route: string | null;
  readonly calls: readonly ComparedCall[];
  readonly status: number;
  readonly response: unknown;
  /** Whether a call got no response, so that the status and the response prove nothing. */
  readonly lacksResponse?: boolean;
  /** The reason why the request failed unexpectedly. */
  readonly error?: string;
}

const NEUTRAL_REASON = "a neutral reason";

/** Removes the request's id from a neutral error. Each run has a new id, and the wording may differ between versions. */
const withoutId = (body: unknown, id: string): unknown =>
  JSON.parse(JSON.stringify(body ?? null), (_name, value: unknown) =>
    typeof value === "string" && id !== "" && value.includes(id) ? NEUTRAL_REASON : value,
  );

/** The recorded outcome. */
export const recordedOutcome = ({ alpha, v4, requestId }: AuditRecord, pack: Pack): ReplayOutcome => ({
  route: alpha.route,
  calls: v4,
  status: alpha.status,
  response: alpha.status === pack.statuses.failed ? withoutId(alpha.response, requestId) : alpha.response,
});

/** Removes values that JSON can't express, such as undefined members. */
const asJson = (value: unknown): unknown =>
  value === undefined ? undefined : parseJson(JSON.stringify(value));

const requestLine = ({ method, path }: Pick<ComparedCall, "method" | "path">): string => `${method} ${path}`;

/** Returns the parsed body of a response, or its text if it is not JSON. */
export const bodyOf = ({ body, headers }: DryRunResponse["response"]): unknown =>
  isJsonType(headers["content-type"]) ? parseJson(body || "null") : body;

/** Returns the outcome under a pack, without calls whose responses were cached during the recording. */
export function runOutcome(
  { response, context }: DryRunResponse,
  pack: Pack,
  { unknown, cached }: RecordedV4,
): ReplayOutcome {
  const cachedLines = new Set(cached.map(requestLine));
  const body = bodyOf(response);
  const id = response.headers["x-request-id"] ?? "";
  return {
    route: context.match?.route.name ?? null,
    calls: (context.upstream?.calls ?? [])
      .filter((call) => !cachedLines.has(requestLine(call)))
      .map((call) => ({ ...call, body: asJson(call.body) })),
    status: response.status,
    response: response.status === pack.statuses.failed ? withoutId(body, id) : body,
    lacksResponse: unknown.length > 0,
  };
}

const comparableFilter = (filter: string | null): unknown => {
  try {
    return filter === null ? null : parseJson(filter);
  } catch {
    return filter;
  }
};

/** Whether a request can have an effect. */
const isWrite = (call: ComparedCall, route: Route | undefined): boolean =>
  !READ_METHODS.has(call.method) &&
  !(route?.mainCallReads && "call" in route.source && isCallOf(route.source.call, call));

/** The calls that correspond to each other. */
type CallPair = readonly [was: ComparedCall, is: ComparedCall];

/**
 * Returns the first write whose order relative to a different request changed. The order of reads has no effect: some
 * are concurrent.
 */
function findMove(
  pairs: readonly CallPair[],
  is: readonly ComparedCall[],
  route: Route | undefined,
): PartDifference[] {
  const found = pairs.map(([call, other]) => ({
    line: requestLine(call),
    place: is.indexOf(other),
    writes: isWrite(call, route),
  }));
  const moves = found.flatMap((first, index) =>
    found
      .slice(index + 1)
      .filter((second) => second.place < first.place && (first.writes || second.writes))
      .map((second): PartDifference => ({
        field: "order of v4 calls",
        kind: "order",
        old: `${first.line}, then ${second.line}`,
        new: `${second.line}, then ${first.line}`,
      })),
  );
  return moves.slice(0, 1);
}

/** Returns the parts of v4 calls, of which those with the same method and path correspond to each other. */
function alignCalls(
  was: readonly ComparedCall[],
  is: readonly ComparedCall[],
  route: Route | undefined,
): (Part | PartDifference)[] {
  const remaining = [...is];
  const pairs: CallPair[] = [];
  const parts = was.flatMap((call): Part[] => {
    const line = requestLine(call);
    const index = remaining.findIndex((candidate) => requestLine(candidate) === line);
    const [other] = index === -1 ? [] : remaining.splice(index, 1);
    if (!other) return [{ field: "v4 call", old: line, new: undefined }];
    pairs.push([call, other]);
    const [filter, otherFilter] = [call, other].map((each) => comparableFilter(each.filter));
    return [
      { field: `filter of ${line}`, old: filter, new: otherFilter },
      { field: `body of ${line}`, old: call.body, new: other.body },
    ];
  });
  const added = remaining.map((call) => ({ field: "v4 call", old: undefined, new: requestLine(call) }));
  return [...parts, ...findMove(pairs, is, route), ...added];
}

/** Returns how two outcomes are compared. @param isEqual accepts values of responses that differ */
function outcomeRules(route: Route | undefined, isEqual: CompareRules["isAccepted"]): CompareRules {
  const isSameId = route && createIdComparison(route);
  return {
    align: (field, was, is) =>
      field === "calls"
        ? alignCalls(was as readonly ComparedCall[], is as readonly ComparedCall[], route)
        : alignByPlace(field, was, is),
    isAccepted: (field, was, is) =>
      (field.startsWith("response") ? isEqual : isSameId)?.(field, was, is) === true,
  };
}

/** Returns all differences between two outcomes of a request. @param isEqual accepts values of responses that differ */
export function compareOutcomes(
  was: ReplayOutcome,
  is: ReplayOutcome,
  route: Route | undefined,
  isEqual?: CompareRules["isAccepted"],
): ReplayDifference[] {
  if ((was.error ?? is.error) !== undefined) {
    const [old, other] = [was, is].map(({ status, error }) => ({ status, error }));
    return was.status === is.status ? [] : compareBodies("", old, other);
  }
  const lacksResponse = was.lacksResponse === true || is.lacksResponse === true;
  const [old, other] = [was, is].map(({ calls, status, response, ...outcome }) => ({
    route: outcome.route,
    calls: withoutWaiting(calls, route),
    ...(!lacksResponse && { status, response }),
  }));
  return compareBodies("", old, other, outcomeRules(route, isEqual));
}

/** Returns all values of a body at some paths without indexes. */
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

/** Compares the entries of catalogs in the responses of one route. */
export type EntryComparison = ReturnType<typeof createEntryComparison>;

/** Creates the comparison for a route of a pack. */
export function createEntryComparison(route: Route, pack: Pack) {
  const { id: reference } = pack.dialect.client;
  const catalogs = new Map<string, string>();
  for (const [path, { rule }] of responseFields(route, pack))
    if (rule.catalog !== undefined) catalogs.set(`response.${path}`, rule.catalog);

  const hasSameId = (was: unknown, is: unknown): boolean =>
    isObject(was) && isObject(is) && was[reference] === is[reference];

  function isKnown(catalog: string, entry: unknown, copy: Pick<CatalogCopy, "find">): boolean {
    const id = isObject(entry) ? entry[reference] : undefined;
    if (typeof id !== "string") return true;
    const v4Ids = pack.resources.get(catalog)?.catalog?.filterIds(id, { ...NO_CATALOGS, ...copy });
    return v4Ids?.some((v4Id) => copy.find(catalog, v4Id) !== undefined) ?? false;
  }

  return {
    /** Accepts an entry with the same id, and all lists of entries. */
    isEqual(at: string, was: unknown, is: unknown): boolean {
      if (!catalogs.has(at.replaceAll(/\[\d+\]/g, ""))) return false;
      if (!Array.isArray(was) || !Array.isArray(is)) return hasSameId(was, is);
      return was.length !== 1 || is.length !== 1 || hasSameId(was[0], is[0]);
    },
    /**
     * Returns the catalogs whose entries in a response have no v4 object.
     *
     * @param copy the entries from v4's objects
     */
    findUnknown: (response: unknown, copy: Pick<CatalogCopy, "find">): readonly string[] => {
      const entries = [...valuesAt(catalogs, "response", response)];
      return [...new Set(entries.flatMap(([name, entry]) => (isKnown(name, entry, copy) ? [] : [name])))];
    },
  };
}
