import { HttpError } from "../dialect/http-error.ts";
import { isObject, printJson } from "../dialect/json/parse.ts";
import type { ReadAfterWrite } from "../mapping/compile/route-steps.ts";
import { buildResponse } from "./stages/build-response.ts";
import { aggregateList } from "./stages/aggregate-list.ts";
import { respondFromCatalog } from "./stages/respond-from-catalog.ts";
import { mergeResources } from "./stages/merge-resources.ts";
import { streamFile } from "./stages/stream-file.ts";
import { sendUpstreamRequest } from "./stages/send-upstream-request.ts";
import type { UpstreamResponse } from "./stages/call-upstream.ts";
import type { FileResponse } from "./context.ts";
import { fetchRelated } from "./stages/fetch-related.ts";
import { buildUpstreamRequest } from "./stages/build-request.ts";
import { applyTokenScopes } from "./stages/token-scopes.ts";
import { requestWithoutBody, type PreparedRequest, type RouteExecution } from "./route-context.ts";

/** The read after the call whose answer is the answer; undefined where it fails. */
async function followUp(
  { endpoint }: ReadAfterWrite,
  work: RouteExecution,
): Promise<UpstreamResponse | undefined> {
  const next = await work.call(requestWithoutBody(endpoint, work.match.parameters)).catch(() => undefined);
  return next?.success && isObject(next.json) ? next : undefined;
}

/** The call has happened, and what its answer is made of could not be read: what is known is said (translation 1.3). */
async function whatIsKnown(
  { fallbackBody }: ReadAfterWrite,
  called: UpstreamResponse,
  work: RouteExecution,
): Promise<string> {
  work.context.losses.add("the answer: v4 did not give it");
  const known = await fallbackBody(called.json, work.match.parameters);
  return printJson(isObject(known) ? known : {});
}

async function answered(
  answer: UpstreamResponse,
  prepared: PreparedRequest,
  work: RouteExecution,
): Promise<string | Buffer> {
  const { route } = work.match;
  // Asked now: v4 may have said with this very answer what the token may do.
  const shown = route.withoutScopes && (await work.lacksScopes()) ? route.withoutScopes : route;
  const besides = await fetchRelated(answer, prepared, work);
  const reading = { catalogs: work.catalogs, related: besides, sentBody: prepared.alpha };
  const body = await buildResponse(answer, shown, reading, work.translation);
  if (!route.tokenLevels) return body;
  return applyTokenScopes(
    body,
    route.tokenLevels,
    route.response === "list" ? route.list : undefined,
    work.levels,
  );
}

/**
 * Does what an admitted request asks for: request out, v4, answer back.
 *
 * @returns alpha's body of a success, as JSON text
 * @throws {HttpError} what alpha refuses, and what v4 refused
 */
export async function executeRoute(work: RouteExecution): Promise<string | Buffer | FileResponse> {
  const { route } = work.match;
  if ("error" in route.source) throw new HttpError(route.source.error.status, route.source.error.reason);
  if ("catalog" in route.source) return respondFromCatalog(route.source.catalog, work);
  if (route.upload || route.file) return streamFile(route.source.call, work);
  if (route.aggregation) return aggregateList(route.source.call, route.aggregation, work);
  const prepared = await buildUpstreamRequest(route.source.call, work);
  if (route.mergeParts.length > 0) return mergeResources(prepared, work);
  const called = await sendUpstreamRequest(prepared, work);
  if (!route.readAfterWrite) return answered(called, prepared, work);
  const next = await followUp(route.readAfterWrite, work);
  return next ? answered(next, prepared, work) : whatIsKnown(route.readAfterWrite, called, work);
}
