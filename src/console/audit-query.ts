import type { Request, RequestHandler, Response } from "express";
import {
  ANONYMOUS,
  type AuditQuery,
  type ClientDirectory,
  isLookedUp,
  keysOf,
  type LossQuery,
  MAX_LIMIT,
  MAX_SEARCH_LENGTH,
  readCursor,
  searchClients,
  UNACCEPTED,
  type UsageQuery,
  type UsageReader,
} from "../audit/index.ts";
import { type Problem, sendErrors } from "./responses.ts";

const USAGE_PARAMETERS = new Set(["client", "lane", "since", "until"]);

/**
 * Parses the parameters of summaries: `client` (a key, or `none`), `lane`, `since` and `until`. Others are problems.
 *
 * @param parameters The names of all parameters.
 */
export function readUsageQuery(
  given: Readonly<Record<string, unknown>>,
  parameters: ReadonlySet<string> = USAGE_PARAMETERS,
): {
  query: UsageQuery;
  problems: readonly Problem[];
} {
  const { client } = given;
  const anonymous = client === ANONYMOUS;
  const { client: _none, ...others } = given;
  const { query, problems } = readAuditQuery(anonymous || client === UNACCEPTED ? others : given);
  const unknown = Object.keys(query).filter((name) => !parameters.has(name));
  const reason = `Use ${[...parameters].join(", ")}.`;
  return {
    query: { ...query, ...(anonymous && { client: null }), ...(client === UNACCEPTED && { client }) },
    problems: [...problems, ...unknown.map((parameter) => ({ reason, parameter }))],
  };
}

const ROUTE_PARAMETERS = new Set([...USAGE_PARAMETERS, "route"]);

/** Parses the parameters of losses and calls: those of summaries, and `route`. */
export const readRouteQuery = (
  given: Readonly<Record<string, unknown>>,
): { query: LossQuery; problems: readonly Problem[] } => readUsageQuery(given, ROUTE_PARAMETERS);

/** The clients whose names a filter may have, and where they are counted. */
export interface NamedClients {
  readonly directory: ClientDirectory;
  readonly store: Pick<UsageReader, "clients" | "tokens">;
}

/**
 * Reads parameters whose `client` may be a name of the client directory, or a family of user agents: it selects all keys of
 * them. `search` selects the keys of all clients that have the text.
 *
 * @param read Reads the parameters without a name.
 * @throws {AuditUnavailableError}
 */
export async function readNamedQuery<Query extends Pick<UsageQuery, "client">>(
  given: Readonly<Record<string, unknown>>,
  read: (given: Readonly<Record<string, unknown>>) => { query: Query; problems: readonly Problem[] },
  { directory, store }: NamedClients,
): Promise<{ query: Query & { readonly clients?: readonly string[] }; problems: readonly Problem[] }> {
  const { client, search = "", ...others } = given;
  const isName = typeof client === "string" && isLookedUp(directory, client);
  const { query, problems } = read(isName || client === undefined ? others : { client, ...others });
  if (typeof search !== "string" || search.length > MAX_SEARCH_LENGTH) {
    const reason = `Has to be a text of at most ${MAX_SEARCH_LENGTH} characters, once.`;
    return { query, problems: [...problems, { reason, parameter: "search" }] };
  }
  if (problems.length > 0 || (!isName && search === "")) return { query, problems };
  const counted = await store.clients({ limit: Number.MAX_SAFE_INTEGER });
  const ofName = isName ? keysOf(directory, client, counted) : undefined;
  if (search === "") return { query: { ...query, ...(ofName && { clients: ofName }) }, problems };
  const found = await searchClients(store, search, { directory, counted });
  return { query: { ...query, ...narrow(query, ofName, found) }, problems };
}

/** The common keys of a search and of the client that the query names. */
function narrow(
  { client }: Pick<UsageQuery, "client">,
  ofName: readonly string[] | undefined,
  found: readonly string[],
): { clients: readonly string[]; client?: undefined } {
  if (client === undefined && ofName === undefined) return { clients: found };
  const named = new Set<string | null | undefined>(ofName ?? [client]);
  return { clients: found.filter((key) => named.has(key)), client: undefined };
}

