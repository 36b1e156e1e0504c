import type { TokenLocks } from "../auth/token-locks.ts";
import type { Pack } from "../mapping/pack.ts";
import type { RateLimits } from "../rate-limit/rate-limits.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import type { AuthorizedRequest, TranslationServices } from "./authorized-request.ts";
import type { BrownOuts } from "./brown-outs/brown-outs.ts";
import { createUpstreamActivity } from "./instrument-call.ts";
import { withLifecycle, type AlphaHandler, type LifecycleDependencies } from "./lifecycle.ts";
import { createResponseCache } from "./response-cache.ts";
import { RESPONSE_KINDS } from "./responses/kinds.ts";
import { authenticate } from "./stages/authenticate.ts";
import { authorize, resolveToken, selectRoute, type TokenDependencies } from "./stages/authorize.ts";
import { firstCandidate, matchRoute } from "./stages/match-route.ts";
import { consumeRateLimit, rejectInBrownOut, rejectLimited } from "./stages/rate-limit.ts";
import { parseOnUse, readBody } from "./stages/read-body.ts";
import {
  traceparentOf,
  UpstreamCaller,
  upstreamCredentials,
  type CallDependencies,
} from "./upstream-call.ts";
import type { TranslationConfig } from "./upstream-response.ts";

export interface PipelineDependencies
  extends LifecycleDependencies, Omit<CallDependencies, "responseCache" | "translation"> {
  readonly pack: Pack;
  readonly translation: TranslationConfig;
  readonly catalogs: CatalogCache;
  readonly limits: RateLimits;
  readonly brownOuts: BrownOuts;
  readonly tokenLocks: TokenLocks;
  /** Tokens that the gateway issued. */
  readonly tokenStore: TokenDependencies["tokenStore"] & TranslationServices["tokenStore"];
  /** Scheme of the native proxy, where that is on. */
  readonly nativeScheme?: string | undefined;
}

/** Creates the alpha pipeline: all stages of a request, in order. The audit is the end of each lifecycle. */
export function createAlphaPipeline(options: PipelineDependencies): AlphaHandler {
  const dependencies = { ...options, responseCache: createResponseCache() };
  const { pack, limits, brownOuts, tokens, scopes, catalogs, dialect } = dependencies;
  const { statuses } = pack;
  const schemes = { alpha: pack.dialect.client.credentials?.scheme, native: dependencies.nativeScheme };

  return withLifecycle(async function runPipeline(request, context) {
    const { stageTimes, warnings, span } = context;

    // Authenticate: parse the credentials and look the token up in the cache.
    const client = await authenticate(request, schemes, tokens);
    const { credentials } = client;
    context.client = client;
    stageTimes.authenticate = performance.now();

    // Match the route. Several routes are candidates where the body selects one.
    const candidates = matchRoute(request, pack);
    context.match = firstCandidate(candidates);
    stageTimes.matchRoute = performance.now();

    // Enforce the rate limit and brown-outs.
    const { status, creditAddress } = await consumeRateLimit(request, client, context.match, limits);
    context.rateLimitStatus = status;
    rejectLimited(status, statuses.limited);
    rejectInBrownOut(credentials, context.match, brownOuts, statuses.failed);
    stageTimes.rateLimit = performance.now();

    // Authorize each candidate. From here on, this request may hold the lock of its token.
    const token = await resolveToken(client, candidates, dependencies);
    context.token = token;
    const verdicts = authorize(credentials, token, candidates, scopes);
    stageTimes.authorize = performance.now();

    // Read the body, and let it select among the candidates. Everything above was decided by the request head.
    const bytes = await readBody(request, verdicts, token.isAccepted);
    if (bytes) context.body = { bytes };
    const readJson = parseOnUse(request, bytes);
    const match = await selectRoute(verdicts, readJson);
    context.match = match;

    // Build the v4 request. Catalogs are read with accepted tokens only.
    const { resolved } = token;
    const { hash } = resolved.credentials;
    if (hash !== undefined && token.info?.refused === false)
      await catalogs.refreshWith(hash, upstreamCredentials(resolved.credentials, dialect.scheme));
    context.upstream = createUpstreamActivity(warnings, span?.call, traceparentOf(request));
    const caller = { request, match, client: credentials, token, creditAddress };
    const upstream = new UpstreamCaller(caller, dependencies, context.upstream);
    const services: TranslationServices = dependencies;
    const authorized: AuthorizedRequest = { ...caller, readJson, upstream, services, report: context };
    const kind = RESPONSE_KINDS[match.route.kind];
    const prepared = await kind.buildRequest(authorized);
    context.upstreamEquivalent = prepared.equivalent ?? `${prepared.method} ${prepared.path}`;

    // Call v4, with what the call waits for and what the response needs.
    const received = await kind.callUpstream(prepared, authorized);

    // Build the response.
    const body = await kind.buildResponse(received, prepared, authorized);
    stageTimes.buildResponse = performance.now();
    return { status: 200, body };
  }, dependencies);
}
