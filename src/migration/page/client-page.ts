/** The remaining changes for one client, from its calls and from the pack. */
import {
  applicationKey,
  type AuditStore,
  type ClientIdentity,
  type ClientUsage,
  isClientApi,
  migrationStateOf,
  type RouteUsage,
  type TokenUsage,
} from "../../audit/index.ts";
import { isFilterable, type Loss, apiNames, type Pack, type Route } from "../../pack/index.ts";
import { formatDay, SEVERITIES } from "../../base/index.ts";
import { type ProvenToken, SIGN_INS, TOKEN_CHECK } from "../../gateway/index.ts";
import { fieldOf, type StageWindow } from "../plan/plan.ts";
import type { PlanInForce } from "../plan/rules.ts";
import { createCallGuide, findSmallestScopes } from "../report/call-guide.ts";
import { describeField, describeObjects } from "../report/changes.ts";
import { describeCommonChanges } from "../report/common-changes.ts";
import { groupCalls } from "../report/make-report.ts";
import type { FieldChange } from "../report/model.ts";
import { PAGE_ROUTES } from "./page-paths.ts";

/**
 * The page of one client. It contains no id, value, address or user agent, and no data about other clients. Days are in
 * UTC.
 */
export type ClientPage = Awaited<ReturnType<typeof readClientPage>>;
/** A route that the client calls. */
export type PageRoute = ReturnType<typeof describeRoute>;

/**
 * The reader, whose calls the page contains: the holder of a token that v4 accepts, or an application whose secret the
 * login server accepts.
 */
export type Caller =
  | ({ readonly kind: "token" } & ProvenToken)
  | { readonly kind: "application"; readonly application: string };

export interface PageSources {
  readonly store: Pick<AuditStore, "activity" | "clients" | "usage" | "sent">;
  readonly pack: Pack;
  readonly plan: Pick<PlanInForce, "endOf" | "link" | "windowsFor">;
  readonly quietDays: number;
}

/** The stored calls of a caller. */
interface Counted {
  readonly seen:
    | (Pick<TokenUsage, "lastAlpha" | "lastNative" | "userAgent"> &
        Partial<Pick<ClientUsage, "longestPauseMs">>)
    | undefined;
  readonly usage: readonly RouteUsage[];
  /**
   * The names that the caller sent, such as `body.label`, by route; undefined if they are counted for several tokens
   * together.
   */
  readonly sent: ReadonlyMap<string, ReadonlySet<string>> | undefined;
}

const dayOf = (time: string | null): string | null => time && formatDay(time);

const dateOf = (ms: number | undefined): string | null =>
  ms === undefined || !Number.isFinite(ms) ? null : new Date(ms).toISOString();

async function readSent(store: PageSources["store"], client: string): Promise<Counted["sent"]> {
  const byRoute = Map.groupBy(await store.sent({ client }), ({ route }) => route);
  return new Map([...byRoute].map(([route, rows]) => [route, new Set(rows.map(({ name }) => name))]));
}

/**
 * Returns the rows about a token that no summary contains, because v4 accepted none of its calls. Its only proof is the
 * caller's.
 */
function seenIn(usage: readonly RouteUsage[]): Counted["seen"] {
  const lastOf = (isOfApi: boolean): string | null =>
    usage.reduce<string | null>(
      (latest, row) => (isClientApi(row) === isOfApi && row.last > (latest ?? "") ? row.last : latest),
      null,
    );
  const [lastAlpha, lastNative] = [lastOf(true), lastOf(false)];
  return lastAlpha === null && lastNative === null ? undefined : { lastAlpha, lastNative, userAgent: null };
}

const NO_CALLS: ReadonlySet<string | null> = new Set([...Object.values(PAGE_ROUTES), TOKEN_CHECK]);

/** Whether a row is about calls, instead of the pages themselves or checks of the token. */
const isCall = ({ route }: RouteUsage): boolean => !NO_CALLS.has(route);

