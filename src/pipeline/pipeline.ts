import type { Pack } from "../mapping/pack.ts";
import type { RateLimits } from "../rate-limit/rate-limits.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { TokenInfo } from "../auth/token-cache.ts";
import type { TokenLocks } from "../auth/token-locks.ts";
import type { FileUpstream } from "../upstream/file-client.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import { HttpError } from "../dialect/http-error.ts";
import type { JsonObject } from "../mapping/translation-context.ts";
import type { BrownOuts } from "./brown-outs/brown-outs.ts";
import { authorize, authorizeAny, effectiveGrants, hasNoScopes } from "./stages/authorize.ts";
import type { TranslationConfig } from "./stages/build-response.ts";
import { enforceBrownOut } from "./stages/brown-out.ts";
import { createUpstreamCaller, upstreamCredentials, type CallDependencies } from "./stages/call-upstream.ts";
import { verifyToken } from "./stages/verify-token.ts";
import { parseCredentials } from "./stages/parse-credentials.ts";
import { createFileStreamer } from "./stages/file-streamer.ts";
import { withLifecycle, type LifecycleDependencies, type AlphaHandler } from "./lifecycle.ts";
import type { Credentials, RequestContext } from "./context.ts";
import { chooseRoute, matchRoute, routeCandidates } from "./stages/match-route.ts";
import { executeRoute } from "./execute-route.ts";
import { createResponseCache } from "./response-cache.ts";
import { enforceRateLimit } from "./stages/rate-limit.ts";
import { anonymous, resolveUpstreamToken, type ResolvedCredentials } from "./stages/resolve-token.ts";
import { parseBody, receiveBody } from "./stages/parse-body.ts";
import { singleFlightToken } from "./stages/single-flight-token.ts";
import { traceparentOf } from "./trace-context.ts";

export interface PipelineDependencies extends CallDependencies, LifecycleDependencies {
  readonly files: FileUpstream;
  readonly pack: Pack;
  readonly catalogs: CatalogCache;
  readonly limits: RateLimits;
  readonly tokenLocks: TokenLocks;
  /** Tokens of the gateway's own exchange. */
  readonly tokenStore: Pick<TokenStore, "find" | "findReplacement" | "save" | "nameLevels" | "levelsNamed">;
  readonly translation: TranslationConfig;
  /** When alpha is switched off, and for whom. */
  readonly brownOuts: BrownOuts;
  /** Scheme of the native lane, where that is open. */
  readonly nativeScheme?: string | undefined;
}

