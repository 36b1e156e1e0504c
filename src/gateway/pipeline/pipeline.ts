import type { TokenLocks } from "../auth/token-locks.ts";
import { type Pack, parseQuery, type Scopes } from "../../pack/index.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import type { AuthorizedRequest, TranslationServices } from "../request/authorized-request.ts";
import { continueTrace } from "../../base/index.ts";
import type { AuthenticatedClient, ClientToken } from "../request/client.ts";
import type { RequestContext } from "../request/context.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import type { HandlerResult } from "../request/response.ts";
import { createUpstreamActivity } from "../calls/instrument-call.ts";
import { type AlphaHandler, type LifecycleDependencies, withLifecycle } from "./lifecycle.ts";
import { addPassed, commonHeadersOf, toSuccess } from "../responses/passed-headers.ts";
import { addParameters } from "../calls/prepared-request.ts";
import { createPlanSender, findTokenCheck } from "./prove-token.ts";
import { createResponseCache, type ResponseCache } from "../calls/response-cache.ts";
import { createBodyShaper } from "../responses/shape-bodies.ts";
import { RESPONSE_KINDS } from "../responses/kinds.ts";
import { readCatalogsWithToken } from "../stages/build-request.ts";
import { authenticate, createCredentialsReader } from "../stages/authenticate.ts";
import { authorize } from "../stages/authorize.ts";
import { resolveToken, type TokenDependencies } from "../stages/resolve-token.ts";
import { firstCandidate, matchRoute, translateQuery, withRequestValues } from "../stages/match-route.ts";
import { selectRoute } from "../stages/select-route.ts";
import { askPlan, enforcePlan, findIssuer } from "../stages/enforce-plan.ts";
import { consumeRateLimit, rejectLimited } from "../stages/rate-limit.ts";
import { parseOnUse, readBody } from "../stages/read-body.ts";
import { type CallDependencies, type CallerRequest, UpstreamCaller } from "../calls/upstream-call.ts";
import { equivalentOf } from "../calls/upstream-equivalent.ts";
import type { TranslationConfig } from "../calls/upstream-response.ts";
import type { PlanRules } from "../request/plan.ts";

/**
 * Checks the token of a request. Returns the promise of the check in progress, which does not reject.
 *
 * @param creditAddress refunds the request that was counted against the address, if v4 accepts the token
 */
export type CheckToken = (
  request: AlphaRequest,
  client: AuthenticatedClient,
  creditAddress: CallerRequest["creditAddress"],
) => Promise<void> | undefined;

export interface PipelineDependencies
  extends LifecycleDependencies, Omit<CallDependencies, "responseCache" | "translation"> {
  readonly pack: Pack;
  readonly scopes: Scopes;
  readonly translation: TranslationConfig;
  readonly catalogs: CatalogCache;
  readonly limits: RateLimits;
  readonly plan: PlanRules;
  readonly tokenLocks: TokenLocks;
  /** Tokens that the gateway issued. */
  readonly tokenStore: TokenDependencies["tokenStore"] & TranslationServices["tokenStore"];
  /** Cached v4 responses. Default: a new cache. */
  readonly responseCache?: ResponseCache;
  /** Scheme of the native proxy, if it is on. */
  readonly nativeScheme?: string | undefined;
  /** Checks tokens with v4 that no call has proven, such as tokens for catalogs. Undefined: v4 is not called. */
  readonly checkToken?: CheckToken | undefined;
  /** Whether these tokens are checked after each response, so that the senders of requests are known. */
  readonly countsClients?: boolean | undefined;
}

/** Whether there is a token that v4 has not accepted yet. */
const isUnproven = ({ resolved, isAccepted }: ClientToken): boolean =>
  !isAccepted && resolved.credentials.hash !== undefined;

/** Prepares the parts that all requests of a pack share. */
function prepare(options: PipelineDependencies) {
  const { pack } = options;
  return {
    dependencies: {
      ...options,
      responseCache: options.responseCache ?? createResponseCache(),
      equivalentOf: (request: AlphaRequest, { match }: Pick<RequestContext, "match">) =>
        equivalentOf(request, match, pack),
    },
    readCredentials: createCredentialsReader({
      credentials: pack.credentials,
      nativeScheme: options.nativeScheme,
      upstreamTokens: options.upstreamTokens,
    }),
    /** The call that shows whether v4 accepts a token. */
    check: findTokenCheck(pack),
    shapeBodies: createBodyShaper(pack, options.plan),
  };
}

