import { namesOf } from "../../mapping/pack-summary.ts";
import type { AuditStore } from "../../audit/store.ts";
import {
  MAX_USAGE_ROWS,
  type ClientUsage,
  type RouteUsage,
  type UsageQuery,
  type UsageReader,
} from "../../audit/usage.ts";
import type { Pack } from "../../mapping/pack.ts";
import { createCallGuide, findSmallestScopes } from "./call-guide.ts";
import { describeCommonChanges, describeObjects } from "./changes.ts";
import { examineCalls, type CallSummary } from "./evidence.ts";
import { isDone, readinessOf, type CallGuide, type ClientGuide, type Report } from "./model.ts";

export interface ReportOptions {
  readonly store: UsageReader & Pick<AuditStore, "get" | "query">;
  readonly pack: Pack;
  /** Limits the report to a client, or to days. */
  readonly query: Pick<UsageQuery, "client" | "since" | "until">;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Called with the number of calls that are evaluated. */
  readonly onProgress?: (done: number, total: number) => void;
}

const sum = <T>(items: readonly T[], valueOf: (item: T) => number): number =>
  items.reduce((total, item) => total + valueOf(item), 0);

const isAlpha = ({ lane }: RouteUsage): boolean => lane === "alpha";

/** Groups the rows of the summaries by client and alpha route, the most used first. */
function groupCalls(usage: readonly RouteUsage[]): CallSummary[] {
  const withRoute = usage.filter((row) => isAlpha(row) && row.route !== null);
  const groups = Map.groupBy(withRoute, ({ client, route }) => JSON.stringify([client, route]));
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

function findLast(rows: readonly RouteUsage[]): string | null {
  return rows.reduce<string | null>(
    (latest, { last }) => (latest !== null && latest > last ? latest : last),
    null,
  );
}

interface ClientMaterial {
  readonly pack: Pack;
  readonly now: number;
  readonly usage: readonly RouteUsage[];
  readonly calls: readonly CallGuide[];
}

function createClientGuide(counted: ClientUsage, { pack, now, usage, calls }: ClientMaterial): ClientGuide {
  const { client, userAgent, first, last, requests, native, errors, lossy } = counted;
  const alpha = usage.filter(isAlpha);
  const lastAlpha = findLast(alpha);
  const routes = calls.flatMap(({ route }) => pack.route(route) ?? []);
  const callable = routes.filter(({ source }) => !("error" in source));
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
    scopes: findSmallestScopes(
      callable.map(({ access }) => access),
      pack.dialect,
    ),
    calls,
    unmatched: sum(
      alpha.filter(({ route }) => route === null),
      (row) => row.requests,
    ),
    objects: describeObjects(routes, pack),
  };
}

const countRemaining = ({ readiness, calls }: ClientGuide): number => (isDone(readiness) ? -1 : calls.length);

/**
 * Creates the migration report from the summaries of an audit store, and a few records of each call.
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
  const callSummaries = groupCalls(usage);
  const { client: _client, ...span } = query;
  const guides = await examineCalls({
    store,
    calls: callSummaries,
    span,
    examine: (call, records) => ({ client: call.client, guide: createCallGuide(call, records, pack) }),
    onProgress,
  });
  const callsByClient = Map.groupBy(guides, ({ client }) => client);
  const usageByClient = Map.groupBy(usage, ({ client }) => client);
  const clientGuides = clients
    .map((counted) =>
      createClientGuide(counted, {
        pack,
        now,
        usage: usageByClient.get(counted.client) ?? [],
        calls: (callsByClient.get(counted.client) ?? []).map(({ guide }) => guide),
      }),
    )
    .toSorted((one, other) => countRemaining(other) - countRemaining(one) || other.requests - one.requests);
  return {
    made: new Date(now).toISOString(),
    names: namesOf(pack),
    since: query.since ?? null,
    until: query.until ?? null,
    totals: {
      requests: sum(clients, ({ requests }) => requests),
      native: sum(clients, ({ native }) => native),
      errors: sum(clients, ({ errors }) => errors),
      lossy: sum(clients, ({ lossy }) => lossy),
      clients: clients.length,
      done: clientGuides.filter(({ readiness }) => isDone(readiness)).length,
      calls: new Set(callSummaries.map(({ route }) => route)).size,
    },
    days,
    everyCall: describeCommonChanges(pack),
    clients: clientGuides,
    cut: Math.max(clients.length, usage.length) >= MAX_USAGE_ROWS,
  };
}
