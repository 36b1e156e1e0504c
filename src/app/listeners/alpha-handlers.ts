/** The handlers of alpha's requests: the pipeline, and the calls to the login server. */
import type { Settings } from "../../base/index.ts";
import { compareAfter, type Shadow } from "../../compare/index.ts";
import {
  type AlphaHandler,
  createAlphaPipeline,
  createOAuthRoutes,
  createPipelineConfig,
  header,
  type LifecycleDependencies,
  type Middleware,
  type OAuthRoutes,
  openTokenChecks,
  passOn,
  plainRequestOf,
  type Recorder,
  RequestedScopes,
} from "../../gateway/index.ts";
import type { Dependencies } from "../composition/dependencies.ts";
import type { PublicAppDependencies } from "./public-dependencies.ts";

/** The services that all handlers need to trace and record their requests. */
export function lifecycleOf(
  { tracing, plan }: Pick<PublicAppDependencies, "tracing" | "plan">,
  recorder: Recorder,
): Pick<LifecycleDependencies, "record" | "onUnexpectedError" | "startSpan"> & Pick<Dependencies, "plan"> {
  return {
    plan,
    startSpan:
      tracing &&
      ((request) =>
        tracing.startRequest({ method: request.method, traceparent: header(request, "traceparent") })),
    record: (request, outcome, context) => recorder.alpha(request, outcome, context),
    onUnexpectedError: (error, request, context) => recorder.unexpected(error, request, context),
  };
}

/** Returns the same handler, registered so that shutdown waits for its requests and their records. */
export const trackRequests =
  ({ inFlight }: Pick<PublicAppDependencies, "inFlight">, handler: AlphaHandler): AlphaHandler =>
  async (request) => {
    const end = inFlight.begin();
    try {
      const response = await handler(request);
      if (response.recorded) void inFlight.track(response.recorded);
      return response;
    } finally {
      end();
    }
  };

/** Returns alpha's calls to the login server. Undefined if not found. */
function oauthRoutes(
  settings: Settings,
  dependencies: PublicAppDependencies,
  recorder: Recorder,
): OAuthRoutes | undefined {
  const { pack, state, oauth, shared, v4 } = dependencies;
  const { oauth: definition } = pack.dialect;
  if (!definition || !oauth.login || !v4.authOrigin) return undefined;
  return createOAuthRoutes({
    ...createPipelineConfig(pack, settings),
    ...lifecycleOf(dependencies, recorder),
    definition,
    requestedScopes: new RequestedScopes(state, pack.scopes, oauth.epoch),
    authOrigin: v4.authOrigin,
    login: oauth.login.withStatuses(pack.statuses),
    tokenStore: oauth.tokenStore,
    tokens: shared.tokens,
    limits: shared.limits,
    clock: Date.now,
  });
}

/**
 * Passes alpha's calls to the login server to their handlers. HEAD is not treated as GET here, because it would start
 * a login.
 */
export function createOAuthMiddleware(
  settings: Settings,
  dependencies: PublicAppDependencies,
  recorder: Recorder,
  toMiddleware: (handler: AlphaHandler) => Middleware,
): Middleware {
  const oauth = oauthRoutes(settings, dependencies, recorder);
  if (!oauth) return passOn;
  const paths = new Set(oauth.routes.map(({ path }) => path));
  const handlers = new Map(
    oauth.routes.map(({ method, path, handler }) => [`${method} ${path}`, toMiddleware(handler)]),
  );
  const respondNotFound = toMiddleware(oauth.notFound);
  return function handleOAuth(request, response, next) {
    const { method, path } = plainRequestOf(response);
    if (!paths.has(path)) return next();
    return (handlers.get(`${method} ${path}`) ?? respondNotFound)(request, response, next);
  };
}

/** Creates the handler that translates all other requests. */
export function createAlphaHandler(
  settings: Settings,
  dependencies: PublicAppDependencies,
  recorder: Recorder,
  shadow: Shadow | undefined,
): AlphaHandler {
  const { pack, catalogs, upstream, upstreamTokens, shared, oauth, tokenLocks, plan, audit } = dependencies;
  const { startSpan, record, onUnexpectedError } = lifecycleOf(dependencies, recorder);
  const comparisons = [dependencies.compare, shadow?.servedNew].filter((each) => each !== undefined);
  return createAlphaPipeline({
    ...createPipelineConfig(pack, settings),
    nativeScheme: settings.NATIVE_PROXY ? pack.nativeScheme : undefined,
    catalogs,
    upstream,
    files: upstream,
    upstreamTokens,
    tokens: shared.tokens,
    limits: shared.limits,
    tokenStore: oauth.tokenStore,
    tokenLocks,
    checkToken: openTokenChecks(settings, dependencies, recorder),
    plan,
    startSpan,
    record: comparisons.length > 0 ? compareAfter(record, comparisons) : record,
    onUnexpectedError,
    countsClients: audit !== undefined,
  });
}