type Parameter = Exclude<keyof AuditQuery, "clients">;
/** Parses a parameter; returns `undefined` if the text is invalid. */
type ParseText = (text: string) => string | number | undefined;

const PARAMETERS: Readonly<Record<Parameter, { read: ParseText; expected: string }>> = {
  limit: { read: integerBetween(1, MAX_LIMIT), expected: `a number from 1 to ${MAX_LIMIT}` },
  before: { read: (text) => readCursor(text) && text, expected: "the `next` of the page before" },
  client: {
    read: parseMatching(/^(?:[0-9a-f]{16}|(?:application|label):.{1,256})$/u),
    expected:
      "a name of CLIENTS_FILE, a fingerprint (16 hexadecimal digits in lower case), application:ID, label:NAME, or agent:FAMILY",
  },
  lane: { read: parseMatching(/^(?:alpha|native|legacy)$/), expected: "alpha, native or legacy" },
  route: {
    read: parseMatching(/^(?:[A-Z]+ \/\S{0,500}|other)$/),
    expected: "a route of the pack, e.g. GET /vm/instances/:id",
  },
  status: { read: integerBetween(100, 599), expected: "a status, e.g. 404" },
  since: { read: parseMoment, expected: "a moment in ISO 8601 with its zone, e.g. 2026-01-31T12:00:00Z" },
  until: { read: parseMoment, expected: "a moment in ISO 8601 with its zone, e.g. 2026-01-31T12:00:00Z" },
};

/** A timestamp of RFC 3339, or a date, which means midnight in UTC. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Parses the parameters of `GET /api/audit`. Unknown ones are problems, too: a misspelt filter would match everything. Empty
 * ones (`client=`) are ignored.
 */
export function readAuditQuery(given: Readonly<Record<string, unknown>>): {
  query: AuditQuery;
  problems: readonly Problem[];
} {
  const query: Partial<Record<Parameter, string | number>> = {};
  const problems: Problem[] = [];
  for (const [parameter, text] of Object.entries(given)) {
    if (text === "") continue;
    if (!isParameter(parameter)) {
      problems.push({ reason: `Use ${Object.keys(PARAMETERS).join(", ")}.`, parameter });
      continue;
    }
    const { read, expected } = PARAMETERS[parameter];
    const value = typeof text === "string" ? read(text) : undefined;
    if (value === undefined) problems.push({ reason: `Has to be ${expected}, once.`, parameter });
    else query[parameter] = value;
  }
  return { query: query as AuditQuery, problems };
}

function isParameter(name: string): name is Parameter {
  return Object.hasOwn(PARAMETERS, name);
}

function integerBetween(least: number, greatest: number): ParseText {
  return (text) => {
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= greatest ? value : undefined;
  };
}

function parseMatching(pattern: RegExp): ParseText {
  return (text) => (pattern.test(text) ? text : undefined);
}

function parseMoment(text: string): string | undefined {
  const time = MOMENT.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** Whether a day exists. `Date.parse` accepts February 31 and returns a day in March. */
function isDay(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}

type Given = Readonly<Record<string, unknown>>;

/**
 * Creates a handler of a query whose client may be named. Problems of its parameters are the response.
 *
 * @param read Reads the parameters.
 * @param handle Is called with the query. Its result is sent as JSON. Undefined: it has sent the response itself
 */
export const handleNamedQuery =
  <Query extends Pick<UsageQuery, "client">>(
    named: () => NamedClients,
    read: (given: Given) => { query: Query; problems: readonly Problem[] },
    handle: (
      query: Query & { readonly clients?: readonly string[] },
      request: Request,
      response: Response,
    ) => Promise<object | void>,
  ): RequestHandler =>
  async (request, response) => {
    const { query, problems } = await readNamedQuery(request.query, read, named());
    if (problems.length > 0) return sendErrors(response, 400, problems);
    const found = await handle(query, request, response);
    if (found !== undefined) response.json(found);
  };
