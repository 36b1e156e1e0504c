/** Forwards requests of v4's own dialect. */
import type { Settings } from "../../base/index.ts";
import type { Shadow } from "../../compare/index.ts";
import {
  cleanRequestHeaders,
  cleanResponseHeaders,
  createNativeAuthorization,
  createNativeErrors,
  createNativeGate,
  createTokenJudge,
  isNative,
  type Middleware,
  nativeToken,
  passOn,
  plainRequestOf,
  type Recorder,
  restoreTarget,
  SAFE_METHODS,
  settingsVary,
  tokenHash,
} from "../../gateway/index.ts";
import type { PublicAppDependencies } from "./public-dependencies.ts";

/** Forwards requests of v4's own dialect without translation. All other requests are passed on. */
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
): Middleware {
  if (!settings.NATIVE_PROXY || pack.nativeScheme === undefined) return passOn;
  const { tokens, limits } = shared;
  const forward = nativeProxy.for({
    lane: "native",
    errors: createNativeErrors(pack),
    admit: createNativeGate({
      pack,
      tokens,
      limits,
      judgeToken: createTokenJudge(pack),
      authorize: createNativeAuthorization({
        issued: oauth.tokenStore,
        scopes: pack.scopes,
        accessOf: pack.v4Access,
      }),
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
  return function forwardNative(request, response, next) {
    const plain = plainRequestOf(response);
    if (!isNative(plain, pack)) return next();
    restoreTarget(request);
    // Method override headers belong to the client's API. v4 receives the real method, so the gateway checks and
    // records that method.
    const { method = "" } = request;
    // Recorded before the write, so that a concurrent comparison becomes invalid.
    if (shadow && !SAFE_METHODS.has(method)) response.once("close", shadow.beginNative(plain));
    forward(request, response, method === plain.method ? plain : { ...plain, method });
    response.on("close", inFlight.begin());
  };
}
