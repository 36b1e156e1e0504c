import type { Pack, Query } from "../../pack/index.ts";
import type { TokenCache } from "../auth/token-cache.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { MaybePromise } from "../../jsonata/index.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import type { ResponseReport, RouteMatch } from "./context.ts";
import type { ResponseBody } from "./response.ts";
import type { ResponseCache } from "../calls/response-cache.ts";
import type { ReadJson } from "./request.ts";
import type { PreparedRequest } from "../calls/prepared-request.ts";
import type { CallerRequest, UpstreamCaller } from "../calls/upstream-call.ts";

/** The configuration of translations, the same for all requests of a pack. */
export interface TranslationServices {
  readonly pack: Pack;
  /** The address before the path in absolute links, and the prefix of cursors: see `ResponseDefaults`. */
  readonly style: { readonly linkBase: string; readonly cursorMark: string };
  readonly catalogs: CatalogCache;
  readonly responseCache: ResponseCache;
  readonly tokens: Pick<TokenCache, "get">;
  readonly tokenStore: Pick<TokenStore, "requireRoom" | "save" | "saveLevels" | "findLevels" | "forget">;
}

/** A request that may use its route, and its calls to v4. */
export interface AuthorizedRequest extends Omit<CallerRequest, "creditAddress"> {
  readonly match: RouteMatch;
  readonly readJson: ReadJson;
  /** The parameters of the client's query. */
  readonly query: Query;
  readonly upstream: UpstreamCaller;
  readonly services: TranslationServices;
  /** The time of the request. */
  readonly time: Date;
  readonly report: ResponseReport;
  /** When polling must end, by `performance.now()`. Default: as each route defines. */
  readonly deadline?: number;
}

/**
 * How routes of one kind build the v4 request, call v4 and build alpha's response. The kind of a route is decided
 * when the pack is loaded.
 */
export interface ResponseKind<Received> {
  /** Builds the v4 request. @throws {HttpError} 400 if the request breaks a rule of alpha, or can't be expressed in v4 */
  buildRequest(authorized: AuthorizedRequest): MaybePromise<PreparedRequest>;
  /** Calls v4. @throws {HttpError} v4's error, translated */
  callUpstream(prepared: PreparedRequest, authorized: AuthorizedRequest): MaybePromise<Received>;
  /** Builds alpha's response. @throws {InvalidUpstreamResponseError} if v4's response does not match the route */
  buildResponse(
    received: Received,
    prepared: PreparedRequest,
    authorized: AuthorizedRequest,
  ): MaybePromise<ResponseBody>;
}