/** Reads the calls of the caller, and of no other client. @throws {AuditUnavailableError} */
async function readCounted(caller: Caller, store: PageSources["store"]): Promise<Counted> {
  if (caller.kind === "token") {
    const { fingerprint } = caller;
    const { token, routes } = await store.activity({ fingerprint });
    const usage = routes.filter(isCall);
    const seen = token ?? seenIn(usage);
    if (token?.client !== fingerprint) return { seen, usage, sent: undefined };
    // The pauses of a token are counted if the token is its own client.
    const [[counted], sent] = await Promise.all([
      store.clients({ client: fingerprint }),
      readSent(store, fingerprint),
    ]);
    return { seen: seen && { ...seen, longestPauseMs: counted?.longestPauseMs ?? null }, usage, sent };
  }
  const client = applicationKey(caller.application);
  const [[seen], usage, sent] = await Promise.all([
    store.clients({ client }),
    store.usage({ client }),
    readSent(store, client),
  ]);
  return { seen, usage, sent };
}

/** Returns the changes of names that the client sent, or of all names if its names are unknown. */
function ofSentNames(
  changes: readonly FieldChange[],
  kind: "body" | "filter",
  sent: ReadonlySet<string> | undefined,
): readonly FieldChange[] {
  const isKnown = sent && [...sent].some((name) => name.startsWith(`${kind}.`));
  return isKnown ? changes.filter(({ field }) => sent.has(`${kind}.${field}`)) : changes;
}

/** Returns the fields of a list's filter that change. */
const describeFilters = ({ response, resource }: Route, pack: Pack): FieldChange[] =>
  response === "list"
    ? [...resource.members].flatMap(([name, rule]) =>
        isFilterable(rule)
          ? (describeField(name, rule, { pack, direction: "write", relatedCalls: new Map() }) ?? [])
          : [],
      )
    : [];

/** Returns the login server's calls that replace one of the client's calls; undefined for every other route. */
function findLoginCalls(route: string, { oauth }: Pack["dialect"]): readonly string[] | undefined {
  if (!oauth) return undefined;
  const { authorize, token, revoke, logout } = oauth;
  const [method = "", path = ""] = route.split(" ");
  const call = [authorize, token, revoke, logout].find(({ client }) => client === path);
  if (!call) return undefined;
  // The redirect of a sign-in proves no application, so it is not included in an application's calls.
  const redirect = call === token ? [`${SIGN_INS.authorize} ${authorize.upstream}`] : [];
  return [...redirect, `${method} ${call.upstream}`];
}

function lossesOf(variants: readonly Route[]): Loss[] {
  const byText = new Map(variants.flatMap(({ losses }) => losses.map((loss) => [loss.text, loss] as const)));
  const weigh = ({ severity }: Loss): number => SEVERITIES.indexOf(severity);
  return [...byText.values()].toSorted((one, other) => weigh(one) - weigh(other));
}

/**
 * Describes the open brown-out, otherwise the next one, of a stage in which calls of the client fail, or responses lack
 * a field.
 */
const describeWindow = ({ stage, window }: StageWindow) => ({
  kind: stage.kind,
  from: new Date(window.from).toISOString(),
  until: new Date(window.until).toISOString(),
  /** The affected routes; empty: all routes. */
  routes: stage.routes,
  /** The object and the field that are missing in responses; null: calls fail. */
  field: fieldOf(stage),
  text: stage.text ?? null,
});

interface RouteContext extends Pick<PageSources, "pack" | "plan"> {
  readonly identity: ClientIdentity;
  readonly sent: Counted["sent"];
}

