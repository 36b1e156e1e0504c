/** The exports of `gateway` for other rooms. */
export { openTokenChecks, TOKEN_CHECK, TokenCheckBudget } from "./pipeline/check-tokens.ts";
export { createTokenJudge } from "./auth/judge-token.ts";
export { createKnownSenders, type KnownSenders } from "./auth/known-senders.ts";
export { countedAs, createIsSameClient, partsOf, provenBy, ProvenClients } from "./auth/proven-by.ts";
export {
  findTokenCheck,
  type ProofDependencies,
  type ProvenToken,
  proveToken,
} from "./pipeline/prove-token.ts";
export {
  createTokenCache,
  fingerprint,
  type TokenCache,
  tokenHash,
  type TokenInfo,
} from "./auth/token-cache.ts";

export { createTokenLocks, type TokenLocks } from "./auth/token-locks.ts";
export {
  createUpstreamTokens,
  type TokenPair,
  type UpstreamTokens,
  type UpstreamTokenTable,
} from "./auth/upstream-tokens.ts";
export {
  createLegacyForward,
  type LegacyForwardParts,
  legacyProblems,
  type LegacyService,
  onlyReads,
  openLegacy,
  findRoute,
} from "./forward/legacy.ts";
export { createNativeAuthorization, createNativeGate, nativeToken } from "./forward/native-authorization.ts";
export { Forward } from "./forward/forward.ts";
export {
  cleanRequestHeaders,
  cleanResponseHeaders,
  connectionOptions,
  HOP_BY_HOP,
} from "./http/forwarded-headers.ts";
export type { ForwardObserver } from "./forward/exchange.ts";
export { createNativeErrors, FAILURE, nativeError } from "./forward/forward-errors.ts";
export { badRequestBody, createMessageRejection } from "./http/bad-request.ts";
export {
  createGuard,
  createGuards,
  createPreflightLimit,
  type GuardDependencies,
  type GuardOptions,
  PACK_HEADER,
  UNKNOWN_PACK,
  warnOfUncheckedHost,
} from "./http/browser-guards.ts";
export { allowOrigins } from "./http/cors.ts";
export { type HttpServer, isInvalidMessage, listen, ListenError } from "./http/http-server.ts";
export { createInFlightTracker } from "./http/in-flight.ts";
export { ignoreBehindLastRequest, rejectInvalid } from "./http/invalid-messages.ts";
export { createHostCheck, hostOf, READ_METHODS, SAFE_METHODS, SAME_SITES } from "./http/origins.ts";
export { createBodyReaders, hasBody, type RequestBodies } from "./bodies/receive-body.ts";
export {
  createRequestContext,
  createResponder,
  LONGEST_HEAD,
  type Middleware,
  passOn,
  plainRequestOf,
  replacePlainRequest,
  replaceUnusualTarget,
  restoreTarget,
} from "./http/request-context.ts";
export {
  createProxyWarning,
  clientAddresses,
  normalizeAddress,
  trustedProxies,
} from "./limits/client-address.ts";
export { createMemoryLimiter } from "./limits/limiter.ts";
export { createUnlimitedRates, type RateLimits } from "./limits/rate-limits.ts";
export { type ApplicationCredentials, createSignInReader, readBasicCredentials } from "./oauth/read-form.ts";
export { createOAuthRoutes, type OAuthRoutes } from "./oauth/handler.ts";
export { SIGN_INS, signOutRoutes } from "./oauth/login-calls.ts";
export { LoginServer } from "./oauth/login-server.ts";
export { type OAuthServices, openOAuthServices } from "./oauth/oauth-services.ts";
export { RequestedScopes } from "./oauth/requested-scopes.ts";
export { ANONYMOUS } from "./request/client.ts";
export { provenIdentity, type RequestContext } from "./request/context.ts";
export { cursorParameters, removeCursorMark, type Side } from "./pipeline/cursor-mark.ts";
export { UpstreamActivity, hasWritten, type UpstreamCallRecord } from "./calls/instrument-call.ts";
export { type AlphaHandler, type LifecycleDependencies, withLifecycle } from "./pipeline/lifecycle.ts";
export { createPipelineConfig, settingsVary, readLinkBase } from "./pipeline/pipeline-config.ts";
export { createAlphaPipeline, type PipelineDependencies } from "./pipeline/pipeline.ts";
export { NO_PLAN, type PlanRules, type PlanVerdict } from "./request/plan.ts";
export { createSenderReader, type RequestSender } from "./pipeline/read-sender.ts";
export { type AlphaRequest, hasFragment, header, splitTarget, takeQueryTokens } from "./request/request.ts";
export type { AlphaResponse, HandlerResult, RequestOutcome } from "./request/response.ts";
export {
  authenticate,
  createCredentialsReader,
  isNative,
  type ReadCredentials,
} from "./stages/authenticate.ts";
export { findIssuer } from "./stages/enforce-plan.ts";
export { consumeRateLimit, createLimitError, rejectLimited } from "./stages/rate-limit.ts";
export { findInvalidIds } from "./responses/bulk/make-call.ts";
export { type ForwardedExchange, isAccepted, translatedExchange } from "./record/recorded-exchange.ts";
export { createRecord, recordCalls } from "./record/create-record.ts";
export type { BodyStart } from "./record/body-start.ts";
export { addFromCall, isSecretId } from "./record/find-secrets.ts";
export { createRecordOptions, createRedaction } from "./record/record-options.ts";
export { Recorder } from "./record/recorder.ts";
export { createResponseCache, NO_RESPONSE_CACHE } from "./calls/response-cache.ts";
export {
  openExistingState,
  openSharedState,
  type SharedState,
  type StateSettings,
} from "./state/shared-state.ts";
export { openSqliteKeyValueStore } from "./state/sqlite-store.ts";
export { watchFullness } from "./state/state-fullness.ts";
export { firstPagePath } from "./upstream/catalog-reader.ts";
export { Cancellation } from "./upstream/cancel-signal.ts";
export { CircuitBreaker } from "./upstream/circuit-breaker.ts";
export { createUpstream, openUpstream, type UpstreamClient } from "./upstream/client.ts";
export { type CatalogCache, connectCatalogs } from "./upstream/catalog-cache.ts";
export type { FileUpstream, HttpRequest, HttpResponse, Upstream } from "./upstream/http-call.ts";
export { UndecodableError, UpstreamError } from "./upstream/upstream-error.ts";
export { createTlsConnector, type CurrentContext, UPSTREAM_TLS } from "./upstream/open-tls.ts";
