/** Forwards requests of v4's own dialect. */
import type { Settings } from "../../base/index.ts";
import type { Shadow } from "../../compare/index.ts";
import {
  cleanRequestHeaders,
  cleanResponseHeaders,
  createNativeAuthorization,
  createNativeGate,
  createPackTokenJudge,
  type ForwardError,
  isNative,
  type Middleware,
  nativeToken,
  plainRequestOf,
  type Recorder,
  restoreTarget,
  SAFE_METHODS,
  settingsVary,
  tokenHash,
} from "../../gateway/index.ts";
import { type Pack, TOO_MANY_REQUESTS } from "../../pack/index.ts";
import { FAILURE, type PublicAppDependencies } from "./public-dependencies.ts";

/** Returns an error body in the upstream's dialect. */
const upstreamError = ({ errors }: Pack, reason: string, status: number): string =>
  JSON.stringify(errors.upstream.write([{ reason }], status));

/** Forwards requests of v4's own dialect without translation. */
export function createNativeMiddleware(
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
  const errorOf = (reason: string, status: number, shown = status): ForwardError => ({
    status,
    body: upstreamError(pack, reason, shown),
  });
  const failed = errorOf(FAILURE, 500, 502);
  const forward = nativeProxy.for({
    lane: "native",
    errors: {
      failed,
      timedOut: failed,
      unavailable: errorOf("The service does not respond at the moment. Try again later.", 503),
      limited: errorOf("Too many requests. Try again later.", TOO_MANY_REQUESTS),
    },
    admit: createNativeGate({
      name: pack.dialect.upstream.name,
      scheme,
      tokens,
      limits,
      judgeToken: createPackTokenJudge(pack),
      authorize: createNativeAuthorization({
        issued: oauth.tokenStore,
        scopes: pack.scopes,
        accessOf: pack.v4Access,
      }),
      errorBody: (reason, status) => upstreamError(pack, reason, status),
    }),
    isKnown: ({ isAccepted }) => isAccepted,
    prepareRequest: ({ headers }) => cleanRequestHeaders(headers),
    cleanResponse: cleanResponseHeaders,
    hashOf: (plain) => tokenHash(nativeToken(plain)),
    vary: ["Authorization", ...settingsVary(settings)],
    hasOwnCors: settings.CORS_ORIGINS !== undefined,
    keptBytes: (plain) => recorder.keptBytes(plain, "native"),
    record: (exchange) => recorder.forwarded(exchange),
    recordFirst: settings.AUDIT_DURABILITY === "strict",
  });
  const forwardNative: Middleware = (request, response, next) => {
    const plain = plainRequestOf(response);
    if (!isNative(plain, { scheme, prefix })) return next();
    restoreTarget(request);
    // Method override headers belong to the client's API. v4 receives the real method, so the gateway checks and
    // records that method.
    const { method = "" } = request;
    // Recorded before the write, so that a concurrent comparison becomes invalid.
    if (shadow && !SAFE_METHODS.has(method)) response.once("close", shadow.beginNative(plain));
    forward(request, response, method === plain.method ? plain : { ...plain, method });
    response.on("close", inFlight.begin());
  };
  return [forwardNative];
}
