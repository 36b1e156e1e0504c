import {
  type AuditStore,
  type ClientDirectory,
  type ClientGroup,
  type GroupToken,
  isClientApi,
  type LossUsage,
  MAX_ROUTE_ROWS,
  MAX_USAGE_ROWS,
  NO_CLIENTS,
  type QuietTime,
  rankLosses,
  readClientGroups,
  readGroupTokens,
  type RouteUsage,
  UNACCEPTED,
  type UsageQuery,
  type UsageReader,
} from "../../audit/index.ts";
import { apiNames, type Pack } from "../../pack/index.ts";
import { type CallGuide, createCallGuide, findSmallestScopes } from "./call-guide.ts";
import { describeObjects } from "./changes.ts";
import { describeCommonChanges } from "./common-changes.ts";
import { examineCalls, type CallSummary } from "./evidence.ts";
import { isClient, isDone, isUse } from "./model.ts";

export interface ReportOptions {
  readonly store: UsageReader & Pick<AuditStore, "get" | "query">;
  readonly pack: Pack;
  /** Limits the report to a client, or to days. */
  readonly query: Omit<UsageQuery, "limit" | "lane">;
  /** The current time in milliseconds since the epoch. */
  readonly now: number;
  /** Number of days without a request after which a client is quiet. */
  readonly quietDays: number;
  /** The names of clients. Default: there are no names. */
  readonly directory?: ClientDirectory;
  /** Called with the number of calls that were evaluated. */
  readonly onProgress?: (done: number, total: number) => void;
}

const sum = <T>(items: readonly T[], valueOf: (item: T) => number): number =>
  items.reduce((total, item) => total + valueOf(item), 0);

/** Adds up the rows of one status: a named client may have several keys. */
function addStatuses(rows: readonly RouteUsage[]): RouteUsage[] {
  return [...Map.groupBy(rows, ({ status }) => status).values()]
    .flatMap((same): RouteUsage[] => {
      const [first, ...others] = same.toSorted((one, other) => (one.last < other.last ? 1 : -1));
      if (!first) return [];
      return [
        {
          ...first,
          requests: sum(same, ({ requests }) => requests),
          lossy: sum(same, ({ lossy }) => lossy),
          first: others.reduce((least, row) => (row.first < least ? row.first : least), first.first),
        },
      ];
    })
    .toSorted((one, other) => other.requests - one.requests);
}

/** Groups the rows of one client by alpha route, the most used first. */
export function groupCalls(client: string | null, usage: readonly RouteUsage[]): CallSummary[] {
  const routes = Map.groupBy(
    usage.filter((row) => isClientApi(row)),
    ({ route }) => route,
  );
  return [...routes]
    .flatMap(([route, rows]): CallSummary[] =>
      route === null
        ? []
        : [{ client, route, statuses: addStatuses(rows), requests: sum(rows, ({ requests }) => requests) }],
    )
    .toSorted((one, other) => other.requests - one.requests || (one.route < other.route ? -1 : 1));
}

interface ClientMaterial {
  readonly pack: Pack;
  readonly members: readonly GroupToken[];
  readonly usage: readonly RouteUsage[];
  readonly calls: readonly CallGuide[];
  readonly losses: readonly LossUsage[];
}

/** The members of a client that are copied from the summaries. */
const COUNTED = [
  "id",
  "client",
  "name",
  "family",
  "tokens",
  "userAgent",
  "otherAgents",
  "first",
  "last",
  "lastAlpha",
  "requests",
  "native",
  "errors",
  "lossy",
  "cameBack",
] as const satisfies readonly (keyof ClientGroup)[];

const pick = <T, Key extends keyof T>(from: T, keys: readonly Key[]): Pick<T, Key> =>
  Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, Key>;

/** The guide of one client, created from its own requests. */
export type ClientGuide = ReturnType<typeof createClientGuide>;

function createClientGuide(counted: ClientGroup, { pack, members, usage, calls, losses }: ClientMaterial) {
  const alpha = usage.filter(isClientApi);
  const routes = calls.flatMap(({ route }) => pack.route(route) ?? []);
  const callable = routes.filter(({ source }) => !("error" in source));
  return {
    ...pick(counted, COUNTED),
    /** Its tokens if there are several, those with the most requests on all days first. */
    members,
    /** The client's state; null for requests without a token and for tokens that v4 never accepted. */
    readiness: counted.state,
    /** The longest pause between alpha calls so far, in milliseconds, if it is longer than the quiet time; otherwise null. */
    longerPauseMs: counted.isPauseLonger ? counted.longestPauseMs : null,
    /** The smallest scopes for these calls, in alpha and in v4. */
    scopes: findSmallestScopes(
      callable.map(({ access }) => access),
      pack.dialect,
    ),
    /** The most used calls come first. */
    calls,
    /** Its losses, by severity and by requests. */
    losses: rankLosses(losses, [counted]).map(({ clients: _self, ...loss }) => loss),
    /** Number of alpha requests to paths that never existed in alpha. */
    unmatched: sum(
      alpha.filter(({ route }) => route === null),
      (row) => row.requests,
    ),
    /** Objects in responses that change. */
    objects: describeObjects(routes, pack),
  };
}

