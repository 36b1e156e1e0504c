import { Router } from "express";
import type { Request, Response } from "express";
import {
  type AuditStore,
  cameBackOn,
  type ClientDirectory,
  type GroupOptions,
  groupSpans,
  isPauseLonger,
  MAX_USAGE_ROWS,
  migrationStateOf,
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
} from "../audit/index.ts";
import { sendErrors } from "./responses.ts";
import { readNamedQuery, readRouteQuery, readUsageQuery, type NamedClients } from "./audit-query.ts";

/** The names of clients, and when one counts as quiet. */
export interface ClientOptions {
  readonly directory: () => ClientDirectory;
  readonly quietDays: number;
}

type Reader = (query: UsageQuery) => Promise<readonly unknown[]>;

/**
 * The counts of the console's charts and tables, from the summaries of the audit store:
 *
 *     GET /api/usage/clients   clients, with name, state, requests, errors, first and last call
 *     GET /api/usage/groups    the same as rows: one for each name, application, or family of user agents
 *     GET /api/usage/members   tokens of one such row
 *     GET /api/usage/calls     alpha routes of each such row
 *     GET /api/usage/routes    routes and statuses of each client
 *     GET /api/usage/days      alpha and native requests of each day
 *     GET /api/usage/sent      members, parameters and filter fields that clients sent
 *     GET /api/usage/losses    what was lost, how often, and for whom
 *     GET /api/usage/tokens    tokens of one client
 *     GET /api/usage/erasures  clients that were erased
 *
 * All but members, tokens and erasures take `client` (its key, or `none`), `search`, `lane`, `since` and `until`, and calls and
 * losses also `route`.
 */
export function createUsageApi(audit: AuditStore | undefined, clients: ClientOptions): Router {
  const router = Router({ caseSensitive: true });
  if (!audit) {
    router.get(["/groups", "/members", "/calls"], sendAuditOff);
    router.get(
      ["/clients", "/routes", "/days", "/sent", "/losses", "/impact", "/tokens", "/erasures"],
      sendAuditOff,
    );
    return router;
  }
  const named = (): NamedClients => ({ directory: clients.directory(), store: audit });
  router.get(
    "/clients",
    handleUsage(
      "clients",
      async (query) => {
        const quiet = { quietDays: clients.quietDays, now: Date.now() };
        const counted = await audit.clients(query);
        const named = nameClients(counted, clients.directory());
        const spans = groupSpans(await audit.spans(spansOf(query, quiet)), named);
        return counted.map((usage) => {
          const state = migrationStateOf(usage, quiet);
          return {
            ...usage,
            name: nameOfUsage(clients.directory(), usage) ?? null,
            state,
            cameBack: cameBackOn(spans(usage.client), state, quiet),
            isPauseLonger: isPauseLonger(usage, quiet),
          };
        });
      },
      named,
    ),
  );
  addGroupRoutes(router, audit, clients);
  router.get("/routes", handleUsage("routes", audit.usage, named));
  router.get("/days", handleUsage("days", audit.days, named));
  router.get("/sent", handleUsage("sent", audit.sent, named));
  router.get("/losses", async (request, response) => {
    const { query, problems } = await readNamedQuery(request.query, readRouteQuery, named());
    if (problems.length > 0) return sendErrors(response, 400, problems);
    const options = {
      directory: clients.directory(),
      quiet: { quietDays: clients.quietDays, now: Date.now() },
    };
    const [losses, groups] = await Promise.all([
      audit.losses(query),
      readGroupsOfAllDays(audit, query, options),
    ]);
    response.json({ losses: rankLosses(losses, groups) });
  });
  router.get("/tokens", handleTokens(audit));
  router.get("/erasures", async (_request, response) => {
    response.json({ erasures: await audit.erasures() });
  });
  return router;
}

/** The rows of the console's tables. A row is selected by its `id`, in any query. */
function addGroupRoutes(router: Router, audit: AuditStore, { directory, quietDays }: ClientOptions): void {
  const options = (): GroupOptions => ({
    directory: directory(),
    quiet: { quietDays, now: Date.now() },
  });
  const named = (): NamedClients => ({ directory: directory(), store: audit });

  router.get("/groups", async (request, response) => {
    const { query, problems } = await readNamedQuery(request.query, readUsageQuery, named());
    if (problems.length > 0) return sendErrors(response, 400, problems);
    const groups = await readClientGroups(audit, query, options());
    // The keys of a row may be thousands. Its members are read when it is opened.
    const rows = groups.slice(0, MAX_USAGE_ROWS).map(({ keys: _keys, ...group }) => group);
    response.json({ groups: rows, total: groups.length });
  });

  router.get("/members", async (request, response) => {
    const { client } = request.query;
    const { query, problems } = await readNamedQuery(request.query, readUsageQuery, named());
    if (problems.length > 0) return sendErrors(response, 400, problems);
    if (client === undefined || client === "")
      return sendErrors(response, 400, [
        { reason: "The tokens of one client are listed.", parameter: "client" },
      ]);
    const keys = usageKeysOf(query) ?? [];
    response.json({ tokens: await readGroupTokens(audit, keys, options()) });
  });

  router.get("/calls", async (request, response) => {
    const { query, problems } = await readNamedQuery(request.query, readRouteQuery, named());
    if (problems.length > 0) return sendErrors(response, 400, problems);
    response.json(await readGroupCalls(audit, query, options()));
  });
}

const sendAuditOff = (_request: Request, response: Response): void =>
  sendErrors(response, 404, "Auditing is off (AUDIT=off): nothing is counted.");

const handleUsage =
  (name: string, read: Reader, named: () => NamedClients) => async (request: Request, response: Response) => {
    const { query, problems } = await readNamedQuery(request.query, readUsageQuery, named());
    if (problems.length > 0) return sendErrors(response, 400, problems);
    response.json({ [name]: await read(query) });
  };

const handleTokens = (audit: AuditStore) => async (request: Request, response: Response) => {
  const { query, problems } = readUsageQuery(request.query);
  const { client, ...others } = query;
  const reason = "The tokens of one client are listed, without other parameters: client=application:ID.";
  if (problems.length > 0) return sendErrors(response, 400, problems);
  if (!client || Object.keys(others).length > 0)
    return sendErrors(response, 400, [{ reason, parameter: "client" }]);
  response.json({ tokens: await audit.tokens({ client }) });
};
