import { once } from "node:events";
import type { RequestListener } from "node:http";
import { writeErrors } from "../dialect/errors.ts";
import type { EndParts } from "../gateway/ends.ts";
import { header } from "../gateway/exchange.ts";
import { createListener, type ListenerOptions } from "../gateway/listener.ts";
import { takesFile } from "../gateway/find-route.ts";
import { makeNativeAccess } from "../gateway/native-access.ts";
import { limitNativeGuesses } from "../gateway/native-guesses.ts";
import { buildRoad } from "../gateway/road.ts";
import type { DialectDefinition } from "../mapping/definition.ts";
import { createAskedScopes } from "../oauth/asked-scopes.ts";
import { buildOAuth } from "../oauth/road.ts";
import type { Settings } from "../settings/table.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Catalogs } from "../upstream/catalogs.ts";
import type { Parts } from "./parts.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { roadDialect } from "./road-dialect.ts";

/** What a browser client may send, and may read of an answer. */
function corsHeaders({ alpha, filter }: DialectDefinition): Omit<ListenerOptions["cors"], "origins"> {
  const limits = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"];
  return {
    allowHeaders: ["Authorization", "Content-Type", "X-Request-Id", filter.header, alpha.always_ok.request],
    exposeHeaders: ["X-Request-Id", ...limits, "X-V4-Equivalent", alpha.always_ok.answer],
  };
}

/** Parts, and the pack that they work by. */
export interface PublicParts extends Parts {
  readonly pack: Pack;
  readonly catalogs: Catalogs;
}

type Ends = Pick<EndParts, "record" | "onUnforeseen" | "beginSpan">;

/** Alpha's calls to the login server; undefined where there is none. */
function oauthRoad(
  settings: Settings,
  parts: PublicParts,
  ends: Ends,
): ReturnType<typeof buildOAuth> | undefined {
  const { pack, state, exchanged, shared, v4 } = parts;
  const { oauth: definition, statuses } = pack.dialect;
  if (!definition || !exchanged.login || !v4.authOrigin) return undefined;
  return buildOAuth({
    ...roadDialect(pack, settings),
    ...ends,
    definition,
    asked: createAskedScopes(state, pack.scopes),
    authOrigin: v4.authOrigin,
    login: exchanged.login,
    grants: exchanged.grants,
    tokens: shared.tokens,
    limits: shared.limits,
    limitedStatus: statuses.rate_limited.alpha,
    clock: Date.now,
  });
}

/** The alpha lane: requests are translated. */
function alphaLane(settings: Settings, parts: PublicParts, recorder: Recorder): ListenerOptions["road"] {
  const { pack, tracing, upstream, catalogs, turns, underWay } = parts;
  const { tokens, limits } = parts.shared;
  const { grants } = parts.exchanged;
  const ends: Ends = {
    beginSpan:
      tracing &&
      ((request) => tracing.begin({ method: request.method, traceparent: header(request, "traceparent") })),
    record: recorder.alpha,
    onUnforeseen: recorder.unforeseen,
  };
  const oauth = oauthRoad(settings, parts, ends);
  const road = buildRoad({
    ...roadDialect(pack, settings),
    ...ends,
    grants,
    upstream,
    files: upstream,
    catalogs,
    tokens,
    turns,
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
  parts: PublicParts,
  recorder: Recorder,
  write: (reason: string) => string,
): ListenerOptions["native"] {
  if (!settings.NATIVE_LANE) return undefined;
  const { pack, shared } = parts;
  const { scheme, prefix, scopes_header: scopesHeader } = pack.dialect.v4;
  const forward = parts.native({
    enter: makeNativeAccess({ grants: parts.exchanged.grants, scopes: pack.scopes, accessOf: pack.v4Access }),
    write,
    scheme,
    failure: write(FAILURE),
    pause: write("The service does not answer at the moment. Try again later."),
    limited: {
      status: pack.dialect.statuses.rate_limited.v4,
      body: write("Too many requests. Try again later."),
    },
    lookUp: limitNativeGuesses({
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
      void parts.underWay.track(once(response, "close"));
    },
  };
}

/** The public listener with its two lanes. */
export function createPublicApp(settings: Settings, parts: PublicParts): RequestListener {
  const { dialect } = parts.pack;
  const recorder = createRecorder({ ...parts, settings });
  /** An error body, which both dialects shape alike. */
  const write = (reason: string): string => JSON.stringify(writeErrors([{ reason }], dialect.errors));
  return createListener({
    road: alphaLane(settings, parts, recorder),
    native: nativeLane(settings, parts, recorder, write),
    bodies: parts.bodies,
    takesFile: (method, path) => takesFile(parts.pack, method, path),
    trustProxy: settings.TRUST_PROXY ?? [],
    cors: { origins: settings.CORS_ORIGINS ?? [], ...corsHeaders(dialect) },
    failure: write(FAILURE),
    onFailure: (error) => parts.log.error({ err: error }, "unforeseen error outside the road"),
  });
}