/** Counts the calls that a client still has to change. Unaccepted senders come last. */
const countRemaining = ({ client, readiness, calls }: ClientGuide): number =>
  client === UNACCEPTED ? -2 : isDone(readiness) ? -1 : calls.length;

/** Returns the routes that are in use. */
const usedRoutes = (clients: readonly ClientGuide[]): ReadonlySet<string> =>
  new Set(
    clients.flatMap((client) => client.calls.flatMap((call) => (isUse(client, call) ? call.route : []))),
  );

/** Maximum number of rows whose tokens are read, and of tokens that are listed for each row. */
const MAX_OPENED = 200;
const MAX_MEMBERS = 100;

/** Reads the tokens of rows that have several, those with the most requests first. */
async function readMembers(
  store: UsageReader,
  clients: readonly ClientGroup[],
  quiet: QuietTime,
): Promise<ReadonlyMap<string | null, readonly GroupToken[]>> {
  const members = new Map<string | null, readonly GroupToken[]>();
  for (const { client, keys } of clients.filter(({ tokens }) => tokens > 1).slice(0, MAX_OPENED))
    members.set(client, (await readGroupTokens(store, keys, { quiet })).slice(0, MAX_MEMBERS));
  return members;
}

/** The migration report as data. HTML, Markdown, JSON and CSV are written from it. */
export type Report = Awaited<ReturnType<typeof createReport>>;

/**
 * Creates the migration report from the summaries of an audit store, and a few records of each call.
 *
 * @throws {AuditUnavailableError}
 */
export async function createReport(options: ReportOptions) {
  const {
    store,
    pack,
    query,
    now,
    quietDays,
    directory = NO_CLIENTS,
    onProgress = () => undefined,
  } = options;
  const quiet = { quietDays, now };
  const [groups, usage, days, losses] = await Promise.all([
    readClientGroups(store, query, { directory, quiet }),
    store.usage({ ...query, limit: MAX_ROUTE_ROWS }),
    store.days(query),
    store.losses(query),
  ]);
  const clients = groups.slice(0, MAX_USAGE_ROWS);
  const members = await readMembers(store, clients, quiet);
  const firstKeys = new Map(clients.flatMap(({ client, keys }) => keys.map((key) => [key, client] as const)));
  const lossesByClient = Map.groupBy(losses, ({ client }) => firstKeys.get(client) ?? client);
  const usageByClient = Map.groupBy(usage, ({ client }) => firstKeys.get(client) ?? client);
  const callSummaries = [...usageByClient].flatMap(([client, rows]) => groupCalls(client, rows));
  const { since, until } = query;
  const span = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
  const guides = await examineCalls(
    store,
    callSummaries,
    span,
    (call, records) => ({ client: call.client, guide: createCallGuide(call, records, pack) }),
    onProgress,
  );
  const callsByClient = Map.groupBy(guides, ({ client }) => client);
  const clientGuides = clients
    .map((client) =>
      createClientGuide(client, {
        pack,
        members: members.get(client.client) ?? [],
        usage: usageByClient.get(client.client) ?? [],
        calls: (callsByClient.get(client.client) ?? []).map(({ guide }) => guide),
        losses: lossesByClient.get(client.client) ?? [],
      }),
    )
    .toSorted((one, other) => countRemaining(other) - countRemaining(one) || other.requests - one.requests);
  return {
    made: new Date(now).toISOString(),
    /** Number of days without a request after which a client is quiet. */
    quietDays,
    names: apiNames(pack),
    /** The time span of the query: ISO 8601, whole days in UTC; null: unlimited. */
    since: query.since ?? null,
    until: query.until ?? null,
    totals: {
      requests: sum(clients, ({ requests }) => requests),
      native: sum(clients, ({ native }) => native),
      errors: sum(clients, ({ errors }) => errors),
      lossy: sum(clients, ({ lossy }) => lossy),
      clients: clientGuides.filter(isClient).length,
      /** Number of clients that called v4 and not alpha within the quiet time. */
      done: clientGuides.filter(({ readiness }) => isDone(readiness)).length,
      /** Number of clients without any request within the quiet time. */
      silent: clientGuides.filter(({ readiness }) => readiness === "silent").length,
      /** Number of different alpha routes in use. */
      calls: usedRoutes(clientGuides).size,
    },
    days,
    /** The losses, by severity and by requests, with the affected clients. */
    losses: rankLosses(losses, clients),
    everyCall: describeCommonChanges(pack),
    /** The clients with the most calls to change first. */
    clients: clientGuides,
    /** Whether the report is too large, so that the least used calls are missing. */
    cut: groups.length > MAX_USAGE_ROWS || usage.length >= MAX_ROUTE_ROWS,
  };
}
