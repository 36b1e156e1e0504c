/** One client request for many ids: one call for each or for some of them, whose results form one response. */
import { fillResult, fillShape, GATEWAY_TIMEOUT, HttpError, type ShapeValues } from "../../../pack/index.ts";
import { parseJson, printJson } from "../../../base/index.ts";
import { MAX_RESPONSE_BYTES } from "../../upstream/client.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import type { AuthorizedRequest, ResponseKind } from "../../request/authorized-request.ts";
import { toErrorResult } from "../error-result.ts";
import type { PreparedRequest } from "../../calls/prepared-request.ts";
import { buildUpstreamRequest } from "../../stages/build-request.ts";
import { bulkOf, type Failure, makeCall, type Outcome, readIds, type SentId } from "./make-call.ts";
import pMap from "p-map";

/** The results in the order of the ids. */
interface Gathered {
  readonly ids: readonly SentId[];
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/**
 * The result of an object that exceeds the limit, and of the ids after it: the total number of characters of all
 * objects is limited to the number of bytes of the largest response.
 */
const TOO_LARGE: Failure = {
  error: new UpstreamError("too_large", `the results have more than ${MAX_RESPONSE_BYTES} characters`),
  isAboutClient: false,
};

/** Replaces the id in the path that is built first. It is valid for every type of parameter, or not checked. */
const ANY_ID = "0";

/**
 * Makes the calls, some of them concurrently. No further call is sent after an error that is about the client, after
 * the time limit, or after the results became too large.
 *
 * @throws {HttpError} that error, and one of `whole_errors` if no call had a different result; {UpstreamError} if the
 *   client has disconnected
 */
async function callAll(prepared: PreparedRequest, authorized: AuthorizedRequest): Promise<Gathered> {
  const { request, match } = authorized;
  const { concurrency, timeoutMs, chunk, wholeErrors } = bulkOf(match.route);
  const ids = prepared.ids ?? [];
  const distinct = [...new Map(ids.map((id) => [id.text, id])).values()];
  const size = chunk?.size ?? 1;
  const chunks = Array.from({ length: Math.ceil(distinct.length / size) }, (_, index) =>
    distinct.slice(index * size, (index + 1) * size),
  );
  const deadline = performance.now() + timeoutMs;
  let stop: Failure | undefined;
  let characters = 0;

  /** Returns the final outcome. If all objects together are too large, it is that error. */
  function judge(outcome: Outcome): Outcome {
    if ("error" in outcome) {
      if (outcome.isAboutClient) stop ??= outcome;
      return outcome;
    }
    characters += outcome.object?.length ?? 0;
    if (characters <= MAX_RESPONSE_BYTES) return outcome;
    stop ??= TOO_LARGE;
    return TOO_LARGE;
  }

  async function outcomesOf(some: readonly SentId[]): Promise<readonly (readonly [string, Outcome])[]> {
    if (!stop && performance.now() >= deadline)
      stop = {
        error: new HttpError(GATEWAY_TIMEOUT, "There was no time left for this."),
        isAboutClient: false,
      };
    const stopped = stop;
    if (stopped) return some.map(({ text }) => [text, stopped]);
    const outcomes = await makeCall(some, prepared, authorized, deadline);
    if (request.signal.aborted) throw new UpstreamError("client_aborted", "the client disconnected");
    return [...outcomes].map(([text, outcome]) => [text, judge(outcome)]);
  }

  const outcomes = new Map((await pMap(chunks, outcomesOf, { concurrency })).flat());
  const all = [...outcomes.values()];
  if (stop && all.every((each) => "error" in each && each.isAboutClient)) throw stop.error;
  const called = all.filter((each) => !("error" in each && each.isInvalidId));
  const [first] = called;
  const isOfWhole = first && "error" in first && first.status !== undefined && wholeErrors.has(first.status);
  if (isOfWhole && called.every((each) => "error" in each && each.status === first.status)) throw first.error;
  return { ids, outcomes };
}

/** Returns the result of one call in the client's shape. @throws an unexpected error */
function valuesOf(outcome: Outcome, authorized: AuthorizedRequest): ShapeValues {
  const { request, match, report, services } = authorized;
  if ("object" in outcome) {
    const { object, status } = outcome;
    return { status, object: object === undefined ? undefined : parseJson(object) };
  }
  const context = {
    warnings: report.warnings,
    // The values of a path are already the upstream's.
    match: { route: match.route, parameters: {} },
    readsQuery: false,
  };
  const { status, writeBody, isUnexpected } = toErrorResult(outcome.error, request, context, services.pack);
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
    const [successes, failures]: [unknown[], unknown[]] = [[], []];
    const items = ids.map(({ sent, text }) => {
      const isFailed = "error" in (outcomes.get(text) ?? {});
      const values = { id: sent, ...shown.get(text) };
      const item = fillResult(isFailed ? failure : success, values, text) ?? null;
      (isFailed ? failures : successes).push(item);
      return item;
    });
    const counts = { failed: failures.length, succeeded: successes.length };
    return Buffer.from(printJson(fillShape(list, { items, successes, failures, ...counts })));
  },
};
