/** The public port: one list of Express middleware, in order. */
import type { RequestListener, ServerResponse } from "node:http";
import {
  allowOrigins,
  type AlphaHandler,
  type CatalogCache,
  cleanRequestHeaders,
  cleanResponseHeaders,
  corsSettings,
  createAlphaPipeline,
  createCrossSiteGuard,
  createHeadGuard,
  createHostGuard,
  createKnownSenders,
  createNativeAuthorization,
  createNativeRateLimit,
  createOAuthRoutes,
  createPackGuard,
  createPackTokenJudge,
  createPipelineConfig,
  createPreflightLimit,
  createRequestContext,
  createResponder,
  header,
  isNative,
  isSecretId,
  type KnownSenders,
  type LifecycleDependencies,
  type Middleware,
  type NativeError,
  type OAuthRoutes,
  openTokenChecks,
  packVary,
  plainRequestOf,
  Recorder,
  RequestedScopes,
  restoreTarget,
  runMiddleware,
  SAFE_METHODS,
  tokenHash,
  type UpstreamTokens,
} from "../../gateway/index.ts";
import { type Pack, TOO_MANY_REQUESTS } from "../../pack/index.ts";
import type { Settings } from "../../base/index.ts";
import type { Dependencies } from "../dependencies.ts";
import {
  compareAfter,
  createShadow,
  createTesterGuard,
  type Exchange,
  type Shadow,
} from "../../compare/index.ts";
import { createMigrationPages, createRolloutMiddleware } from "../../migration/index.ts";

/** Dependencies of a gateway, and the pack that its requests are translated with. */
export interface PublicAppDependencies extends Dependencies {
  readonly pack: Pack;
  readonly catalogs: CatalogCache;
  /** Undefined if v4 gets the clients' tokens. */
  readonly upstreamTokens: UpstreamTokens | undefined;
  /** Whether only those get it who ask for it: what it answers says nothing about the active pack. */
  readonly isForTesters: boolean;
  /** Compares a request with the candidate after its response was sent; undefined: nothing is compared. */
  readonly compare: ((exchange: Exchange) => void) | undefined;
}

const FAILURE = "The service could not process this request.";

/** All middleware of the public port, in order. */
function createMiddleware(settings: Settings, dependencies: PublicAppDependencies): readonly Middleware[] {
  const { bodies, pack } = dependencies;
  const senders = createSenders(dependencies);
  const recorder = new Recorder({ ...dependencies, settings, senders });
  const respond = createResponder(bodies);
  const toMiddleware = (handler: AlphaHandler): Middleware => respond(trackRequests(dependencies, handler));
  const guardOptions = { lifecycle: lifecycleOf(dependencies, recorder), toMiddleware };
  const shadow = dependencies.shadow && createShadow(settings, dependencies, dependencies.shadow);
  const routeBySide = createRolloutMiddleware(settings, dependencies, recorder, { senders, shadow });
  return [
    createRequestContext({
      trustProxy: settings.TRUST_PROXY ?? [],
      tokenParameter: pack.credentials.client?.queryParameter,
      methodHeader: pack.methodHeader,
      clientHeader: settings.CLIENT_HEADER,
      isSecretId: (request) => isSecretId(request, recorder.options),
      onUntrustedProxy: dependencies.onUntrustedProxy,
    }),
    ...createHostGuard(settings, dependencies, guardOptions),
    allowOrigins(corsSettings(settings, pack), createPreflightLimit(dependencies)),
    ...createTesterGuard(settings, dependencies, guardOptions),
    ...createNativeMiddleware(settings, dependencies, recorder, shadow),
    createHeadGuard(settings, dependencies, guardOptions),
    ...createCrossSiteGuard(settings, dependencies, guardOptions),
    ...createPackGuard(settings, dependencies, guardOptions),
    ...createMigrationPages(settings, dependencies, guardOptions),
    ...(routeBySide ? [routeBySide] : []),
    ...createOAuthMiddleware(settings, dependencies, recorder, toMiddleware),
    toMiddleware(createAlphaHandler(settings, dependencies, recorder, shadow)),
  ];
}

/** Tells clients from strangers, for a rollout; undefined without one. */
const createSenders = ({
  pack,
  clients,
  shared,
  upstreamTokens,
  legacy,
  rollout,
}: Pick<PublicAppDependencies, "pack" | "clients" | "shared" | "upstreamTokens" | "legacy" | "rollout">):
  | KnownSenders
  | undefined =>
  legacy &&
  rollout.rollout &&
  createKnownSenders({
    pack,
    directory: clients.current,
    tokens: shared.tokens,
    upstreamTokens,
    ofOldService: legacy.acceptedTokens,
  });

/** Creates the handler of the public port. Every request gets its response from it. */
export const createPublicApp = (settings: Settings, dependencies: PublicAppDependencies): RequestListener =>
  runMiddleware(createMiddleware(settings, dependencies), createErrorHandler(dependencies));

/** An error body of the upstream's dialect. */
const upstreamError = ({ errors }: Pack, reason: string, status: number): string =>
  JSON.stringify(errors.upstream.write([{ reason }], status));

