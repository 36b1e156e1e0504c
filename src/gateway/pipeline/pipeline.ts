import type { TokenLocks } from "../auth/token-locks.ts";
import { parseQuery } from "../../pack/index.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import type { AuthorizedRequest, TranslationServices } from "../request/authorized-request.ts";
import { continueTrace } from "../../base/index.ts";
import type { AuthenticatedClient, ClientToken } from "../request/client.ts";
import type { RequestContext, RouteMatch } from "../request/context.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import type { HandlerResult } from "../request/response.ts";
import { UpstreamActivity } from "../calls/instrument-call.ts";
import { type AlphaHandler, type LifecycleDependencies, withLifecycle } from "./lifecycle.ts";
import { addPassed, commonHeadersOf, type PassedRequest, toSuccess } from "../responses/passed-headers.ts";
import { addParameters } from "../calls/prepared-request.ts";
import { askPlan, findTokenCheck, learnToken } from "./prove-token.ts";
import { createResponseCache, type ResponseCache } from "../calls/response-cache.ts";
import { createBodyShaper } from "../responses/shape-bodies.ts";
import { RESPONSE_KINDS } from "../responses/kinds.ts";
import { readCatalogsWithToken } from "../stages/build-request.ts";
import { authenticate, createCredentialsReader } from "../stages/authenticate.ts";
import { authorize } from "../stages/authorize.ts";
import { resolveToken, type TokenDependencies } from "../stages/resolve-token.ts";
import { firstCandidate, matchRoute, translateQuery, withRequestValues } from "../stages/match-route.ts";
import { selectRoute } from "../stages/select-route.ts";
import { enforcePlan, findIssuer } from "../stages/enforce-plan.ts";
import { consumeRateLimit, rejectLimited } from "../stages/rate-limit.ts";
import { parseOnUse, readBody } from "../stages/read-body.ts";
import { type CallDependencies, type CallerRequest, UpstreamCaller } from "../calls/upstream-call.ts";
import { equivalentOf } from "../calls/upstream-equivalent.ts";
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

