/** A call of a request for many ids: for one id, or for the ids of a chunk. */
import {
  type Bulk,
  type BulkChunk,
  HttpError,
  INVALID_VALUE,
  type JsonObject,
  objectPath,
  type Parameters,
  REQUIRED,
  type Route,
  type RoutedRequest,
  TOO_MANY_REQUESTS,
  ValidationError,
  valueAt,
} from "../../../pack/index.ts";
import { cursorAt, fromJsonText, isExactNumber, printJson, readRaw } from "../../../base/index.ts";
import type { AuthorizedRequest } from "../../request/authorized-request.ts";
import { ResponseReport } from "../../request/context.ts";
import type { PreparedRequest } from "../../calls/prepared-request.ts";
import type { UpstreamResult } from "../../stages/call-after.ts";
import { openListBody } from "../../calls/upstream-response.ts";
import { readingOf } from "../../calls/request-scope.ts";
import { objectKind } from "../object.ts";
import { ExpressionError } from "../../../jsonata/index.ts";

/** An error of one call. After an error that is about the client, the remaining calls are not sent. */
export interface Failure {
  readonly error: unknown;
  readonly isAboutClient: boolean;
  /** The upstream's status; undefined if it did not respond. */
  readonly status?: number | undefined;
  /** Whether the id is invalid, so that no call was sent for it. */
  readonly isInvalidId?: boolean;
}

/** The outcome for one id: its status and the JSON of its object, if the response contains one, or its error. */
export type Outcome = { readonly object: string | undefined; readonly status: number } | Failure;

/** Outcomes by the texts of ids. */
type Outcomes = Map<string, Outcome>;

const UNAUTHORIZED = 401;

/** Prepares a call for an id in the path. Query parameters that were added to the first path are added to all paths. */
function prepareCall(
  prepared: PreparedRequest,
  values: Readonly<Record<string, string>>,
  { endpoint }: Bulk,
): PreparedRequest {
  const added = prepared.path.slice(endpoint.path(prepared.values).length);
  const all = { ...prepared.values, ...values };
  return { ...prepared, values: all, path: endpoint.path(all) + added };
}

/** Prepares a call for several ids, which are in its path or in its body. */
function prepareChunk(
  prepared: PreparedRequest,
  ids: readonly string[],
  { addIds }: BulkChunk,
  bulk: Bulk,
): PreparedRequest {
  if (!addIds) return prepareCall(prepared, { [bulk.parameter]: ids.join(",") }, bulk);
  const { body = {} } = prepared;
  return Array.isArray(body) ? prepared : { ...prepared, body: addIds(body as JsonObject, ids) };
}

/** Returns the failure of a call, which may be about the client instead of one id: about its token, or its rate limit. */
function failureOf(error: unknown, path: string, { upstream }: AuthorizedRequest): Failure {
  const { status } = upstream.activity.calls.findLast((call) => call.path === path) ?? {};
  const isOfGateway = error instanceof HttpError && error.rejection?.by === "limit";
  const isAboutClient = status === UNAUTHORIZED || status === TOO_MANY_REQUESTS || isOfGateway;
  return { error, isAboutClient, ...(typeof status === "number" && { status }) };
}

/** Returns the upstream's values of ids. An invalid id already has its outcome. */
async function writeIds(
  ids: readonly SentId[],
  { write }: Bulk,
  outcomes: Outcomes,
): Promise<ReadonlyMap<string, Parameters>> {
  const written = new Map<string, Parameters>();
  for (const { text } of ids)
    try {
      const values = await write(text);
      if (!values) throw new HttpError(404, "Not found");
      written.set(text, values);
    } catch (error) {
      outcomes.set(text, { error, isAboutClient: false, isInvalidId: true });
    }
  return written;
}

/** Translates the objects of a list, and finds the id of each of them. */
async function readObjects(
  result: UpstreamResult,
  written: ReadonlyMap<string, Parameters>,
  { idOf }: BulkChunk,
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
  outcomes: Outcomes,
): Promise<void> {
  const { route } = authorized.match;
  const { parameter } = bulkOf(route);
  const { lists, status, read, resource } = route;
  const path = objectPath(lists.envelope.upstream.item ?? "$object", resource.upstreamName);
  const rows = openListBody(result.response, lists.parseList, readRaw, undefined).items;
  const objects = new Map(
    rows.map((row) => {
      const object = valueAt(fromJsonText(row), path);
      return [idOf(object), object] as const;
    }),
  );
  const reading = readingOf(result, prepared, authorized);
  for (const [text, values] of written) {
    const object = objects.get(values[parameter]);
    try {
      if (object === undefined) throw new HttpError(404, "Not found");
      outcomes.set(text, { object: await read(cursorAt(printJson(object)), reading), status });
    } catch (error) {
      outcomes.set(text, { error, isAboutClient: false });
    }
  }
}

