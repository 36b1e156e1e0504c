import {
  type Access,
  compileGetter,
  type DialectDefinition,
  isFilterable,
  type Pack,
  type Route,
} from "../../pack/index.ts";
import { type AuditRecord, isTruncated } from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";
import { explainBody, isCallOf } from "../../compare/index.ts";
import { createAlphaCommand, createV4Commands, listV4Calls } from "./commands.ts";
import type { CallSummary } from "./evidence.ts";
import type { CallGuide, Counterpart, FieldChange } from "./model.ts";
import { describeField } from "./changes.ts";

type Level = Exclude<Access, string>;

/** A scope in alpha, and the v4 scope with the same rights. */
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

/** The highest level of each resource or area. */
function findHighestLevels(levels: readonly Level[], nameOf: (level: Level) => string): Level[] {
  return [...Map.groupBy(levels, nameOf).values()].flatMap((group) => {
    const [top] = group.toSorted((one, other) => other.level - one.level);
    return top ? [top] : [];
  });
}

/** The smallest scopes that permit all accesses, in alpha and in v4, in alphabetical order. */
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

/** The record that shows a call best: one with status 200 if there is one, and with the longest request. */
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

/** The members that change, of those in recorded bodies. Without recorded bodies: of all members. */
function describeBodyChanges(route: Route, records: readonly AuditRecord[], pack: Pack): FieldChange[] {
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

/** All names in a filter, at any depth. */
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

/** The fields of recorded filters that change. A name is a key, or the field to sort by. */
function describeFilters(route: Route, records: readonly AuditRecord[], pack: Pack): FieldChange[] {
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

/** The v4 members that the gateway added to recorded bodies. */
const findAddedMembers = (route: Route, records: readonly AuditRecord[]): string[] => [
  ...new Set(records.flatMap((record) => explainBody(record, route)?.added ?? [])),
];

/** The calls before the main call, which validated the body. Without the gateway, v4 reports these errors later. */
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

function findCounterpart(route: Route): Counterpart {
  const { source, response, name } = route;
  if ("error" in source) return "none";
  const isRead = "call" in source && source.call.method === "GET";
  return isRead && response === "none" && !name.startsWith("GET ") ? "unneeded" : "call";
}

type Counts = Pick<CallGuide, "route" | "requests" | "statuses" | "lossy" | "last">;

function readCounts({ route, statuses, requests }: CallSummary): Counts {
  return {
    route,
    requests,
    statuses: statuses.map(({ status, requests: count }) => ({ status, requests: count })),
    lossy: statuses.reduce((sum, { lossy }) => sum + lossy, 0),
    last: statuses.reduce((latest, { last }) => (last > latest ? last : latest), ""),
  };
}

/**
 * Creates the guide of one call.
 *
 * @param records a few records of it, the newest first
 */
export function createCallGuide(called: CallSummary, records: readonly AuditRecord[], pack: Pack): CallGuide {
  const route = pack.route(called.route);
  const record = findBestRecord(records);
  const common = {
    ...readCounts(called),
    record: record?.id ?? null,
    before: createAlphaCommand(record, called.route, pack),
  };
  if (!route) {
    const empty = { v4: [], after: [], sends: [], adds: [], filters: [], gets: [], notes: [], scope: null };
    return {
      ...common,
      ...empty,
      counterpart: "unknown",
      reason: "The active pack does not have this route.",
    };
  }
  const counterpart = findCounterpart(route);
  const { source, access } = route;
  return {
    ...common,
    counterpart,
    reason: "error" in source ? source.error.reason : null,
    v4: counterpart === "call" ? listV4Calls(route, pack) : [],
    scope: typeof access === "string" ? null : createScopePair(access, pack.dialect),
    after: counterpart === "call" ? createV4Commands(record, route, pack) : [],
    sends: counterpart === "call" ? describeBodyChanges(route, records, pack) : [],
    adds: findAddedMembers(route, records),
    filters: describeFilters(route, records, pack),
    gets: ["list", "object"].includes(route.response) && counterpart === "call" ? route.responseObjects : [],
    notes: describeGatewayWork(route, records, pack),
  };
}
