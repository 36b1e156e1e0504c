/** Clients in the form for people, one row for each: a name, an application, otherwise a family of user agents. */
import { isClientApi } from "../record/record.ts";
import { agentFamily } from "../clients/agent-pattern.ts";
import type { ClientDirectory } from "../clients/client-directory.ts";
import { familyKeyOf } from "./client-keys.ts";
import {
  createMigrationJudge,
  migrationStateOf,
  spansOf,
  type Migration,
  type MigrationState,
  type QuietTime,
} from "./migration-state.ts";
import { addCounts, groupClients, indexGroups, type Counts, type NamedClient } from "./name-clients.ts";
import { isNamedKey, UNACCEPTED } from "./summary-key.ts";
import {
  MAX_TOKENS_READ,
  MAX_USAGE_ROWS,
  type ClientUsage,
  type RouteUsage,
  type TokenUsage,
  type UsageQuery,
} from "./usage.ts";
import type { UsageReader } from "./usage-reader.ts";

/** The clients that are grouped, and the time after which a client is quiet. */
export interface GroupOptions {
  readonly directory: ClientDirectory;
  readonly quiet: QuietTime;
}

/** One row, with its identity. */
export interface IdentifiedGroup extends NamedClient {
  /** The value that selects the row in a query: its name, its only key, `agent:FAMILY`, `none` or `unaccepted`. */
  readonly id: string;
  /** The family of user agents of a row with several tokens; null for other rows. */
  readonly family: string | null;
}

/** A row with its current state. */
type GroupWithState = IdentifiedGroup & Pick<Migration, "state">;

/** One row: its requests are those of the query, and its state is the current one. */
export type ClientGroup = IdentifiedGroup & Migration;

/** The value of `client` in queries for requests without a token. No key has this form. */
export const ANONYMOUS = "none";

function idOf({ name, client, keys, userAgent }: NamedClient): { id: string; family: string | null } {
  if (name !== null) return { id: name, family: null };
  if (keys.length === 1) return { id: client ?? ANONYMOUS, family: null };
  return { id: familyKeyOf({ client, userAgent }) ?? "", family: agentFamily(userAgent) ?? "" };
}

/** Groups clients into rows, and returns the identity of each row. All lists of clients use the same rows. */
export const identifyGroups = (
  counted: readonly ClientUsage[],
  directory: ClientDirectory,
): IdentifiedGroup[] =>
  groupClients(counted, directory).map((group) => ({
    ...group,
    ...idOf(group),
    tokens: group.keys.length > 1 ? Math.max(group.tokens, group.keys.length) : group.tokens,
  }));

const isWhole = ({ since, until, lane, isClientApi: isOfApi, route }: UsageQuery): boolean =>
  (since ?? until ?? lane ?? isOfApi ?? route) === undefined;

async function readIdentified(
  store: Pick<UsageReader, "clients">,
  { client, clients }: UsageQuery,
  { directory }: GroupOptions,
): Promise<IdentifiedGroup[]> {
  const counted = await store.clients({
    ...(client !== undefined && { client }),
    ...(clients && { clients }),
    limit: Number.MAX_SAFE_INTEGER,
  });
  return identifyGroups(counted, directory);
}

/** Reads the rows of all days: their names and their states. @throws {AuditUnavailableError} */
export async function readGroupsOfAllDays(
  store: Pick<UsageReader, "clients">,
  query: UsageQuery,
  options: GroupOptions,
): Promise<GroupWithState[]> {
  const groups = await readIdentified(store, query, options);
  return groups.map((group) => ({ ...group, state: migrationStateOf(group, options.quiet) }));
}

/**
 * Reads the rows with requests of a query, those with the most first. State, last call and longest pause don't depend
 * on the days of the query: a client that called v4 before these days is not in state "not begun".
 *
 * @throws {AuditUnavailableError}
 */
export async function readClientGroups(
  store: Pick<UsageReader, "clients" | "spans">,
  query: UsageQuery,
  options: GroupOptions,
): Promise<ClientGroup[]> {
  const { quiet } = options;
  const [groups, spans] = await Promise.all([
    readIdentified(store, query, options),
    store.spans(spansOf(query, quiet)),
  ]);
  const judge = createMigrationJudge(spans, groups, quiet);
  const all = groups.map((group): ClientGroup => ({ ...group, ...judge(group) }));
  if (isWhole(query)) return all.toSorted(byRequests);
  // The other keys of a row influence the state of its migration, which is based on all days and both lanes.
  const groupOf = indexGroups(all);
  const counts = new Map<ClientGroup, Counts>();
  for (const usage of await store.clients({ ...query, limit: Number.MAX_SAFE_INTEGER })) {
    const group = groupOf(usage.client);
    if (group) counts.set(group, addCounts(usage, counts.get(group)));
  }
  return [...counts].map(([group, own]) => ({ ...group, ...own })).toSorted(byRequests);
}

