/** Reports: one for operators about all clients, and one for each contact about its own client. */
import { isClientApi } from "../audit/record.ts";
import type { MigrationState, NamedClient } from "../audit/migration-state.ts";
import type { RouteUsage } from "../audit/usage.ts";
import type { PlanStatus } from "../sunset/describe-plan.ts";
import { nameOf, type ObservedClient } from "./find-news.ts";
import type { DigestData, DigestName } from "./notice.ts";
import type { DigestState } from "./outbox.ts";

/** Clients and routes that one report lists. */
const MAX_LISTED = 50;
/** Stages that one report lists. */
const MAX_STAGES = 10;

const NOT_READY: ReadonlySet<MigrationState> = new Set(["not begun", "moving", "silent"]);

function nextStages({ stages }: Pick<PlanStatus, "stages">): DigestData["next"] {
  return stages
    .filter(({ state, from }) => state !== "over" && from !== null)
    .toSorted((one, other) => (one.from ?? "").localeCompare(other.from ?? ""))
    .slice(0, MAX_STAGES)
    .map(({ name: stage, state, from, until }) => ({ stage, state, from, until }));
}

/** Makes the report for operators. */
export function makeDigest(
  digest: DigestName,
  { since, changes, more }: DigestState,
  clients: readonly ObservedClient[],
  plan: Pick<PlanStatus, "stages" | "end"> | undefined,
): DigestData {
  const states = { "not begun": 0, moving: 0, ready: 0, silent: 0 };
  for (const { state } of clients) states[state] += 1;
  const open = clients.filter(({ state }) => NOT_READY.has(state));
  return {
    digest,
    since: new Date(since).toISOString(),
    states,
    clients: open.slice(0, MAX_LISTED).map(({ usage, state }) => ({
      client: nameOf(usage),
      state,
      lastAlpha: usage.lastAlpha,
      requests: usage.requests,
    })),
    moreClients: Math.max(0, open.length - MAX_LISTED),
    changes,
    moreChanges: more,
    next: plan ? nextStages(plan) : [],
    end: plan?.end ?? null,
  };
}

/** A report about one client, for its contact. It has nothing of other clients, and no values. */
export interface ClientReport {
  /** Its name in the client directory. */
  readonly client: string;
  readonly state: MigrationState;
  /** When the old API ends for it: ISO 8601; null: no date is known. */
  readonly end: string | null;
  /** Page about the migration. */
  readonly guide: string | null;
  readonly routes: readonly {
    readonly route: string;
    readonly requests: number;
    readonly last: string;
    /** Method and path of the call that replaces it; null: there is none. */
    readonly replacement: string | null;
    readonly end: string | null;
  }[];
}

/** What a report about a client needs beyond its summaries. */
export interface ReportContext {
  readonly state: MigrationState;
  /** When a route ends for the client; null: the whole old API. */
  endOf(route: string | null): string | null;
  /** The call that replaces a route of the pack; null: none. Undefined: the pack does not have the route. */
  replacementOf(route: string): string | null | undefined;
  readonly guide: string | null;
}

/** Makes the report about a client from its summaries. Only routes of the pack are in it, no paths. */
export function makeClientReport(
  { name }: Pick<NamedClient, "name">,
  rows: readonly RouteUsage[],
  { state, endOf, replacementOf, guide }: ReportContext,
): ClientReport {
  const routes = new Map<string, { requests: number; last: string }>();
  for (const { lane, route, requests, last } of rows) {
    if (!isClientApi({ lane }) || route === null || replacementOf(route) === undefined) continue;
    const sum = routes.get(route) ?? { requests: 0, last };
    routes.set(route, { requests: sum.requests + requests, last: last > sum.last ? last : sum.last });
  }
  return {
    client: name ?? "",
    state,
    end: endOf(null),
    guide,
    routes: [...routes]
      .toSorted(([, one], [, other]) => other.requests - one.requests)
      .slice(0, MAX_LISTED)
      .map(([route, counts]) => ({
        route,
        ...counts,
        replacement: replacementOf(route) ?? null,
        end: endOf(route),
      })),
  };
}
