import type { AuditStore } from "../../audit/store.ts";
import {
  MAX_USAGE_ROWS,
  type ClientUsage,
  type RouteUsage,
  type UsageQuery,
  type UsageReader,
} from "../../audit/usage.ts";
import type { Pack } from "../../mapping/pack.ts";
import { guideCall } from "./call-guide.ts";
import { commonChanges } from "./every-call.ts";
import { examineCalls, type CallSummary } from "./evidence.ts";
import type { CallGuide, ClientGuide, Report } from "./model.ts";
import { objectChanges } from "./object-changes.ts";
import { isDone, readinessOf } from "./readiness.ts";
import { leastScopes } from "./scopes.ts";

export interface ReportOptions {
  readonly store: UsageReader & Pick<AuditStore, "get" | "query">;
  readonly pack: Pack;
  /** Narrows the report to a client, or to days; its `limit` has no meaning here. */
  readonly query: Pick<UsageQuery, "client" | "since" | "until">;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Hears how many of the calls have been looked at. */
  readonly onProgress?: (done: number, of: number) => void;
}

const sum = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((total, one) => total + of(one), 0);

const isAlpha = ({ lane }: RouteUsage): boolean => lane === "alpha";

/** The summaries' rows, a call for each client and route of alpha: the most used first. */
function callsOf(usage: readonly RouteUsage[]): CallSummary[] {
  const known = usage.filter((row) => isAlpha(row) && row.route !== null);
  const groups = Map.groupBy(known, ({ client, route }) => JSON.stringify([client, route]));
  return [...groups.values()]
    .flatMap((rows): CallSummary[] => {
      const [first] = rows;
      if (first?.route === undefined || first.route === null) return [];
      const statuses = rows.toSorted((one, other) => other.requests - one.requests);
      const { client, route } = first;
      return [{ client, route, statuses, requests: sum(rows, ({ requests }) => requests) }];
    })
    .toSorted((one, other) => other.requests - one.requests || (one.route < other.route ? -1 : 1));
}

function lastOf(rows: readonly RouteUsage[]): string | null {
  return rows.reduce<string | null>(
    (latest, { last }) => (latest !== null && latest > last ? latest : last),
    null,
  );
}

interface Material {
  readonly pack: Pack;
  readonly now: number;
  readonly usage: readonly RouteUsage[];
  readonly calls: readonly CallGuide[];
}

function guideClient(counted: ClientUsage, { pack, now, usage, calls }: Material): ClientGuide {
  const { client, userAgent, first, last, requests, native, errors, lossy } = counted;
  const alpha = usage.filter(isAlpha);
  const lastAlpha = lastOf(alpha);
  const routes = calls.flatMap(({ route }) => pack.route(route) ?? []);
  const left = routes.filter(({ source }) => !("error" in source));
  return {
    client,
    userAgent,
    first,
    last,
    lastAlpha,
    requests,
    native,
    errors,
    lossy,
    readiness: readinessOf({ native, lastAlpha }, now),
    scopes: leastScopes(
      left.map(({ access }) => access),
      pack.dialect,
    ),
    calls,
    unmatched: sum(
      alpha.filter(({ route }) => route === null),
      (row) => row.requests,
    ),
    objects: objectChanges(routes, pack),
  };
}

const leftOf = ({ readiness, calls }: ClientGuide): number => (isDone(readiness) ? -1 : calls.length);

/**
 * Makes the migration report from the summaries of an audit store, and a few records of each call.
 *
 * @throws {AuditUnavailableError}
 */
export async function createReport(options: ReportOptions): Promise<Report> {
  const { store, pack, query, now, onProgress = () => undefined } = options;
  const [clients, usage, days] = await Promise.all([
    store.clients(query),
    store.usage(query),
    store.days(query),
  ]);
  const called = callsOf(usage);
  const { client: _client, ...span } = query;
  const guides = await examineCalls({
    store,
    calls: called,
    span,
    examine: (call, records) => ({ client: call.client, guide: guideCall(call, records, pack) }),
    onProgress,
  });
  const callsBy = Map.groupBy(guides, ({ client }) => client);
  const usageBy = Map.groupBy(usage, ({ client }) => client);
  const made = clients
    .map((counted) =>
      guideClient(counted, {
        pack,
        now,
        usage: usageBy.get(counted.client) ?? [],
        calls: (callsBy.get(counted.client) ?? []).map(({ guide }) => guide),
      }),
    )
    .toSorted((one, other) => leftOf(other) - leftOf(one) || other.requests - one.requests);
  return {
    made: new Date(now).toISOString(),
    since: query.since ?? null,
    until: query.until ?? null,
    totals: {
      requests: sum(clients, ({ requests }) => requests),
      native: sum(clients, ({ native }) => native),
      errors: sum(clients, ({ errors }) => errors),
      lossy: sum(clients, ({ lossy }) => lossy),
      clients: clients.length,
      done: made.filter(({ readiness }) => isDone(readiness)).length,
      calls: new Set(called.map(({ route }) => route)).size,
    },
    days,
    everyCall: commonChanges(pack.dialect),
    clients: made,
    cut: Math.max(clients.length, usage.length) >= MAX_USAGE_ROWS,
  };
}
