import {
  type Access,
  compileGetter,
  type DialectDefinition,
  type Endpoint,
  isFilterable,
  type Pack,
  type Route,
} from "../../pack/index.ts";
import { type AuditRecord, isTruncated } from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";
import { explainBody, isCallOf } from "../../compare/index.ts";
import { createAlphaCommand, createV4Commands, listV4Calls } from "./commands.ts";
import type { CallSummary } from "./evidence.ts";
import type { Counterpart, FieldChange } from "./model.ts";
import { describeField } from "./changes.ts";

type Level = Exclude<Access, string>;

/** Creates a pair of an alpha scope, and the v4 scope that grants the same. */
function createScopePair(
  { resource, level }: Level,
  { scopes }: DialectDefinition,
): { alpha: string; v4: string } {
  const word = scopes?.levels[level] ?? "";
  return {
    alpha: `${resource}:${word}`,
    v4: `${scopes?.resources[resource] ?? resource}:${scopes?.upstream_levels[word] ?? word}`,
  };
}

/** Returns the highest level of each resource or area. */
function findHighestLevels(levels: readonly Level[], nameOf: (level: Level) => string): Level[] {
  return [...Map.groupBy(levels, nameOf).values()].flatMap((group) => {
    const [top] = group.toSorted((one, other) => other.level - one.level);
    return top ? [top] : [];
  });
}

/** Returns the smallest scopes that permit all accesses, in alpha and in v4, in alphabetical order. */
export function findSmallestScopes(
  accesses: readonly Access[],
  dialect: DialectDefinition,
): { alpha: string[]; v4: string[] } {
  const levels = accesses.filter((access) => typeof access !== "string");
  const areaOf = ({ resource }: Level): string => dialect.scopes?.resources[resource] ?? resource;
  return {
    alpha: findHighestLevels(levels, ({ resource }) => resource)
      .map((level) => createScopePair(level, dialect).alpha)
      .sort(),
    v4: findHighestLevels(levels, areaOf)
      .map((level) => createScopePair(level, dialect).v4)
      .sort(),
  };
}

const NO_CALLS: ReadonlyMap<string, string> = new Map();

/** Returns the most suitable record of a call: one with status 200 if there is one, and with the longest request. */
function findBestRecord(records: readonly AuditRecord[]): AuditRecord | undefined {
  const weight = ({ alpha }: AuditRecord): number =>
    (alpha.status === 200 ? 1e9 : 0) +
    (alpha.filter ?? "").length +
    alpha.query.length +
    (isObject(alpha.body) && !isTruncated(alpha.body) ? JSON.stringify(alpha.body).length : 0);
  return records.reduce<AuditRecord | undefined>(
    (best, record) => (best && weight(best) >= weight(record) ? best : record),
    undefined,
  );
}

const readBodies = (records: readonly AuditRecord[]): Record<string, unknown>[] =>
  records.map(({ alpha }) => alpha.body).filter((body) => isObject(body) && !isTruncated(body)) as never;

/** Describes the members that change in recorded bodies. If no bodies are recorded, all members are described. */
function describeBodyChanges(
  route: Route,
  records: readonly AuditRecord[],
  pack: Pack,
): readonly FieldChange[] {
  const bodies = readBodies(records);
  return (route.body?.members ?? []).flatMap(({ name, rule }) => {
    const spelling = [name, ...(rule.aliases ?? [])].find((candidate) =>
      bodies.some((body) => compileGetter(candidate)(body) !== undefined),
    );
    if (bodies.length > 0 && spelling === undefined) return [];
    const change = describeField(name, rule, { pack, direction: "write", relatedCalls: NO_CALLS });
    const sentName = spelling !== undefined && spelling !== rule.upstream ? spelling : undefined;
    if (change) return [{ ...change, field: spelling ?? name }];
    return sentName === undefined || sentName === name ? [] : [createRename(sentName, rule.upstream ?? name)];
  });
}

const createRename = (field: string, v4: string): FieldChange => ({
  field,
  v4,
  class: "renamed",
  change: "Renamed.",
  values: [],
  formula: null,
  loss: null,
});

/** Returns all names in a filter, at any depth. */
function findNames(filter: unknown): string[] {
  if (Array.isArray(filter)) return filter.flatMap(findNames);
  if (!isObject(filter)) return typeof filter === "string" ? [filter] : [];
  return Object.entries(filter).flatMap(([name, value]) => [name, ...findNames(value)]);
}

function recordedFilter(filter: string): unknown {
  try {
    return JSON.parse(filter);
  } catch {
    return undefined;
  }
}

/** Describes the fields of recorded filters that change. A name is a key, or the field to sort by. */
function describeFilters(route: Route, records: readonly AuditRecord[], pack: Pack): readonly FieldChange[] {
  const { parameters } = route.queryFilter ?? {};
  const names = new Set(
    records.flatMap(({ alpha }) => [
      ...(alpha.filter ? findNames(recordedFilter(alpha.filter)) : []),
      ...[...new URLSearchParams(alpha.query).keys()].flatMap((name) => parameters?.get(name)?.field ?? []),
    ]),
  );
  return [...route.resource.members].flatMap(([name, rule]) => {
    if (!isFilterable(rule) || !names.has(name)) return [];
    return describeField(name, rule, { pack, direction: "write", relatedCalls: NO_CALLS }) ?? [];
  });
}