/** Makes one call, and translates its response. @param ids one id, or the ids of a chunk */
export async function makeCall(
  ids: readonly SentId[],
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
  deadline: number,
): Promise<Outcomes> {
  const { match, report } = authorized;
  const { route } = match;
  const bulk = bulkOf(route);
  const { chunk } = bulk;
  const outcomes: Outcomes = new Map();
  const written = await writeIds(ids, bulk, outcomes);
  if (written.size === 0) return outcomes;
  let path = "";
  // A header of one of many responses is not a header of the whole response.
  const ofCall = new ResponseReport(report.losses, report.warnings);
  try {
    const texts = [...written.values()].map((values) => values[bulk.parameter] ?? "");
    const [values = {}] = written.values();
    const one = chunk ? prepareChunk(prepared, texts, chunk, bulk) : prepareCall(prepared, values, bulk);
    ({ path } = one);
    const parameters = chunk ? match.parameters : { ...match.parameters, ...values };
    const call = { ...authorized, match: { ...match, parameters }, report: ofCall, deadline };
    const result = await objectKind.callUpstream(one, call);
    if (chunk && route.response === "object") await readObjects(result, written, chunk, one, call, outcomes);
    else {
      const object = chunk ? undefined : await objectKind.buildResponse(result, one, call);
      const isShown = typeof object === "string" && route.response === "object";
      const status = ofCall.successStatus ?? route.status;
      for (const text of written.keys()) outcomes.set(text, { object: isShown ? object : undefined, status });
    }
  } catch (error) {
    const failure = path === "" ? { error, isAboutClient: false } : failureOf(error, path, authorized);
    for (const text of written.keys()) outcomes.set(text, failure);
  } finally {
    report.upstreamRateLimit ??= ofCall.upstreamRateLimit;
  }
  return outcomes;
}

/** An id as the client sent it, and its text. */
export interface SentId {
  readonly sent: unknown;
  readonly text: string;
}

/** Returns the keys of a route for many ids. */
export function bulkOf({ name, bulk }: Route): Bulk {
  if (!bulk) throw new Error(`${name} makes one call`);
  return bulk;
}

/** The parts of a request that contain its ids. */
type BulkRequest = RoutedRequest & Pick<AuthorizedRequest, "match" | "readJson">;

/** Reads the ids of a request. @throws {HttpError} 400 for too many ids, for none, and for an invalid value */
export async function readIds(request: BulkRequest): Promise<readonly SentId[]> {
  const { match, readJson } = request;
  const { idsOf, field, most, readsBody } = bulkOf(match.route);
  const fail = (reason: string, rule?: string, cause?: Error): never => {
    const named = { ...(field !== undefined && { field }), ...(rule !== undefined && { rule }) };
    throw new ValidationError([{ reason, ...named, ...(cause && { cause }) }]);
  };
  let found: unknown;
  try {
    const body = readsBody ? readJson().value : {};
    found = await idsOf(body, { head: request, body, calls: {} });
  } catch (error) {
    if (error instanceof ExpressionError) return fail(INVALID_VALUE, undefined, error);
    throw error;
  }
  if (found === undefined || found === null) return fail(REQUIRED, "required");
  const ids: readonly unknown[] = [found].flat();
  if (ids.length === 0) return fail("Must be at least 1 value.", "minItems");
  if (ids.length > most) return fail(`Must be at most ${most} values.`, "maxItems");
  return ids.map((sent): SentId => {
    if (isExactNumber(sent)) return { sent, text: sent.rawJSON };
    return typeof sent === "string" || typeof sent === "number"
      ? { sent, text: String(sent) }
      : fail(INVALID_VALUE, "type");
  });
}

/** Finds the ids of a request that have no upstream value, so that no call is sent for them. @throws see `readIds` */
export async function findInvalidIds(request: BulkRequest): Promise<readonly string[]> {
  const outcomes: Outcomes = new Map();
  const { bulk } = request.match.route;
  if (bulk) await writeIds(await readIds(request), bulk, outcomes);
  return [...outcomes.keys()];
}
