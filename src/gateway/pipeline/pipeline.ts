import type { TokenLocks } from "../auth/token-locks.ts";
import { type ChosenMembers, type Pack, parseQuery, type Route, type Scopes } from "../../pack/index.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import type { AuthorizedRequest, TranslationServices } from "./authorized-request.ts";
import { continueTrace } from "../../base/index.ts";
import type { CheckToken } from "./check-tokens.ts";
import { createFieldHider } from "../responses/hide-fields.ts";
import { keepFields } from "../responses/keep-fields.ts";
import { provenIdentity, type RequestContext } from "./context.ts";
import type { ResponseBody } from "./response.ts";
import { header, type AlphaRequest } from "./request.ts";
import { createUpstreamActivity } from "./calls/instrument-call.ts";
import { withLifecycle, type AlphaHandler, type LifecycleDependencies } from "./lifecycle.ts";
import { addPassed, commonHeadersOf, toSuccess, type SuccessBodies } from "../responses/passed-headers.ts";
import { addParameters } from "./calls/prepared-request.ts";
import { findTokenCheck, learnToken } from "./prove-token.ts";
import { createResponseCache, type ResponseCache } from "../responses/response-cache.ts";
import { writeText } from "../responses/write-text.ts";
import { RESPONSE_KINDS } from "../responses/kinds.ts";
import { readCatalogsWithToken } from "./stages/build-request.ts";
import { authenticate, createCredentialsReader } from "./stages/authenticate.ts";
import { authorize } from "./stages/authorize.ts";
import { resolveToken, type TokenDependencies } from "./stages/resolve-token.ts";
import { selectRoute } from "./stages/select-route.ts";
import type { ClientToken, AuthenticatedClient } from "./client.ts";
import { firstCandidate, matchRoute, translateQuery, withRequestValues } from "./stages/match-route.ts";
import { askPlan, enforcePlan, findIssuer, type PlanSender } from "./stages/enforce-plan.ts";
import { consumeRateLimit, rejectLimited } from "./stages/rate-limit.ts";
import { parseOnUse, readBody } from "./stages/read-body.ts";
import { UpstreamCaller, type CallDependencies, type CallerRequest } from "./calls/upstream-call.ts";
import { equivalentOf } from "./calls/upstream-equivalent.ts";
import type { TranslationConfig } from "./calls/upstream-response.ts";
import type { PlanRules } from "./plan.ts";

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
  /** v4 responses that are cached. Default: a cache of its own. */
  readonly responseCache?: ResponseCache;
  /** Scheme of the native proxy, where that is on. */
  readonly nativeScheme?: string | undefined;
  /** Asks v4 about tokens that no call has shown to it, as those of catalogs; undefined: nobody does. */
  readonly checkToken?: CheckToken | undefined;
  /** Whether v4 is asked about them after each response, so that it is known whose requests they are. */
  readonly countsClients?: boolean | undefined;
}

/** Whether a body is JSON text, and not a file or nothing. */
const isText = (body: ResponseBody): body is string | Buffer =>
  body !== "" && (typeof body === "string" || Buffer.isBuffer(body));

/** Whether there is a token, and nothing shows that v4 accepts it. */
const isUnproven = ({ resolved, isAccepted }: ClientToken): boolean =>
  !isAccepted && resolved.credentials.hash !== undefined;

