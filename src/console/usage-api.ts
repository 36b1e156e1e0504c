import { Router } from "express";
import type { Request, RequestHandler, Response } from "express";
import {
  type AuditStore,
  type ClientDirectory,
  createMigrationJudge,
  type GroupOptions,
  type LossQuery,
  MAX_USAGE_ROWS,
  nameClients,
  nameOfUsage,
  rankLosses,
  readClientGroups,
  readGroupCalls,
  readGroupsOfAllDays,
  readGroupTokens,
  spansOf,
  usageKeysOf,
  type UsageQuery,
  readRouteQuery,
  readUsageQuery,
  type NamedClients,
  type OfClients,
  readNamedQuery,
  type ReadQuery,
} from "../audit/index.ts";
import { sendErrors } from "./responses.ts";

/** The names of clients, and the time after which they are quiet. */
export interface ClientOptions {
  readonly directory: () => ClientDirectory;
  readonly quietDays: number;
}

/**
 * Creates a handler of queries that may name a client. It responds with the problems of invalid parameters.
 *
 * @param read reads the parameters
 * @param handle is called with the query. Its result is sent as JSON. Undefined: it has already sent the response
 */
const handleNamedQuery =
  <Query extends Pick<UsageQuery, "client">>(
    named: () => NamedClients,
    read: (given: Readonly<Record<string, unknown>>) => ReadQuery<Query>,
    handle: (query: OfClients<Query>, request: Request, response: Response) => Promise<object | void>,
  ): RequestHandler =>
  async (request, response) => {
    const { query, problems } = await readNamedQuery(request.query, read, named());
    if (problems.length > 0) return sendErrors(response, 400, problems);
    const found = await handle(query, request, response);
    if (found !== undefined) response.json(found);
  };

/**
 * The counts of the console's charts and tables, from the summaries of the audit store:
 *
 *     GET /api/usage/clients   clients, with name, state, requests, errors, first and last call
 *     GET /api/usage/groups    the same counts, one row per name, application or family of user agents
 *     GET /api/usage/members   tokens of one such row
 *     GET /api/usage/calls     alpha routes of each such row
 *     GET /api/usage/routes    routes and statuses of each client
 *     GET /api/usage/days      alpha and native requests of each day
 *     GET /api/usage/sent      members, parameters and filter fields that clients sent
 *     GET /api/usage/losses    losses, with their counts and clients
 *     GET /api/usage/tokens    tokens of one client
 *     GET /api/usage/erasures  clients that were erased
 *
 * All except members, tokens and erasures accept `client` (its key, or `none`), `search`, `lane`, `since` and `until`.
 * `calls` and `losses` also accept `route`.
 */
export function createUsageApi(audit: AuditStore | undefined, clients: ClientOptions): Router {
  const router = Router({ caseSensitive: true });
  if (!audit)
    return router.use((_request, response) =>
      sendErrors(response, 404, "Auditing is off (AUDIT=off): nothing is counted."),
    );
  const named = (): NamedClients => ({ directory: clients.directory(), store: audit });
  const options = (): GroupOptions => ({
    directory: clients.directory(),
    quiet: { quietDays: clients.quietDays, now: Date.now() },
  });
  const of = (
    handle: (query: UsageQuery, request: Request, response: Response) => Promise<object | void>,
  ): RequestHandler => handleNamedQuery(named, readUsageQuery, handle);
  const ofRoute = (handle: (query: LossQuery) => Promise<object>): RequestHandler =>
    handleNamedQuery(named, readRouteQuery, handle);

  const handlers: Readonly<Record<string, RequestHandler>> = {
    "/clients": of(async (query) => ({ clients: await readClients(audit, query, options()) })),
    // A row may have thousands of keys. Its members are read when it is expanded.
    "/groups": of(async (query) => {
      const groups = await readClientGroups(audit, query, options());
      const rows = groups.slice(0, MAX_USAGE_ROWS).map(({ keys: _keys, ...group }) => group);
      return { groups: rows, total: groups.length };
    }),
    "/members": of(async (query, { query: { client = "" } }, response) => {
      if (client !== "") return { tokens: await readGroupTokens(audit, usageKeysOf(query) ?? [], options()) };
      const reason = "The tokens of one client are listed.";
      return sendErrors(response, 400, [{ reason, parameter: "client" }]);
    }),
    "/calls": ofRoute((query) => readGroupCalls(audit, query, options())),
    "/routes": of(async (query) => ({ routes: await audit.usage(query) })),
    "/days": of(async (query) => ({ days: await audit.days(query) })),
    "/sent": of(async (query) => ({ sent: await audit.sent(query) })),
    "/losses": ofRoute(async (query) => {
      const [losses, groups] = await Promise.all([
        audit.losses(query),
        readGroupsOfAllDays(audit, query, options()),
      ]);
      return { losses: rankLosses(losses, groups) };
    }),
    "/tokens": handleTokens(audit),
    "/erasures": async (_request, response) => void response.json({ erasures: await audit.erasures() }),
  };
  for (const [path, handler] of Object.entries(handlers)) router.get(path, handler);
  return router;
}

/** Reads the clients by their keys, each with its name and its state. */
async function readClients(audit: AuditStore, query: UsageQuery, { directory, quiet }: GroupOptions) {
  const counted = await audit.clients(query);
  const spans = await audit.spans(spansOf(query, quiet));
  const judge = createMigrationJudge(spans, nameClients(counted, directory), quiet);
  return counted.map((usage) => ({
    ...usage,
    name: nameOfUsage(directory, usage) ?? null,
    ...judge(usage),
  }));
}

const handleTokens =
  (audit: AuditStore): RequestHandler =>
  async (request, response) => {
    const { query, problems } = readUsageQuery(request.query);
    const { client, ...others } = query;
    const reason = "The tokens of one client are listed, without other parameters: client=application:ID.";
    if (problems.length > 0) return sendErrors(response, 400, problems);
    if (!client || Object.keys(others).length > 0)
      return sendErrors(response, 400, [{ reason, parameter: "client" }]);
    response.json({ tokens: await audit.tokens({ client }) });
  };
