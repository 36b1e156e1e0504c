/** The data that is collected about a request while it is processed. */
import type {
  Filter,
  Parameters,
  Query,
  RateLimitValues,
  Rejection,
  Route,
  Scope,
} from "../../pack/index.ts";
import type { ClientIdentity, SentBody } from "../../audit/index.ts";
import type { RequestSpan } from "../../base/index.ts";
import type { RateLimitStatus } from "../limits/limiter.ts";
import { fingerprint, type TokenInfo } from "../auth/token-cache.ts";
import type { UpstreamActivity } from "../calls/instrument-call.ts";
import type { UpstreamResponse } from "../calls/upstream-response.ts";
import type { ClientToken, AuthenticatedClient } from "./client.ts";
import type { ReadJson, AlphaRequest } from "./request.ts";
import type { PlanVerdict } from "./plan.ts";

/** The route of a request and the values in its path. */
export interface RouteMatch {
  readonly route: Route;
  readonly parameters: Parameters;
}

/** The OAuth client id in a request. */
export interface ApplicationId {
  readonly id: string;
  /** Whether the login server accepted the application's secret, or issued the token to it. Any client can send an id. */
  readonly isProven: boolean;
}

/** Data that stages and response kinds collect for the response's headers and the record. */
export class ResponseReport {
  readonly losses: Set<string>;
  readonly warnings: string[];
  /** The filter of a list, after it was parsed. */
  sentFilter: Filter | undefined;
  /** v4's own rate limit, if its headers contain it and v4 rejected the request. */
  upstreamRateLimit: Partial<RateLimitValues> | undefined;
  /** Headers of a list that describe its page. */
  listHeaders: Readonly<Record<string, string>> | undefined;
  /** The status of a successful response, if it differs from the route's. */
  successStatus: number | undefined;
  /** v4's response, on a route whose response headers depend on it. */
  upstreamHead: Pick<UpstreamResponse, "status" | "headers" | "json"> | undefined;
  /** The variables for the expressions of such headers. Undefined until the call is built. */
  scope: Scope | undefined;

  constructor(losses = new Set<string>(), warnings: string[] = []) {
    this.losses = losses;
    this.warnings = warnings;
  }
}

/**
 * All facts about one request. The functions that compose stages write it, and the lifecycle reads it at the end.
 * Stages receive their input and return their result. They only access the context through a report or an activity that
 * they add to.
 */
export class RequestContext extends ResponseReport {
  readonly startedAt: number;
  /** The span of the request; undefined if tracing is off. */
  readonly span: RequestSpan | undefined;
  readonly time: Date;
  /** The time when the response was complete. Undefined before. */
  endedAt: number | undefined;
  /** The times when the request left each stage, by `performance.now()`. 0 if it has not left it. */
  readonly stageTimes = { authenticate: 0, matchRoute: 0, rateLimit: 0, authorize: 0, buildResponse: 0 };
  /** The name in the audit and the metrics, for a request that matches no route of the pack. */
  route: string | undefined;
  /**
   * Whether the request is for a page of the gateway, or a check of a token. It is not a call of the client's API, so
   * it is recorded without its response, and not included in summaries.
   */
  isOwnPage = false;
  /** The application in a call to the login server, if the request contains it. */
  application: ApplicationId | undefined;
  client: AuthenticatedClient | undefined;
  /** The route. If several routes share a path, the first of them until the body selects one. */
  match: RouteMatch | undefined;
  rateLimitStatus: RateLimitStatus | undefined;
  token: ClientToken | undefined;
  /** The plan's decision about the request, if a stage of the plan applies. */
  planned: PlanVerdict | undefined;
  /** Fields that the plan removes from the response. */
  hiddenFields: readonly string[] | undefined;
  /** The body as bytes, and the form's members if it was read as a form. */
  body: { readonly bytes: Buffer; readonly form?: SentBody["form"] } | undefined;
  /** The parameters of the query, and the body, which is parsed on first use. Undefined before authorization. */
  sent: { readonly query: Query; readonly readJson: ReadJson } | undefined;
  /** Query parameters without effect, because the pack does not define them. */
  ignoredParameters: readonly string[] = [];
  /** Whether validation errors are currently about the query instead of the body. */
  readsQuery = false;
  /** Method and path of the v4 call that provides the response. */
  upstreamEquivalent: string | undefined;
  /** The filter of that call, as sent in a header. */
  upstreamFilter: string | undefined;
  /** The calls to v4; undefined before the first one. */
  upstream: UpstreamActivity | undefined;
  /** The reason why the gateway rejected the request, for rejections that are counted. */
  rejectedBy: Rejection["by"] | undefined;

  constructor(startedAt = performance.now(), span?: RequestSpan, time = new Date()) {
    super();
    this.startedAt = startedAt;
    this.span = span;
    this.time = time;
  }
}

/** Returns the known facts about the token of a request: from authorization, or from authentication before that. */
export const tokenInfoOf = ({
  token,
  client,
}: Pick<RequestContext, "token" | "client">): TokenInfo | undefined =>
  token ? token.info : client?.tokenInfo;

/** Returns the application of a request: the one to which its token was issued, otherwise the one that the request names. */
export function applicationOf({
  token,
  application,
}: Pick<RequestContext, "token" | "application">): ApplicationId | undefined {
  const issued = token?.resolved.issued;
  const issuedTo = typeof issued === "object" ? issued.application : undefined;
  return issuedTo === undefined ? application : { id: issuedTo, isProven: true };
}

/**
 * Returns the known facts about the sender. They only include an application if it is proven, because any client can
 * send an application's id in a call to the login server.
 */
export function provenIdentity(
  request: Pick<AlphaRequest, "label" | "headers">,
  context: Pick<RequestContext, "client" | "token" | "application">,
): ClientIdentity {
  const hash = context.client?.credentials.hash;
  const application = applicationOf(context);
  return {
    label: request.label,
    application: application?.isProven ? application.id : undefined,
    fingerprint: hash === undefined ? undefined : fingerprint(hash),
    // Not a getter: V8 moves getters of plain objects to the old space, and they would keep the request alive.
    userAgent: request.headers["user-agent"]?.[0],
  };
}

/**
 * Calls a function with the milliseconds of each stage that a request has reached, in order, without the audit.
 * `build_request` ends when the first v4 call starts. `build_response` is the later time, except for waiting for v4.
 */
export function forEachStage(
  { stageTimes, upstream, startedAt }: Pick<RequestContext, "stageTimes" | "upstream" | "startedAt">,
  observe: (stage: string, ms: number) => void,
): void {
  const { authenticate, matchRoute, rateLimit, authorize, buildResponse } = stageTimes;
  const { upstreamMs = 0, firstCallAt = 0 } = upstream ?? {};
  // Calls to the login server do not belong to any stage.
  const buildRequest = authorize > 0 ? firstCallAt : 0;
  if (authenticate > 0) observe("authenticate", authenticate - startedAt);
  if (matchRoute > 0) observe("match_route", matchRoute - authenticate);
  if (rateLimit > 0) observe("rate_limit", rateLimit - matchRoute);
  if (authorize > 0) observe("authorize", authorize - rateLimit);
  if (buildRequest > 0) observe("build_request", buildRequest - authorize);
  if (upstreamMs > 0) observe("upstream", upstreamMs);
  if (buildResponse > 0) {
    const builtFrom = buildRequest > 0 ? buildRequest + upstreamMs : authorize;
    observe("build_response", buildResponse - builtFrom);
  }
}
