import { once } from "node:events";
import type { RequestListener } from "node:http";
import { writeErrors } from "../dialect/errors.ts";
import type { LifecycleDependencies } from "../pipeline/lifecycle.ts";
import { header } from "../pipeline/context.ts";
import { createListener, type ListenerOptions } from "../pipeline/listener.ts";
import { isFileUpload } from "../pipeline/stages/match-route.ts";
import { createNativeAuthorization } from "../pipeline/native-authorization.ts";
import { createNativeRateLimit } from "../pipeline/native-rate-limit.ts";
import { createAlphaPipeline } from "../pipeline/pipeline.ts";
import type { DialectDefinition } from "../mapping/schema/definition.ts";
import { createRequestedScopes } from "../auth/oauth/requested-scopes.ts";
import { createOAuthHandler } from "../auth/oauth/handler.ts";
import type { Settings } from "../config/schema.ts";
import type { Pack } from "../mapping/pack.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import type { Dependencies } from "./dependencies.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { createPipelineConfig } from "./pipeline-config.ts";

/** What a browser client may send, and may read of an answer. */
function corsHeaders({ alpha, filter }: DialectDefinition): Omit<ListenerOptions["cors"], "origins"> {
  const limits = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"];
  return {
    allowHeaders: ["Authorization", "Content-Type", "X-Request-Id", filter.header, alpha.always_ok.request],
    exposeHeaders: ["X-Request-Id", ...limits, "X-V4-Equivalent", alpha.always_ok.answer],
  };
}

/** Parts, and the pack that they work by. */
export interface PublicAppDependencies extends Dependencies {
  readonly pack: Pack;
  readonly catalogs: CatalogCache;
}

type Ends = Pick<LifecycleDependencies, "record" | "onUnexpectedError" | "startSpan">;

/** Alpha's calls to the login server; undefined where there is none. */
function oauthRoad(
  settings: Settings,
  parts: PublicAppDependencies,
  ends: Ends,
): ReturnType<typeof createOAuthHandler> | undefined {
  const { pack, state, oauth: exchanged, shared, v4 } = parts;
  const { oauth: definition, statuses } = pack.dialect;
  if (!definition || !exchanged.login || !v4.authOrigin) return undefined;
  return createOAuthHandler({
    ...createPipelineConfig(pack, settings),
    ...ends,
    definition,
    requestedScopes: createRequestedScopes(state, pack.scopes, exchanged.epoch),
    authOrigin: v4.authOrigin,
    login: exchanged.login,
    tokenStore: exchanged.tokenStore,
    tokens: shared.tokens,
    limits: shared.limits,
    rateLimitedStatus: statuses.rate_limited.alpha,
    clock: Date.now,
  });
}

/** The alpha lane: requests are translated. */
function alphaLane(
  settings: Settings,
  parts: PublicAppDependencies,
  recorder: Recorder,
): ListenerOptions["handleAlpha"] {
  const { pack, tracing, upstream, catalogs, tokenLocks: turns, inFlight: underWay } = parts;
  const { tokens, limits } = parts.shared;
  const { tokenStore: grants } = parts.oauth;
  const ends: Ends = {
    startSpan:
      tracing &&
      ((request) =>
        tracing.startRequest({ method: request.method, traceparent: header(request, "traceparent") })),
    record: recorder.alpha,
    onUnexpectedError: recorder.unforeseen,
  };
  const oauth = oauthRoad(settings, parts, ends);
  const road = createAlphaPipeline({
    ...createPipelineConfig(pack, settings),
    ...ends,
    tokenStore: grants,
    upstream,
    files: upstream,
    catalogs,
    tokens,
    tokenLocks: turns,
    limits,
    brownOuts: parts.brownOuts,
    nativeScheme: settings.NATIVE_LANE ? pack.dialect.v4.scheme : undefined,
  });
  return async (request) => {
    const answer = await underWay.track((oauth?.(request) ?? road)(request));
    if (answer.recorded) void underWay.track(answer.recorded);
    return answer;
  };
}

const FAILURE = "The service could not answer this request.";

/** The native lane: v4's own dialect is forwarded untouched. */
function nativeLane(
  settings: Settings,
  parts: PublicAppDependencies,
  recorder: Recorder,
  write: (reason: string) => string,
): ListenerOptions["native"] {
  if (!settings.NATIVE_LANE) return undefined;
  const { pack, shared } = parts;
  const { scheme, prefix, scopes_header: scopesHeader } = pack.dialect.v4;
  const forward = parts.nativeProxy({
    enter: createNativeAuthorization({
      grants: parts.oauth.tokenStore,
      scopes: pack.scopes,
      accessOf: pack.v4Access,
    }),
    write,
    scheme,
    failure: write(FAILURE),
    circuitOpen: write("The service does not answer at the moment. Try again later."),
    limited: {
      status: pack.dialect.statuses.rate_limited.v4,
      body: write("Too many requests. Try again later."),
    },
    lookUp: createNativeRateLimit({
      tokens: shared.tokens,
      limits: shared.limits,
      scopes: pack.scopes,
      scopesHeader,
    }),
    varyOrigin: settings.CORS_ORIGINS !== undefined,
    record: recorder.native,
    recordFirst: settings.AUDIT_DURABILITY === "strict",
  });
  return {
    scheme,
    prefix,
    forward(request, response, asked) {
      forward(request, response, asked);
      void parts.inFlight.track(once(response, "close"));
    },
  };
}

/** The public listener with its two lanes. */
export function createPublicApp(settings: Settings, parts: PublicAppDependencies): RequestListener {
  const { dialect } = parts.pack;
  const recorder = createRecorder({ ...parts, settings });
  /** An error body, which both dialects shape alike. */
  const write = (reason: string): string => JSON.stringify(writeErrors([{ reason }], dialect.errors));
  return createListener({
    handleAlpha: alphaLane(settings, parts, recorder),
    native: nativeLane(settings, parts, recorder, write),
    bodies: parts.bodies,
    isFileUpload: (method, path) => isFileUpload(parts.pack, method, path),
    trustProxy: settings.TRUST_PROXY ?? [],
    cors: { origins: settings.CORS_ORIGINS ?? [], ...corsHeaders(dialect) },
    failure: write(FAILURE),
    onFailure: (error) =>
      parts.log.error({ code: "AG_UNEXPECTED_ERROR", err: error }, "unexpected error outside the pipeline"),
  });
}
