/** Everything that is collected about a request while it is processed. */
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

/** The body of a request: the result of reading it. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /** Its members, where it was read as a form. */
  readonly form?: SentBody["form"];
}

/** Collected while a request or a response is translated. */
export interface TranslationReport {
  readonly losses: Set<string>;
  readonly warnings: string[];
}

/** When a request left a stage, by `performance.now()`; 0: it has not reached the end of this stage. */
export interface StageTimes {
  authenticate: number;
  matchRoute: number;
  rateLimit: number;
  authorize: number;
  buildResponse: number;
}

/** Collected while a list is translated. */
export interface ListReport {
  /** The client's filter, once it was parsed. */
  sentFilter: Filter | undefined;
}

/** Collected from v4's responses: what alpha's response lost, and headers of the response. */
export interface ResponseReport extends TranslationReport, ListReport {
  /** v4's own rate limit, as far as its headers have it, if v4 rejected the request. */
  upstreamRateLimit: Partial<RateLimitValues> | undefined;
  /** Headers of a list about its page. */
  listHeaders: Readonly<Record<string, string>> | undefined;
  /** The status of a success that is not that of the route; undefined: it is. */
  successStatus: number | undefined;
  /** v4's response, on a route whose responses have headers that are made of it. */
  upstreamHead: Pick<UpstreamResponse, "status" | "headers" | "json"> | undefined;
  /** What expressions of such headers know; undefined until the call is built. */
  scope: Scope | undefined;
}

/** The results of the stages, for the response's headers, the audit record, the metrics and the log. */
interface StageResults {
  client: AuthenticatedClient | undefined;
  /** Several routes may share a path: the first of them, until the body has selected one. */
  match: RouteMatch | undefined;
  rateLimitStatus: RateLimitStatus | undefined;
  token: ClientToken | undefined;
  /** The plan's decision about the request, if one of its stages applies. */
  planned: PlanVerdict | undefined;
  /** Fields that the response lacks because of the plan, if it lacks some. */
  hiddenFields: readonly string[] | undefined;
  body: ReceivedBody | undefined;
  /** The parameters of the query, and the body that is parsed when it is needed; undefined before authorization. */
  sent: { readonly query: Query; readonly readJson: ReadJson } | undefined;
  /** Query parameters without effect, since the pack does not name them. */
  ignoredParameters: readonly string[];
  /** Whether a validation error is now about the query and not about the body. */
  readsQuery: boolean;
  /** Method and path of the v4 call that the response is built from. */
  upstreamEquivalent: string | undefined;
  /** The filter of that call, as it is sent in a header. */
  upstreamFilter: string | undefined;
  /** The calls to v4; undefined before the first one. */
  upstream: UpstreamActivity | undefined;
}

/**
 * All that is known about one request. The functions that compose stages write it, and the lifecycle reads it at the
 * end. Stages get their input and return their result; of the context they only see a report or an activity to add to.
 */
export interface RequestContext extends StageResults, ResponseReport {
  readonly startedAt: number;
  /** When its response was complete; undefined before. */
  endedAt: number | undefined;
  readonly time: Date;
  readonly stageTimes: StageTimes;
  /** Undefined without tracing. */
  readonly span: RequestSpan | undefined;
  /** Name in the audit and the metrics, where the request is not for a route of the pack. */
  route: string | undefined;
  /**
   * Whether it is for a page that the gateway has for clients, or a check of a token. It is no call of the client's API: it
   * is recorded without its response, and is counted in no summary.
   */
  isOwnPage: boolean;
  /** The application of a call to the login server, as far as the request has its id. */
  application: ApplicationId | undefined;
  /** Why the gateway rejected the request, where such rejections are counted. */
  rejectedBy: Rejection["by"] | undefined;
}

/** The OAuth client id that a request has. */
export interface ApplicationId {
  readonly id: string;
  /** Whether the login server has accepted its secret, or has issued the token to it. Anybody can send an id. */
  readonly isProven: boolean;
}

/**
 * Creates the context of one request, with all its members: contexts then share one hidden class.
 *
 * @param startedAt by `performance.now()`
 */
export const createContext = (
  startedAt = performance.now(),
  span?: RequestSpan,
  time = new Date(),
): RequestContext => ({
  startedAt,
  endedAt: undefined,
  time,
  stageTimes: { authenticate: 0, matchRoute: 0, rateLimit: 0, authorize: 0, buildResponse: 0 },
  span,
  route: undefined,
  isOwnPage: false,
  application: undefined,
  client: undefined,
  match: undefined,
  rateLimitStatus: undefined,
  token: undefined,
  planned: undefined,
  hiddenFields: undefined,
  body: undefined,
  sent: undefined,
  ignoredParameters: [],
  readsQuery: false,
  upstreamEquivalent: undefined,
  upstreamFilter: undefined,
  upstream: undefined,
  losses: new Set(),
  warnings: [],
  rejectedBy: undefined,
  upstreamRateLimit: undefined,
  listHeaders: undefined,
  sentFilter: undefined,
  upstreamHead: undefined,
  scope: undefined,
  successStatus: undefined,
});

/** The known facts about the token of a request: by authorization, or before it by authentication. */
export const tokenInfoOf = ({
  token,
  client,
}: Pick<RequestContext, "token" | "client">): TokenInfo | undefined =>
  token ? token.info : client?.tokenInfo;

/** The known facts about the sender of a request, and whether its application is proven. */
export function identityOf(
  request: Pick<AlphaRequest, "label" | "headers">,
  { client, token, application }: Pick<RequestContext, "client" | "token" | "application">,
): ClientIdentity & { readonly isProven: boolean } {
  const hash = client?.credentials.hash;
  const issued = token?.resolved.issued;
  const issuedTo = typeof issued === "object" ? issued.application : undefined;
  return {
    label: request.label,
    application: issuedTo ?? application?.id,
    isProven: issuedTo !== undefined || application?.isProven === true,
    fingerprint: hash === undefined ? undefined : fingerprint(hash),
    // Not a getter: V8 puts those of plain objects among its old objects, and the request stays with it.
    userAgent: request.headers["user-agent"]?.[0],
  };
}

/**
 * The known facts about the sender, with an application only if it is proven: anybody can send the id of one in a
 * call to the login server.
 */
export function provenIdentity(
  request: Pick<AlphaRequest, "label" | "headers">,
  context: Pick<RequestContext, "client" | "token" | "application">,
): ClientIdentity {
  const identity = identityOf(request, context);
  return identity.isProven ? identity : Object.assign(identity, { application: undefined });
}

/**
 * Calls a function with the milliseconds of each stage that a request has reached, in order, without the audit.
 * `build_request` ends when the first v4 call starts. `build_response` is all time after that which is not spent waiting
 * for v4.
 */
export function forEachStage(
  { stageTimes, upstream, startedAt }: Pick<RequestContext, "stageTimes" | "upstream" | "startedAt">,
  observe: (stage: string, ms: number) => void,
): void {
  const { authenticate, matchRoute, rateLimit, authorize, buildResponse } = stageTimes;
  const { upstreamMs = 0, firstCallAt = 0 } = upstream ?? {};
  // Calls to the login server belong to no stage.
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