export interface PipelineDependencies extends LifecycleDependencies, Omit<CallDependencies, "responseCache"> {
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

/** A request on its way through the stages, and the parts that all requests of a pack share. */
type Run = ReturnType<typeof prepare> & { readonly request: AlphaRequest; readonly context: RequestContext };

/** Creates the alpha pipeline: all stages of a request, in order. The audit is the end of each lifecycle. */
export function createAlphaPipeline(options: PipelineDependencies): AlphaHandler {
  const prepared = prepare(options);
  return withLifecycle(
    (request, context) => runPipeline({ ...prepared, request, context }),
    prepared.dependencies,
  );
}

/**
 * Translates the query parameters that the pack names, and finds the values of the route's paths.
 *
 * @throws {HttpError} 400 and 404 for values that are missing or invalid
 */
async function translateParameters(
  selected: RouteMatch,
  { query, readJson }: NonNullable<RequestContext["sent"]>,
  { request, context }: Run,
) {
  const { route } = selected;
  const { time } = context;
  context.readsQuery = true;
  const parameters = await translateQuery(selected, { request, query, time }, readJson);
  const fields = route.chooseMembers?.(query);
  context.readsQuery = !route.body && route.bulk?.readsBody !== true;
  context.ignoredParameters = parameters.ignored;
  const match = await withRequestValues(selected, parameters, { request, time }, readJson);
  const isSingleOrList = route.kind === "object" || route.kind === "list";
  const headers = match.route.headers?.request?.(request.headers, isSingleOrList);
  const passed = { request, match, readJson, query: parameters.query, time, headers };
  return { passed, fields, upstreamQuery: parameters.upstream };
}

type Head = Awaited<ReturnType<typeof decideByHead>>;
type Selection = Awaited<ReturnType<typeof selectByBody>>;

/** Opens the calls of a request to v4. @throws {HttpError} 400 for a header that is missing or invalid */
function openCalls(
  passed: PassedRequest & Pick<AuthorizedRequest, "match">,
  { client, token, creditAddress }: Head,
  { dependencies, context }: Run,
): AuthorizedRequest {
  const { request, match, readJson, query, time } = passed;
  const traceparent = continueTrace(header(request, "traceparent"));
  context.upstream = new UpstreamActivity(context.warnings, context.span?.call, traceparent);
  const headers = commonHeadersOf(match.route.headers, passed);
  const call = { request, match, client: client.credentials, token };
  const caller = { ...call, query, headers, readJson, time, report: context };
  const upstream = new UpstreamCaller({ ...call, headers, creditAddress }, dependencies, context.upstream);
  return { ...caller, upstream, services: dependencies };
}

/** Runs all stages, in order. */
async function runPipeline(run: Run): Promise<HandlerResult> {
  const head = await decideByHead(run);
  const selection = await selectByBody(run, head);
  return callAndRespond(run, head, selection);
}

async function decideByHead({ dependencies, readCredentials, check, request, context }: Run) {
  const { pack, limits, plan, tokens, tokenStore } = dependencies;
  const { stageTimes } = context;

  // Authenticate: parse the credentials and look up the token in the cache.
  const given = (context.client = await authenticate(request, readCredentials, tokens));
  stageTimes.authenticate = performance.now();

  // Match the route. There are several candidates if the body selects one.
  const candidates = pack.checkVersion?.(request.headers) ?? matchRoute(request, pack);
  context.match = firstCandidate(candidates);
  stageTimes.matchRoute = performance.now();

  // Enforce the rate limit and the plan, which may have asked v4 about the token.
  const { status, creditAddress: credit } = await consumeRateLimit(request, given, context.match, limits);
  context.rateLimitStatus = status;
  rejectLimited(status);
  const issuer = plan.isActive() ? await findIssuer(given.credentials, tokenStore) : undefined;
  if (issuer !== "unknown") context.application = issuer;
  const proof = { check, creditAddress: credit, isExclusive: true, dependencies };
  let client = given;
  // The record has the result of the check, even if the plan then fails.
  const learn = async () => (context.client = client = await learnToken(request, given, proof));
  context.planned = await askPlan(request, context, plan, issuer, learn);
  enforcePlan(context.planned, plan);
  const creditAddress = client === given ? credit : undefined;
  stageTimes.rateLimit = performance.now();

  // Authorize each candidate. From now on, this request may hold the lock of its token.
  const token = (context.token = await resolveToken(client, candidates, dependencies));
  const verdicts = authorize(client.credentials, token, candidates, pack.scopes);
  stageTimes.authorize = performance.now();
  return { client, token, verdicts, creditAddress };
}

async function selectByBody(run: Run, { client, token, verdicts }: Head) {
  const { dependencies, request, context } = run;
  // Read the body, which may select a candidate. All earlier decisions only depend on the request head.
  const bytes = await readBody(request, verdicts, client.credentials.hash, token.isAccepted);
  if (bytes) context.body = { bytes };
  const readJson = parseOnUse(request, bytes, dependencies.pack);
  const query = parseQuery(request.query);
  const selected = await selectRoute(verdicts, readJson, { request, query, time: context.time });
  context.match = selected;
  context.sent = { query, readJson };
  return translateParameters(selected, context.sent, run);
}

async function callAndRespond(run: Run, head: Head, { passed, fields, upstreamQuery }: Selection) {
  const { dependencies, shapeBodies, request, context } = run;
  const { client, token, creditAddress } = head;
  const { route } = passed.match;
  const kind = RESPONSE_KINDS[route.kind];

  // Build the v4 request. Catalogs are only read with accepted tokens.
  const checkToken = () => dependencies.checkToken?.(request, client, creditAddress);
  await readCatalogsWithToken(passed.match, token, checkToken, dependencies);
  const authorized = openCalls(passed, head, run);
  const built = addParameters(await kind.buildRequest(authorized), upstreamQuery);
  const prepared = addPassed(built, route.headers, passed, context);
  context.upstreamEquivalent = prepared.equivalent ?? `${prepared.method} ${prepared.path}`;
  context.upstreamFilter = prepared.filter;

  // Call v4, including the calls before and after the main call. Build the response.
  const received = await kind.callUpstream(prepared, authorized);
  const body = await kind.buildResponse(received, prepared, authorized);
  context.stageTimes.buildResponse = performance.now();
  const hasCalled = authorized.upstream.activity.calls.length > 0;
  if (dependencies.countsClients && isUnproven(token) && !hasCalled) void checkToken();
  const bodies = await shapeBodies(route, body, fields, context);
  return toSuccess(request, route, bodies, context, dependencies.style);
}