/** Creates the alpha pipeline: all stages of a request, in order. The audit is the end of each lifecycle. */
export function createAlphaPipeline(options: PipelineDependencies): AlphaHandler {
  const dependencies = {
    ...options,
    responseCache: options.responseCache ?? createResponseCache(),
    equivalentOf: (request: AlphaRequest, { match }: Pick<RequestContext, "match">) =>
      equivalentOf(request, match, options.pack),
  };
  const { pack, limits, plan, tokens, scopes } = dependencies;
  const services: TranslationServices = dependencies;
  const readCredentials = createCredentialsReader({
    credentials: pack.credentials,
    nativeScheme: dependencies.nativeScheme,
    upstreamTokens: dependencies.upstreamTokens,
  });

  /** Puts an object into the client's wrapper. A 304 has no object. */
  const wrap = ({ wrapObject }: Route, body: ResponseBody): ResponseBody =>
    wrapObject && typeof body === "string" && body !== "" ? wrapObject(body) : body;

  /** The whole body, which headers are made of, and what the client gets of it: members that it has chosen, or a text. */
  async function choose(
    route: Route,
    whole: ResponseBody,
    chosen: ChosenMembers | undefined,
    { scope }: Pick<RequestContext, "scope">,
  ): Promise<SuccessBodies> {
    const shown = chosen && isText(whole) ? keepFields(whole, chosen, route) : whole;
    return { whole, shown: route.text && isText(shown) ? await writeText(route.text, shown, scope) : shown };
  }

  const fieldHider = createFieldHider(pack);
  const check = findTokenCheck(pack);

  /** What the plan asks about the sender of a request. */
  const senderOf = (
    request: AlphaRequest,
    context: RequestContext,
    client: AuthenticatedClient,
    issuer: PlanSender["issuer"],
    creditAddress: CallerRequest["creditAddress"],
  ): PlanSender => ({
    identity: () => provenIdentity(request, context),
    issuer,
    address: request.address,
    async learnToken() {
      const proof = { check, creditAddress, isExclusive: true, dependencies };
      return (context.client = await learnToken(request, client, proof));
    },
  });

  /** Field brown-outs: only responses that lack a field are read again. */
  function leaveOut(route: Route, body: ResponseBody, context: RequestContext): ResponseBody {
    const { hiddenFields } = context.planned ?? {};
    if (!hiddenFields) return body;
    const stages = fieldHider.hiddenIn(route, hiddenFields);
    if (stages.length === 0 || !isText(body)) return body;
    context.hiddenFields = stages.map(({ object, field }) => `${object}.${field}`);
    for (const { name, kind } of stages) plan.count(name, kind);
    return fieldHider.hide(body, stages, route);
  }

  return withLifecycle(async function runPipeline(request, context) {
    const { stageTimes, warnings, span, time } = context;

    // Authenticate: parse the credentials and look the token up in the cache.
    const given = await authenticate(request, readCredentials, tokens);
    const { credentials } = given;
    context.client = given;
    stageTimes.authenticate = performance.now();

    // Match the route. Several routes are candidates where the body selects one.
    const candidates = pack.checkVersion?.(request.headers) ?? matchRoute(request, pack);
    context.match = firstCandidate(candidates);
    stageTimes.matchRoute = performance.now();

    // Enforce the rate limit and the plan.
    const { status, creditAddress: credit } = await consumeRateLimit(request, given, context.match, limits);
    context.rateLimitStatus = status;
    rejectLimited(status);
    const issuer = plan.isActive() ? await findIssuer(credentials, dependencies.tokenStore) : undefined;
    if (issuer !== "unknown") context.application = issuer;
    context.planned = await askPlan(context.match, plan, senderOf(request, context, given, issuer, credit));
    enforcePlan(context.planned, plan);
    const { client } = context;
    const creditAddress = client === given ? credit : undefined;
    stageTimes.rateLimit = performance.now();

    // Authorize each candidate. From here on, this request may hold the lock of its token.
    const token = (context.token = await resolveToken(client, candidates, dependencies));
    const verdicts = authorize(credentials, token, candidates, scopes);
    stageTimes.authorize = performance.now();

    // Read the body, and let it select among the candidates. Everything above was decided by the request head.
    const bytes = await readBody(request, verdicts, credentials.hash, token.isAccepted);
    if (bytes) context.body = { bytes };
    const readJson = parseOnUse(request, bytes, pack);
    const query = parseQuery(request.query);
    const selected = await selectRoute(verdicts, readJson, { request, query, time });
    context.match = selected;

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

    // Build the v4 request. Catalogs are read with accepted tokens only.
    const checkToken = () => dependencies.checkToken?.(request, client, creditAddress);
    await readCatalogsWithToken(match, token, checkToken, dependencies);
    const traceparent = continueTrace(header(request, "traceparent"));
    context.upstream = createUpstreamActivity(warnings, span?.call, traceparent);
    const call = { request, match, client: credentials, token, creditAddress };
    const caller = { ...call, query: parameters.query, headers: commonHeadersOf(rules, passed) };
    const upstream = new UpstreamCaller(caller, dependencies, context.upstream);
    const authorized: AuthorizedRequest = { ...caller, readJson, upstream, services, time, report: context };
    const kind = RESPONSE_KINDS[match.route.kind];
    const built = addParameters(await kind.buildRequest(authorized), parameters.upstream);
    const prepared = addPassed(built, rules, passed, context);
    context.upstreamEquivalent = prepared.equivalent ?? `${prepared.method} ${prepared.path}`;
    context.upstreamFilter = prepared.filter;

    // Call v4, with what the call waits for and what the response needs.
    const received = await kind.callUpstream(prepared, authorized);

    // Build the response.
    const body = wrap(match.route, await kind.buildResponse(received, prepared, authorized));
    stageTimes.buildResponse = performance.now();
    if (dependencies.countsClients && isUnproven(token) && upstream.activity.calls.length === 0)
      void checkToken();
    const bodies = await choose(match.route, leaveOut(match.route, body, context), chosen, context);
    return toSuccess(request, match.route, bodies, context, dependencies.style);
  }, dependencies);
}
