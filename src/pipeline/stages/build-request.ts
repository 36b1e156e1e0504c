import { parseJson } from "../../dialect/json/parse.ts";
import { translateFilter } from "../../dialect/filter/translate.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { Endpoint } from "../../mapping/compile/endpoint.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import type { Route } from "../../mapping/compile/route.ts";
import { buildResponse, throwTranslatedError } from "./build-response.ts";
import { resolveFilterBoundaries } from "./resolve-filter-boundaries.ts";
import { fetchPrerequisites } from "./fetch-prerequisites.ts";
import { translateBody, type FetchCurrent } from "./translate-body.ts";
import { requestedFilter, requestedPage } from "./translate-query.ts";
import { requestWithoutBody, type PreparedRequest, type RouteExecution } from "../route-context.ts";

const EVERYTHING = { conditions: [] };

/** A list: the page asked for, always of alpha's size, so that page N is page N and totals are exact (lesson L25). */
async function listOut(endpoint: Endpoint, work: RouteExecution): Promise<PreparedRequest> {
  const { request, match: target, pack, catalogs } = work;
  const { dialect, grammar } = pack;
  const page = requestedPage(request, dialect.page);
  const query = `?${dialect.page}=${page}&${dialect.v4.page_size.parameter}=${dialect.alpha.page_size}`;
  const filter = requestedFilter(request, grammar) ?? EVERYTHING;
  const call = requestWithoutBody(endpoint, target.parameters);
  const fields = await resolveFilterBoundaries(filter, target.route.filterFields(catalogs), call, work);
  return {
    ...call,
    path: call.path + query,
    filter: translateFilter(filter, fields, grammar, target.route.where),
  };
}

/** What the route that shows this object answers now; undefined where v4 won't say. */
function shownBy(route: Route | undefined, work: RouteExecution): FetchCurrent {
  if (!route || !("call" in route.source)) return undefined;
  const endpoint = route.source.call;
  return async (must) => {
    const sent = requestWithoutBody(endpoint, work.match.parameters);
    const answer = await work.call(sent);
    if (!answer.success && must) throwTranslatedError(answer, route, sent, work.translation, work.context);
    const reading = { catalogs: work.catalogs, related: {} };
    if (!answer.success) return undefined;
    return parseJson(String(await buildResponse(answer, route, reading, work.translation))) as JsonObject;
  };
}

/** A call that takes no body, after what is read before it. */
async function bareOut(endpoint: Endpoint, work: RouteExecution): Promise<PreparedRequest> {
  const first = await fetchPrerequisites({}, [], work);
  const faults = [...first.faults, ...(await first.check({}))];
  if (faults.length > 0) throw new HttpError(400, faults);
  return requestWithoutBody(endpoint, { ...work.match.parameters, ...first.values });
}

/** A call with a body. An edit that leaves nothing to write becomes the read of the same object. */
async function writeOut(endpoint: Endpoint, work: RouteExecution): Promise<PreparedRequest> {
  const { sent, match: target, pack } = work;
  const { body: rules, readRoute: shownName } = target.route;
  if (!rules) return bareOut(endpoint, work);
  const shows = shownName === undefined ? undefined : pack.route(shownName);
  const written = await translateBody(sent(), rules, work, shownBy(shows, work));
  if (written.empty && shows && "call" in shows.source) {
    return requestWithoutBody(shows.source.call, target.parameters);
  }
  const { v4: body, prerequisites: first } = written;
  const { added, alpha, sent: isSent } = written;
  return {
    ...requestWithoutBody(endpoint, { ...target.parameters, ...first }),
    body,
    gatewayFields: added,
    clientSent: isSent,
    alpha,
  };
}

/**
 * Brings a request to v4: its page and filter, or its body.
 *
 * @throws {HttpError} 400 for what alpha refuses, and for what v4 can't say
 */
export async function buildUpstreamRequest(
  endpoint: Endpoint,
  work: RouteExecution,
): Promise<PreparedRequest> {
  if (endpoint.method !== "GET") return writeOut(endpoint, work);
  return work.match.route.response === "list"
    ? listOut(endpoint, work)
    : requestWithoutBody(endpoint, work.match.parameters);
}