/** The stages of an alpha request, in order. Each stage is a function of its own file in `stages/`. */
export function createAlphaPipeline(dependencies: PipelineDependencies): AlphaHandler {
  const { pack, scopes, tokens, tokenStore, tokenLocks, limits, catalogs, translation } = dependencies;
  const responseCache = createResponseCache();
  const limitedStatus = pack.dialect.statuses.rate_limited.alpha;

  /** Synchronous where this process has the token's entry. */
  const cachedTokenInfo = ({ hash }: Credentials) => (hash === undefined ? undefined : tokens.get(hash));

  /** Another process may have refreshed a token that this one knows as rejected. */
  async function refreshRejectedToken(resolved: ResolvedCredentials, context: RequestContext): Promise<void> {
    if (await resolved.refreshAfter401(resolved.credentials))
      context.tokenInfo = await cachedTokenInfo(resolved.credentials);
  }

  /** A token that v4 would reject must not keep a client from a public route. */
  async function resolveForPublicRoute(
    credentials: Credentials,
    tokenInfo: TokenInfo | undefined,
  ): Promise<ResolvedCredentials> {
    const resolved = tokenInfo?.refused
      ? anonymous
      : await resolveUpstreamToken(credentials, tokenStore).catch(() => anonymous);
    return typeof resolved.grant === "object" && resolved.grant.isRevoked ? anonymous : resolved;
  }

  return withLifecycle(async function runPipeline(request, context) {
    // Authenticate: parse the credentials and look the token up in the cache.
    const credentials = parseCredentials(request, pack.dialect.alpha.scheme, dependencies.nativeScheme);
    context.credentials = credentials;
    const cached = cachedTokenInfo(credentials);
    context.tokenInfo = cached instanceof Promise ? await cached : cached;
    context.stageTimes.authenticate = performance.now();

    // Match the route. Several routes are candidates where the body decides.
    const candidates = routeCandidates(matchRoute(request, pack));
    context.match = candidates instanceof HttpError ? undefined : candidates[0];

    // Enforce the rate limit and scheduled brown-outs.
    await enforceRateLimit(request, credentials, context, { limits, limitedStatus });
    context.stageTimes.rateLimit = performance.now();
    enforceBrownOut(context, dependencies.brownOuts, pack.dialect.statuses.other);

    // Authorize by the request head, before a byte of the body is read.
    const resolved = await (context.match?.route.access === "public"
      ? resolveForPublicRoute(credentials, context.tokenInfo)
      : resolveUpstreamToken(credentials, tokenStore));
    if (resolved.credentials.hash !== credentials.hash)
      context.tokenInfo = await cachedTokenInfo(resolved.credentials);
    if (context.tokenInfo?.refused) await refreshRejectedToken(resolved, context);
    let match = authorizeAny(resolved, candidates, { scopes, tokenInfo: context.tokenInfo });

    // Read the body, and let it choose among the candidates.
    const isAccepted = context.tokenInfo?.refused === false || typeof resolved.grant === "object";
    const bytes = match.route.upload ? undefined : await receiveBody(request, context, isAccepted);
    let json: JsonObject | undefined;
    const clientBody = (): JsonObject => (json ??= parseBody(request, bytes));
    if (!(candidates instanceof HttpError) && candidates.length > 1)
      context.match = match = await chooseRoute(candidates, clientBody);

    // One request at a time asks v4 with an unknown token. What it learns decides for the others.
    context.tokenInfo = await singleFlightToken(resolved.credentials, match, context, { tokens, tokenLocks });
    if (context.tokenInfo?.refused) await refreshRejectedToken(resolved, context);
    authorize(resolved, match, { scopes, tokenInfo: context.tokenInfo });
    // Only a token that v4 has accepted may read catalogs: a made-up token reads nothing.
    const { hash } = resolved.credentials;
    if (hash !== undefined && context.tokenInfo?.refused === false)
      await catalogs.refreshWith(
        hash,
        upstreamCredentials(resolved.credentials, dependencies.dialect.scheme),
      );
    context.stageTimes.authorize = performance.now();

    // Build the upstream request, call v4 and build the response, as the kind of route asks for.
    context.traceparent = traceparentOf(request);
    const tokenHash = credentials.hash;
    const callUpstream = createUpstreamCaller(request, resolved, dependencies, context);
    const call =
      tokenHash === undefined ? callUpstream : responseCache.invalidateOnWrite(tokenHash, callUpstream);
    if (match.route.upload && pack.tokenCheck && context.tokenInfo?.refused !== false) {
      await verifyToken(pack.tokenCheck, call, match, translation, context);
      context.tokenInfo = { refused: false, grants: undefined };
    }
    const callerGrants = async () =>
      effectiveGrants(resolved.grant, await cachedTokenInfo(resolved.credentials));
    const body = await executeRoute({
      request,
      sent: clientBody,
      match,
      pack,
      translation,
      catalogs,
      call,
      streamFile: createFileStreamer(request, resolved, dependencies, context),
      cache: responseCache,
      tokenHash,
      async lacksScopes() {
        const grants = await callerGrants();
        return grants !== undefined && hasNoScopes(grants);
      },
      levels: { grants: tokenStore, scopes, caller: callerGrants, notes: context, now: Date.now },
      context,
    });
    context.stageTimes.buildResponse = performance.now();
    return { status: 200, body };
  }, dependencies);
}
