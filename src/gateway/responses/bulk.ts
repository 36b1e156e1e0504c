/** One request of the client for many ids: a call for each, whose results are one response. */
import pMap from "p-map";
import {
  type Bulk,
  fillShape,
  GATEWAY_TIMEOUT,
  HttpError,
  INVALID_VALUE,
  queryOf,
  REQUIRED,
  type Route,
  type ShapeValues,
  TOO_MANY_REQUESTS,
  ValidationError,
} from "../../pack/index.ts";
import { isExactNumber, parseJson, printJson } from "../../base/index.ts";
import { ExpressionError } from "../../jsonata/index.ts";
import { MAX_RESPONSE_BYTES } from "../upstream/client.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";
import type { AuthorizedRequest, ResponseKind } from "../pipeline/authorized-request.ts";
import { toErrorResult } from "./error-result.ts";
import type { PreparedRequest } from "../pipeline/prepared-request.ts";
import { buildUpstreamRequest } from "../pipeline/stages/build-request.ts";
import { objectKind } from "./object.ts";

/** An id as the client sent it, and its text. */
interface SentId {
  readonly sent: unknown;
  readonly text: string;
}

/** An error of one call. After one that is about the client the others are not sent. */
interface Failure {
  readonly error: unknown;
  readonly isAboutClient: boolean;
}

/** What became of the call of one id: its status and JSON of its object, if its response has one, or its error. */
type Outcome = { readonly object: string | undefined; readonly status: number } | Failure;

