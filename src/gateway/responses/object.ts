import type { ReadContext, Route } from "../../pack/index.ts";
import type { AuthorizedRequest, ResponseKind } from "../pipeline/authorized-request.ts";
import { currentGrants, hasNoScopes } from "../pipeline/stages/authorize.ts";
import { buildUpstreamRequest } from "../pipeline/stages/build-request.ts";
import { callUpstream, type UpstreamResult } from "../pipeline/stages/call-upstream.ts";
import type { PreparedRequest } from "../pipeline/prepared-request.ts";
import type { UpstreamResponse } from "../pipeline/upstream-response.ts";
import { applyTokenScopes, beforeTokenCall } from "./token-scopes.ts";
import { translateList, translateObject } from "./translate-response.ts";

type Translate = (response: UpstreamResponse, route: Route, reading: ReadContext) => Promise<string | Buffer>;

/** A token without scopes gets less of some objects. v4 may have said so with this very response. */
async function routeForToken({ match, token, services }: AuthorizedRequest): Promise<Route> {
  const { route } = match;
  if (!route.withoutScopes) return route;
  const grants = await currentGrants(token.resolved, services.tokens);
  return grants !== undefined && hasNoScopes(grants) ? route.withoutScopes : route;
}

/** Builds a response by a translation of v4's. */
const buildWith =
  (translate: Translate) =>
  async (
    { response, related, fallback }: UpstreamResult,
    { alpha: sentBody }: PreparedRequest,
    authorized: AuthorizedRequest,
  ): Promise<string | Buffer> => {
    if (fallback !== undefined) return fallback;
    const { services, report } = authorized;
    const route = await routeForToken(authorized);
    const reading = {
      client: authorized,
      catalogs: services.catalogs,
      related,
      response,
      sentBody,
      lost: report.losses,
    };
    const body = await translate(response, route, reading);
    return route.tokenLevels && !route.tokenLevels.deleted
      ? applyTokenScopes(body, route.tokenLevels, authorized)
      : body;
  };

function callForObject(prepared: PreparedRequest, authorized: AuthorizedRequest): Promise<UpstreamResult> {
  const { tokenLevels } = authorized.match.route;
  return tokenLevels ? callForToken(tokenLevels, prepared, authorized) : callUpstream(prepared, authorized);
}

async function callForToken(
  tokenLevels: NonNullable<Route["tokenLevels"]>,
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<UpstreamResult> {
  const afterCall = await beforeTokenCall(tokenLevels, authorized);
  const result = await callUpstream(prepared, authorized);
  await afterCall();
  return result;
}

/** An object, or nothing: one v4 call, whose object is translated. */
export const objectKind: ResponseKind<UpstreamResult> = {
  buildRequest: buildUpstreamRequest,
  callUpstream: callForObject,
  buildResponse: buildWith(translateObject),
};

/** A page of a list: one v4 call, whose rows are translated. */
export const listKind: ResponseKind<UpstreamResult> = {
  buildRequest: buildUpstreamRequest,
  callUpstream,
  buildResponse: buildWith(translateList),
};