function describeRoute(
  called: ReturnType<typeof groupCalls>[number],
  { pack, plan, identity, sent }: RouteContext,
) {
  const { route, counterpart, reason, requests, scope, notes, lossy, last, v4, sends, gets } =
    createCallGuide(called, [], pack);
  const variants = pack.routes.filter(({ name }) => name === route);
  const names = sent?.get(route);
  const login = counterpart === "unknown" ? findLoginCalls(route, pack.dialect) : undefined;
  const filters = variants.flatMap((variant) => describeFilters(variant, pack));
  const firsts = called.statuses.map(({ first }) => first).toSorted();
  return {
    route,
    requests,
    /** The days of the first and of the last counted request. */
    first: dayOf(firsts[0] ?? last) ?? "",
    last: dayOf(last) ?? "",
    /** Number of responses that lost something in the translation. */
    lossy,
    counterpart: login ? ("call" as const) : counterpart,
    reason: login ? null : reason,
    /** The calls that replace it, in order. */
    calls: login ?? v4,
    scope,
    /** The date on which it ends for this client; null: no date is known. */
    ends: dateOf(plan.endOf(identity, route)),
    /** The possible losses of its requests and responses, as the pack defines them; the most severe first. */
    losses: lossesOf(variants),
    /**
     * Members of the body and fields of filters that change, limited to the names that the client sent, if these are
     * known.
     */
    sends: ofSentNames(sends, "body", names),
    // If no request contained a filter, no filter has to change.
    filters: names ? filters.filter(({ field }) => names.has(`filter.${field}`)) : filters,
    /** The objects of its responses. */
    objects: gets,
    notes,
  };
}

/**
 * Reads the page of a proven caller.
 *
 * @param now Milliseconds since the epoch
 * @throws {AuditUnavailableError}
 */
export async function readClientPage(
  caller: Caller,
  label: string | undefined,
  { store, pack, plan, quietDays }: PageSources,
  now = Date.now(),
) {
  const { seen, usage, sent } = await readCounted(caller, store);
  const key = caller.kind === "token" ? caller.fingerprint : applicationKey(caller.application);
  // The user agent of its calls is used, not that of this request, because the plan identifies the client by it.
  const identity: ClientIdentity = {
    label,
    application: caller.application,
    fingerprint: caller.kind === "token" ? caller.fingerprint : undefined,
    userAgent: seen?.userAgent,
  };
  const routes = groupCalls(key, usage).map((called) =>
    describeRoute(called, { pack, plan, identity, sent }),
  );
  const known = routes.flatMap(({ route }) => pack.routes.filter(({ name }) => name === route));
  const { alpha, v4 } = findSmallestScopes(
    known.filter(({ source }) => !("error" in source)).map(({ access }) => access),
    pack.dialect,
  );
  const { lastAlpha = null, lastNative = null, longestPauseMs = null } = seen ?? {};
  return {
    made: new Date(now).toISOString(),
    names: apiNames(pack),
    /** The calls of the page: those of one token, or of all tokens of an application. */
    calls_of: caller.kind,
    quiet_days: quietDays,
    /** The client's state; null if no call of the client was counted yet. */
    state: seen
      ? migrationStateOf({ client: key, lastAlpha, lastNative, longestPauseMs }, { quietDays, now })
      : null,
    /** The days of the last calls of the old and of the new API. Null if there was none. */
    last_call: dayOf(lastAlpha),
    last_upstream_call: dayOf(lastNative),
    /** The date on which the old API ends for this client; null: no date is known. */
    ends: dateOf(plan.endOf(identity, null)),
    /** The address of the description of the end. */
    link: plan.link() ?? null,
    /** The next brown-outs of the plan, the earliest first. */
    windows: plan.windowsFor(identity).map(describeWindow),
    /** The smallest scopes for the calls below, in both APIs. */
    scopes: { client: alpha, upstream: v4 },
    /** Number of requests to paths that never existed in the old API. */
    unmatched: usage.reduce(
      (sum, row) => sum + (isClientApi(row) && row.route === null ? row.requests : 0),
      0,
    ),
    /** The most used routes come first. */
    routes,
    /** Objects of responses whose members change. */
    objects: describeObjects(known, pack),
    every_call: describeCommonChanges(pack),
  };
}