/** The results in the order of the ids. */
interface Gathered {
  readonly ids: readonly SentId[];
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/**
 * The result of an object for which there is no room, and of the ids after it: all objects together have at most as many
 * characters as the largest response of one call has bytes.
 */
const TOO_LARGE: Failure = {
  error: new UpstreamError("too_large", `the results have more than ${MAX_RESPONSE_BYTES} characters`),
  isAboutClient: false,
};
const UNAUTHORIZED = 401;

/** Stands for an id in the path that is built before all others. Every type of parameter has it, or no check. */
const ANY_ID = "0";

function bulkOf({ name, bulk }: Route): Bulk {
  if (!bulk) throw new Error(`${name} makes one call`);
  return bulk;
}

/** Reads the ids of a request. @throws {HttpError} 400 for too many, for none, and for what is no id */
async function readIds(authorized: AuthorizedRequest): Promise<readonly SentId[]> {
  const { match, readJson } = authorized;
  const { idsOf, field, most, readsBody } = bulkOf(match.route);
  const fail = (reason: string, rule?: string, cause?: Error): never => {
    const named = { ...(field !== undefined && { field }), ...(rule !== undefined && { rule }) };
    throw new ValidationError([{ reason, ...named, ...(cause && { cause }) }]);
  };
  let found: unknown;
  try {
    found = await idsOf(readsBody ? readJson().value : {}, queryOf(authorized));
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

/** The call of one id. Parameters of the query that were added to the first path are added to all. */
function prepareOne(
  prepared: PreparedRequest,
  values: Readonly<Record<string, string>>,
  { endpoint }: Bulk,
): PreparedRequest {
  const added = prepared.path.slice(endpoint.path(prepared.values).length);
  const all = { ...prepared.values, ...values };
  return { ...prepared, values: all, path: endpoint.path(all) + added };
}

/** Whether an error is about the client and not about one id: its token, or its rate limit. */
function isAboutClient(error: unknown, path: string, { upstream }: AuthorizedRequest): boolean {
  const { status } = upstream.activity.calls.findLast((call) => call.path === path) ?? {};
  const isOfGateway = error instanceof HttpError && error.rejection?.by === "limit";
  return status === UNAUTHORIZED || status === TOO_MANY_REQUESTS || isOfGateway;
}

/** Makes the call of one id, and translates its response. */
async function callOne(
  { text }: SentId,
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
  deadline: number,
): Promise<Outcome> {
  const { match, report } = authorized;
  const bulk = bulkOf(match.route);
  let path = "";
  // Headers of the response are not those of one of many responses.
  const ofOne = {
    ...report,
    upstreamHead: undefined,
    upstreamRateLimit: undefined,
    successStatus: undefined,
  };
  try {
    const values = await bulk.write(text);
    if (!values) throw new HttpError(404, "Not found");
    const one = prepareOne(prepared, values, bulk);
    ({ path } = one);
    const parameters = { ...match.parameters, ...values };
    const call = { ...authorized, match: { ...match, parameters }, report: ofOne, deadline };
    const received = await objectKind.callUpstream(one, call);
    const object = await objectKind.buildResponse(received, one, call);
    return {
      object: typeof object === "string" && match.route.response === "object" ? object : undefined,
      status: ofOne.successStatus ?? match.route.status,
    };
  } catch (error) {
    return { error, isAboutClient: path !== "" && isAboutClient(error, path, authorized) };
  } finally {
    report.upstreamRateLimit ??= ofOne.upstreamRateLimit;
  }
}

/**
 * Makes the calls, some at the same time. After an error that is about the client, when the time is up, and when the results
 * are too large, no further one is sent.
 *
 * @throws {HttpError} that error, if no call had another result; {UpstreamError} when the client is gone
 */
async function callAll(prepared: PreparedRequest, authorized: AuthorizedRequest): Promise<Gathered> {
  const { request, match } = authorized;
  const { concurrency, timeoutMs } = bulkOf(match.route);
  const ids = prepared.ids ?? [];
  const distinct = [...new Map(ids.map((id) => [id.text, id])).values()];
  const deadline = performance.now() + timeoutMs;
  let stop: Failure | undefined;
  let characters = 0;

  async function outcomeOf(id: SentId): Promise<readonly [string, Outcome]> {
    if (!stop && performance.now() >= deadline)
      stop = {
        error: new HttpError(GATEWAY_TIMEOUT, "There was no time left for this."),
        isAboutClient: false,
      };
    if (stop) return [id.text, stop];
    const outcome = await callOne(id, prepared, authorized, deadline);
    if (request.signal.aborted) throw new UpstreamError("client_aborted", "the client disconnected");
    if ("error" in outcome && outcome.isAboutClient) stop ??= outcome;
    if ("error" in outcome) return [id.text, outcome];
    characters += outcome.object?.length ?? 0;
    if (characters <= MAX_RESPONSE_BYTES) return [id.text, outcome];
    stop ??= TOO_LARGE;
    return [id.text, TOO_LARGE];
  }

  const outcomes = new Map(await pMap(distinct, outcomeOf, { concurrency }));
  const all = [...outcomes.values()];
  if (stop && all.every((each) => "error" in each && each.isAboutClient)) throw stop.error;
  return { ids, outcomes };
}

/** What a shape shows of one result. @throws an error that no one expects */
function valuesOf(outcome: Outcome, authorized: AuthorizedRequest): ShapeValues {
  const { request, match, report, services } = authorized;
  if ("object" in outcome) {
    const { object, status } = outcome;
    return { status, object: object === undefined ? undefined : parseJson(object) };
  }
  const context = {
    warnings: report.warnings,
    // The values of a path are the upstream's here.
    match: { route: match.route, parameters: {} },
    readsQuery: false,
  };
  const { status, writeBody, isUnexpected } = toErrorResult(
    outcome.error,
    request,
    context,
    services.translation,
  );
  if (isUnexpected) throw outcome.error;
  const body = writeBody();
  return { status, error: body === "" ? undefined : parseJson(body) };
}

/** One request for many ids. */
export const bulkKind: ResponseKind<Gathered> = {
  async buildRequest(authorized) {
    const { match } = authorized;
    const { parameter, endpoint } = bulkOf(match.route);
    const ids = await readIds(authorized);
    const parameters = { ...match.parameters, [parameter]: ANY_ID };
    const prepared = await buildUpstreamRequest({ ...authorized, match: { ...match, parameters } });
    return { ...prepared, ids, equivalent: `${endpoint.method} ${endpoint.describe(match.parameters)}` };
  },
  callUpstream: callAll,
  buildResponse({ ids, outcomes }, _prepared, authorized) {
    const { success, failure, list } = bulkOf(authorized.match.route);
    const shown = new Map([...outcomes].map(([text, outcome]) => [text, valuesOf(outcome, authorized)]));
    let failed = 0;
    const items = ids.map(({ sent, text }) => {
      const isFailed = "error" in (outcomes.get(text) ?? {});
      if (isFailed) failed += 1;
      return fillShape(isFailed ? failure : success, { id: sent, ...shown.get(text) }) ?? null;
    });
    const values = { items, failed, succeeded: items.length - failed };
    return Buffer.from(printJson(fillShape(list, values)));
  },
};