/** Forwards requests of v4's own dialect without translation. */
function createNativeMiddleware(
  settings: Settings,
  {
    pack,
    shared,
    oauth,
    nativeProxy,
    inFlight,
  }: Pick<PublicAppDependencies, "pack" | "shared" | "oauth" | "nativeProxy" | "inFlight">,
  recorder: Recorder,
  shadow: Shadow | undefined,
): readonly Middleware[] {
  const { base_path: prefix } = pack.dialect.upstream;
  const { nativeScheme: scheme } = pack;
  if (!settings.NATIVE_PROXY || scheme === undefined) return [];
  const { tokens, limits } = shared;
  const errorOf = (reason: string, status: number, shown = status): NativeError => ({
    status,
    body: upstreamError(pack, reason, shown),
  });
  const failed = errorOf(FAILURE, 500, 502);
  const forward = nativeProxy({
    errors: {
      failed,
      timedOut: failed,
      unavailable: errorOf("The service does not respond at the moment. Try again later.", 503),
      limited: errorOf("Too many requests. Try again later.", TOO_MANY_REQUESTS),
    },
    gate: {
      scheme,
      lookUp: createNativeRateLimit({ tokens, limits, judgeToken: createPackTokenJudge(pack) }),
      authorize: createNativeAuthorization({
        issued: oauth.tokenStore,
        scopes: pack.scopes,
        accessOf: pack.v4Access,
      }),
      errorBody: (reason, status) => upstreamError(pack, reason, status),
    },
    prepareRequest: ({ headers }) => cleanRequestHeaders(headers),
    cleanResponse: cleanResponseHeaders,
    hashOf: (_request, token) => tokenHash(token),
    vary: [
      "Authorization",
      ...(settings.CORS_ORIGINS === undefined ? [] : ["Origin"]),
      ...packVary(settings),
    ],
    hasOwnCors: settings.CORS_ORIGINS !== undefined,
    startRecording: (request, hash) => recorder.startNative(request, hash),
    recordFirst: settings.AUDIT_DURABILITY === "strict",
  });
  const forwardNative: Middleware = (request, response, next) => {
    const plain = plainRequestOf(response);
    if (!isNative(plain, { scheme, prefix })) return next();
    restoreTarget(request);
    // A method in a header is a rule of the client's API. v4 gets the request's own, so that is judged and recorded.
    const { method = "" } = request;
    // Before the write: a comparison that reads now is void.
    if (shadow && !SAFE_METHODS.has(method)) response.once("close", shadow.beginNative(plain));
    forward(request, response, method === plain.method ? plain : { ...plain, method });
    response.on("close", inFlight.begin());
  };
  return [forwardNative];
}

/** What all handlers need to trace and record their requests. */
function lifecycleOf(
  { tracing, sunset }: Pick<PublicAppDependencies, "tracing" | "sunset">,
  recorder: Recorder,
): Pick<LifecycleDependencies, "record" | "onUnexpectedError" | "startSpan" | "sunset"> {
  return {
    sunset: sunset.rules,
    startSpan:
      tracing &&
      ((request) =>
        tracing.startRequest({ method: request.method, traceparent: header(request, "traceparent") })),
    record: (request, outcome, context) => recorder.alpha(request, outcome, context),
    onUnexpectedError: (error, request, context) => recorder.unexpected(error, request, context),
  };
}

/** The same handler; shutdown waits for its requests and their records. */
const trackRequests =
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

/** Alpha's calls to the login server; undefined where there is no login server. */
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

/** Passes alpha's calls to the login server to their handlers. A HEAD is not a GET there: it would start a login. */
function createOAuthMiddleware(
  settings: Settings,
  dependencies: PublicAppDependencies,
  recorder: Recorder,
  toMiddleware: (handler: AlphaHandler) => Middleware,
): readonly Middleware[] {
  const oauth = oauthRoutes(settings, dependencies, recorder);
  if (!oauth) return [];
  const paths = new Set(oauth.routes.map(({ path }) => path));
  const handlers = new Map(
    oauth.routes.map(({ method, path, handler }) => [`${method} ${path}`, toMiddleware(handler)]),
  );
  const respondNotFound = toMiddleware(oauth.notFound);
  const handleOAuth: Middleware = (request, response, next) => {
    const { method, path } = plainRequestOf(response);
    if (!paths.has(path)) return next();
    return (handlers.get(`${method} ${path}`) ?? respondNotFound)(request, response, next);
  };
  return [handleOAuth];
}

/** Translates all other requests. */
function createAlphaHandler(
  settings: Settings,
  dependencies: PublicAppDependencies,
  recorder: Recorder,
  shadow: Shadow | undefined,
): AlphaHandler {
  const { pack, upstream, shared } = dependencies;
  const comparisons = [dependencies.compare, shadow?.servedNew].filter((each) => each !== undefined);
  const lifecycle = lifecycleOf(dependencies, recorder);
  return createAlphaPipeline({
    ...dependencies,
    ...createPipelineConfig(pack, settings),
    ...lifecycle,
    ...(comparisons.length > 0 && { record: compareAfter(lifecycle.record, comparisons) }),
    sunset: dependencies.sunset.rules,
    tokenStore: dependencies.oauth.tokenStore,
    files: upstream,
    tokens: shared.tokens,
    limits: shared.limits,
    nativeScheme: settings.NATIVE_PROXY ? pack.nativeScheme : undefined,
    checkToken: openTokenChecks(settings, dependencies, recorder),
    countsClients: dependencies.audit !== undefined,
  });
}

/** Errors inside a pipeline have their response already; this is for errors around it. */
export function createErrorHandler({
  pack,
  log,
}: Pick<PublicAppDependencies, "pack" | "log">): (error: unknown, response: ServerResponse) => void {
  const { errors, statuses } = pack;
  const body = JSON.stringify(errors.client.write([{ reason: FAILURE }], statuses.failed));
  const headers = { "content-type": "application/json; charset=utf-8", "x-content-type-options": "nosniff" };
  return function handleError(error, response) {
    log.error({ code: "AG_UNEXPECTED_ERROR", err: error }, "unexpected error outside the pipeline");
    if (response.headersSent) response.destroy();
    else response.writeHead(statuses.failed, headers).end(body);
  };
}