/** Creates the alpha pipeline: all stages of a request, in order. The audit is the end of each lifecycle. */
export function createAlphaPipeline(options: PipelineDependencies): AlphaHandler {
  const prepared = prepare(options);
  return withLifecycle((request, context) => runPipeline(prepared, request, context), prepared.dependencies);
}

/** Runs all stages, in order. */
async function runPipeline(
  { dependencies, readCredentials, check, shapeBodies }: ReturnType<typeof prepare>,
  request: AlphaRequest,
  context: RequestContext,
): Promise<HandlerResult> {
  const { pack, limits, plan, tokens, scopes, countsClients } = dependencies;
  const { stageTimes, warnings, span, time } = context;

  // Authenticate: parse the credentials and look up the token in the cache.
  const given = (context.client = await authenticate(request, readCredentials, tokens));
  stageTimes.authenticate = performance.now();

  // Match the route. There are several candidates if the body selects one.
  const candidates = pack.checkVersion?.(request.headers) ?? matchRoute(request, pack);
  context.match = firstCandidate(candidates);
  stageTimes.matchRoute = performance.now();

  // Enforce the rate limit and the plan.
  const { status, creditAddress: credit } = await consumeRateLimit(request, given, context.match, limits);
  context.rateLimitStatus = status;
  rejectLimited(status);
  const issuer = plan.isActive() ? await findIssuer(given.credentials, dependencies.tokenStore) : undefined;
  if (issuer !== "unknown") context.application = issuer;
  const sender = createPlanSender(request, context, { client: given, issuer, check, credit }, dependencies);
  context.planned = await askPlan(context.match, plan, sender);
  enforcePlan(context.planned, plan);
  const { client } = context;
  const creditAddress = client === given ? credit : undefined;
  stageTimes.rateLimit = performance.now();

  // Authorize each candidate. From now on, this request may hold the lock of its token.
  const token = (context.token = await resolveToken(client, candidates, dependencies));
  const verdicts = authorize(given.credentials, token, candidates, scopes);
  stageTimes.authorize = performance.now();

  // Read the body, which may select a candidate. All earlier decisions only depend on the request head.
  const bytes = await readBody(request, verdicts, given.credentials.hash, token.isAccepted);
  if (bytes) context.body = { bytes };
  const readJson = parseOnUse(request, bytes, pack);
  const query = parseQuery(request.query);
  const selected = (context.match = await selectRoute(verdicts, readJson, { request, query, time }));

  // Translate the query parameters that the pack names.
  context.sent = { query, readJson };
  context.readsQuery = true;
  const parameters = await translateQuery(selected, { request, query, time }, readJson);
  const chosen = selected.route.sparseFields?.choose(query);
  context.readsQuery = !selected.route.body && selected.route.bulk?.readsBody !== true;
  context.ignoredParameters = parameters.ignored;
  const match = await withRequestValues(selected, parameters, { request, time }, readJson);
  const { headers: rules, kind: name } = match.route;
  const headers = rules?.request?.(request.headers, name === "object" || name === "list");
  const passed = { request, match, readJson, query: parameters.query, time, headers };

  // Build the v4 request. Catalogs are only read with accepted tokens.
  const checkToken = () => dependencies.checkToken?.(request, client, creditAddress);
  await readCatalogsWithToken(match, token, checkToken, dependencies);
  const traceparent = continueTrace(header(request, "traceparent"));
  context.upstream = createUpstreamActivity(warnings, span?.call, traceparent);
  const call = { request, match, client: given.credentials, token, creditAddress };
  const caller = { ...call, query: parameters.query, headers: commonHeadersOf(rules, passed) };
  const upstream = new UpstreamCaller(caller, dependencies, context.upstream);
  const services: TranslationServices = dependencies;
  const authorized: AuthorizedRequest = { ...caller, readJson, upstream, services, time, report: context };
  const kind = RESPONSE_KINDS[match.route.kind];
  const built = addParameters(await kind.buildRequest(authorized), parameters.upstream);
  const prepared = addPassed(built, rules, passed, context);
  context.upstreamEquivalent = prepared.equivalent ?? `${prepared.method} ${prepared.path}`;
  context.upstreamFilter = prepared.filter;

  // Call v4, including the calls before and after the main call. Build the response.
  const received = await kind.callUpstream(prepared, authorized);
  const body = await kind.buildResponse(received, prepared, authorized);
  stageTimes.buildResponse = performance.now();
  if (countsClients && isUnproven(token) && upstream.activity.calls.length === 0) void checkToken();
  const bodies = await shapeBodies(match.route, body, chosen, context);
  return toSuccess(request, match.route, bodies, context, dependencies.style);
}