/** Returns the v4 members that the gateway added to recorded bodies. */
const findAddedMembers = (route: Route, records: readonly AuditRecord[]): string[] => [
  ...new Set(records.flatMap((record) => explainBody(record, route)?.added ?? [])),
];

/** Describes the calls before the main call that validated the body. Without the gateway, v4 reports these errors later. */
function describeValidation(route: Route, records: readonly AuditRecord[]): string[] {
  const sent = route.calls.filter(
    ({ place, repeats, endpoint }) =>
      place === "before" && !repeats && records.some(({ v4 }) => v4.some((call) => isCallOf(endpoint, call))),
  );
  if (sent.length === 0) return [];
  const calls = sent.map(({ endpoint }) => `\`${endpoint.method} ${endpoint.template}\``);
  return [`The gateway validated the body with ${calls.join(", ")} before the call.`];
}

function describeGatewayWork(route: Route, records: readonly AuditRecord[], { dialect }: Pack): string[] {
  const [client, upstream] = [dialect.client.name, dialect.upstream.name];
  const dropped = new Set(records.flatMap((record) => explainBody(record, route)?.dropped ?? []));
  const names = [...dropped].map((name) => `\`${name}\``).join(", ");
  const { where } = route;
  return [
    ...(dropped.size === 0 ? [] : [`These members have no effect in ${client} or ${upstream}: ${names}.`]),
    ...route.guide,
    ...describeValidation(route, records),
    ...(where === undefined
      ? []
      : [
          `The gateway filtered the list with \`${JSON.stringify(where)}\`. Without this filter there are more rows.`,
        ]),
  ];
}

const isGet = ({ method }: Endpoint): boolean => method === "GET";

function findCounterpart({ source, calls, response, name }: Route): Counterpart {
  if ("error" in source) return "none";
  const onlyReads = "call" in source && [source.call, ...calls.map(({ endpoint }) => endpoint)].every(isGet);
  return onlyReads && response === "none" && !name.startsWith("GET ") ? "unneeded" : "call";
}

/** Describes the replacement of a route, and the changes. @param records a few records of its calls, the newest first */
function describeReplacement(
  route: Route,
  record: AuditRecord | undefined,
  records: readonly AuditRecord[],
  pack: Pack,
) {
  const counterpart = findCounterpart(route);
  const isCalled = counterpart === "call";
  const { source, access, response, responseObjects } = route;
  return {
    counterpart,
    /** The reason why there is no counterpart, or null. */
    reason: "error" in source ? source.error.reason : null,
    /** The v4 calls in order, `GET /path/{id}`. Empty if missing. */
    v4: isCalled ? listV4Calls(route, pack) : [],
    /** The scope that a token needs. Null if it needs none. */
    scope: typeof access === "string" ? null : createScopePair(access, pack.dialect),
    after: isCalled ? createV4Commands(record, route, pack) : [],
    /** Members of the body that change. */
    sends: isCalled ? describeBodyChanges(route, records, pack) : [],
    /** v4 members that the gateway added, and that the client must send without it. */
    adds: findAddedMembers(route, records),
    /** Fields of filters that change. */
    filters: describeFilters(route, records, pack),
    /** The names of the objects in the response. */
    gets: isCalled && ["list", "object"].includes(response) ? responseObjects : [],
    /** The additional steps of the gateway, which the client must do itself or omit. */
    notes: describeGatewayWork(route, records, pack),
  };
}

const NO_REPLACEMENT: ReturnType<typeof describeReplacement> = {
  counterpart: "unknown",
  reason: "The active pack does not have this route.",
  v4: [],
  scope: null,
  after: [],
  sends: [],
  adds: [],
  filters: [],
  gets: [],
  notes: [],
};

/** A route that a client calls, and its replacement. */
export type CallGuide = ReturnType<typeof createCallGuide>;

/**
 * Creates the guide for one call.
 *
 * @param records a few records of it, the newest first
 */
export function createCallGuide(called: CallSummary, records: readonly AuditRecord[], pack: Pack) {
  const { route: name, statuses, requests } = called;
  const route = pack.route(name);
  const record = findBestRecord(records);
  return {
    /** The route's name in the pack. */
    route: name,
    requests,
    /** Number of requests by the status of the response, the most frequent first. */
    statuses: statuses.map(({ status, requests: count }) => ({ status, requests: count })),
    /** Number of requests whose response lost something. */
    lossy: statuses.reduce((sum, { lossy }) => sum + lossy, 0),
    /** The time of the last request, ISO 8601. */
    last: statuses.reduce((latest, { last }) => (last > latest ? last : latest), ""),
    /** The id of the record on which the commands are based; null if they are based on the pack, because no record is left. */
    record: record?.id ?? null,
    before: createAlphaCommand(record, name, pack),
    ...(route ? describeReplacement(route, record, records, pack) : NO_REPLACEMENT),
  };
}