const byRequests = (one: { readonly requests: number }, other: { readonly requests: number }): number =>
  other.requests - one.requests;

/** One token of a row. */
export type GroupToken = TokenUsage & { readonly state: MigrationState | null };

/** Reads the tokens of keys, at most 1000, those with the most requests first. @throws {AuditUnavailableError} */
export async function readGroupTokens(
  store: Pick<UsageReader, "clients" | "tokens">,
  keys: readonly (string | null)[],
  { quiet }: Pick<GroupOptions, "quiet">,
): Promise<GroupToken[]> {
  // Requests without a token have the key "" in queries.
  const accepted = keys.flatMap((key) => (key === null || key === "" || key === UNACCEPTED ? [] : key));
  const named = accepted.filter(isNamedKey);
  const single = accepted.filter((key) => !isNamedKey(key));
  const counted = single.length === 0 ? [] : await store.clients({ clients: single, limit: MAX_TOKENS_READ });
  const ofNamed: TokenUsage[] = [];
  // The queries run sequentially: a name has few applications, and each may have many tokens.
  for (const client of named) ofNamed.push(...(await store.tokens({ client })));
  const stateOf = (token: TokenUsage): MigrationState | null =>
    migrationStateOf({ ...token, client: token.fingerprint }, quiet);
  return [
    ...ofNamed.map((token) => ({ ...token, state: stateOf(token) })),
    ...counted.map((client) => ({ ...tokenOf(client), state: migrationStateOf(client, quiet) })),
  ]
    .toSorted(byRequests)
    .slice(0, MAX_TOKENS_READ);
}

/** Returns the token of a client that consists of one token. */
const tokenOf = ({
  client,
  userAgent,
  first,
  last,
  lastAlpha,
  lastNative,
  requests,
  native,
}: ClientUsage): TokenUsage => ({
  fingerprint: client ?? "",
  client: client ?? "",
  userAgent,
  first,
  last,
  lastAlpha,
  lastNative,
  requests,
  native,
});

/** The requests of one row to one route. */
interface GroupCall extends Pick<
  ClientGroup,
  "id" | "client" | "name" | "family" | "userAgent" | "state" | "requests" | "errors" | "lossy" | "last"
> {
  readonly route: string;
}

/** Maximum number of rows of the summaries that are read for the calls of groups. */
export const MAX_ROUTE_ROWS = 100_000;

/** The callers of alpha routes. */
interface GroupCalls {
  /** The calls with the most requests first. */
  readonly calls: readonly GroupCall[];
  /** The number of all calls, including omitted ones. */
  readonly total: number;
}

/** Whether a row shows that its route is in use. Rejected requests of unaccepted senders do not: scanners try every path. */
const isUse = ({ client, lane, route, status }: RouteUsage): boolean =>
  isClientApi({ lane }) && route !== null && (client !== UNACCEPTED || status < 400);

/** Adds up the requests of rows by group and route. */
function addGroupCalls(groups: readonly GroupWithState[], usage: readonly RouteUsage[]): GroupCall[] {
  const groupOf = indexGroups(groups);
  const used = usage.filter((row) => isUse(row) && groupOf(row.client) !== undefined);
  const byCall = Map.groupBy(used, ({ client, route }) => `${groupOf(client)?.client}\n${route}`);
  const calls = [...byCall.values()].flatMap((rows): GroupCall[] => {
    const [first] = rows;
    const group = first && groupOf(first.client);
    if (!group) return [];
    const { id, client, name, family, userAgent, state } = group;
    const sum = (countOf: (row: RouteUsage) => number): number =>
      rows.reduce((all, row) => all + countOf(row), 0);
    return [
      {
        id,
        client,
        name,
        family,
        userAgent,
        state,
        route: first.route ?? "",
        requests: sum(({ requests }) => requests),
        errors: sum(({ status, requests }) => (status >= 400 ? requests : 0)),
        lossy: sum(({ lossy }) => lossy),
        last: rows.reduce((last, row) => (row.last > last ? row.last : last), ""),
      },
    ];
  });
  return calls.toSorted(
    (one, other) =>
      byRequests(one, other) || one.id.localeCompare(other.id) || (one.route < other.route ? -1 : 1),
  );
}

/** Reads the callers of alpha routes, those with the most requests first. @throws {AuditUnavailableError} */
export async function readGroupCalls(
  store: Pick<UsageReader, "clients" | "usage">,
  { limit = MAX_USAGE_ROWS, ...query }: UsageQuery,
  options: GroupOptions,
): Promise<GroupCalls> {
  const groups = await readGroupsOfAllDays(store, query, options);
  const usage = await store.usage({ ...query, isClientApi: true, limit: MAX_ROUTE_ROWS });
  const calls = addGroupCalls(groups, usage);
  return { calls: calls.slice(0, limit), total: calls.length };
}
