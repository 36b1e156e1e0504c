/**
 * Rejects requests on the public port before the pipeline: long heads, and requests that web pages make browsers
 * send.
 */
import { credentialPlaces, type CredentialsPlace, HttpError, type Pack } from "../../pack/index.ts";
import type { IncomingMessage } from "node:http";
import { createHostCheck, type HostCheck, hostOf, SAFE_METHODS, SAME_SITES } from "./origins.ts";
import { CLIENT_GONE, type Log, type Metrics, type Settings } from "../../base/index.ts";
import { ANONYMOUS } from "../request/client.ts";
import { HEAD_TOO_LONG, isHeadTooLong, type Middleware, passOn, plainRequestOf } from "./request-context.ts";
import { type AlphaHandler, type LifecycleDependencies, withLifecycle } from "../pipeline/lifecycle.ts";
import { consumeRateLimit, rejectLimited } from "../stages/rate-limit.ts";
import { createPipelineConfig } from "../pipeline/pipeline-config.ts";
import type { SharedState } from "../state/shared-state.ts";

/** The route for preflights in the metrics. */
const PREFLIGHT = "preflight";

export interface GuardOptions {
  /** The services that handlers need to trace and record their requests. */
  readonly lifecycle: Pick<LifecycleDependencies, "record" | "onUnexpectedError" | "startSpan" | "plan">;
  readonly toMiddleware: (handler: AlphaHandler) => Middleware;
}

/** The services that guards need. */
export interface GuardDependencies {
  readonly pack: Pack;
  readonly shared: Pick<SharedState, "limits">;
}

/** Returns undefined for a valid request. */
type FindError = (request: IncomingMessage) => HttpError | undefined;

/** Rejects requests before the pipeline. They are counted against the limit of their address, and recorded. */
export function createGuard(
  settings: Settings,
  { pack, shared }: GuardDependencies,
  { lifecycle, toMiddleware }: GuardOptions,
  findError: FindError,
): Middleware {
  const config = { ...createPipelineConfig(pack, settings), ...lifecycle };
  const createRejection = (error: HttpError): Middleware =>
    toMiddleware(
      withLifecycle(async (request, context) => {
        const { status } = await consumeRateLimit(request, ANONYMOUS, undefined, shared.limits);
        context.rateLimitStatus = status;
        rejectLimited(status);
        throw error;
      }, config),
    );
  return function guard(request, response, next) {
    const error = findError(request);
    return error ? createRejection(error)(request, response, next) : next();
  };
}

/**
 * Returns the host names that a listener without client credentials accepts. Undefined: all names, as with client
 * credentials.
 */
const hostCheckOf = (settings: Settings, { credentials }: Pack): HostCheck | undefined =>
  credentials.client
    ? undefined
    : createHostCheck(settings.HOST, settings.PUBLIC_URL ? [settings.PUBLIC_URL.hostname] : []);

/** Warns at the start if web pages could use the listener under their own names. */
export function warnOfUncheckedHost(settings: Settings, pack: Pack, log: Log): void {
  if (pack.credentials.client || hostCheckOf(settings, pack)) return;
  log.warn(
    { code: "AG_HOST_NOT_CHECKED", host: settings.HOST },
    "clients need no credentials, and any host name is accepted: a page that points its domain at this address can use " +
      "the gateway through the browser of a visitor. Set PUBLIC_URL to the address that clients use",
  );
}

/**
 * Finds requests for an unknown host name if clients have no credentials. Otherwise, any page that points its domain at
 * the address could use the gateway through the browser of a visitor (DNS rebinding).
 */
function createHostErrors(settings: Settings, pack: Pack): FindError | undefined {
  const accepts = hostCheckOf(settings, pack);
  const reason = "This listener accepts loopback host names only, e.g. localhost, and that of PUBLIC_URL.";
  return accepts && (({ headers: { host } }) => (accepts(host) ? undefined : new HttpError(421, reason)));
}

/** Finds requests with a long head, except those of the native proxy. */
const findLongHead: FindError = (request) =>
  isHeadTooLong(request) ? new HttpError(431, HEAD_TOO_LONG, { by: "head_size" }) : undefined;

/** Whether browsers send a client's credentials with requests of any page, or clients have none. */
const isAmbient = ({ credentials, dialect }: Pack): boolean => {
  const { realm } = dialect.client.credentials ?? {};
  const isSentByBrowsers = ({ cookie, basic }: CredentialsPlace): boolean =>
    cookie !== undefined || (basic !== undefined && realm !== undefined);
  return !credentials.client || credentialPlaces(dialect.client.credentials).some(isSentByBrowsers);
};

/** Whether an origin is that of this gateway. Programs other than browsers send none. */
function isOwnOrigin(origin: string | undefined, host: string, publicUrl: URL | undefined): boolean {
  if (origin === undefined) return true;
  const from = hostOf(origin);
  return from !== undefined && (from === host.toLowerCase() || from === publicUrl?.host);
}

/**
 * Finds writes that a page of a different origin makes a browser send with the client's credentials (cross-site request
 * forgery). A write without a body, or with a text body, has no preflight. Browsers send their page's origin in
 * `Origin`, and most also send `Sec-Fetch-Site`. Other clients send neither.
 */
function createCrossSiteErrors(settings: Settings, pack: Pack): FindError | undefined {
  const { CORS_ORIGINS: origins = [], PUBLIC_URL: publicUrl } = settings;
  // Even with `*`, browsers do not send credentials to other origins (Fetch standard, CORS protocol).
  if (!isAmbient(pack) || (origins.includes("*") && !pack.credentials.client)) return undefined;
  const reason = "Write requests from this origin are not allowed. Add it to CORS_ORIGINS.";
  return ({ method = "", headers }) => {
    const { origin, host = "", "sec-fetch-site": site } = headers;
    if (SAFE_METHODS.has(method) || (origin !== undefined && origins.includes(origin))) return undefined;
    // A page can't set this header. It is only missing in old browsers, and in connections without TLS.
    const isOwn = site === undefined ? isOwnOrigin(origin, host, publicUrl) : SAME_SITES.has(site);
    return isOwn ? undefined : new HttpError(403, reason, { by: "cross_site" });
  };
}

/** The header, in lower case, by which a tester selects a pack, and which names the pack of a response. */
export const PACK_HEADER = "x-pack";

/** The messages for requests for a pack that does not exist, or that the client may not use. */
export const UNKNOWN_PACK = "This gateway has no pack with the hash in X-Pack.";

/** Rejects requests for a pack that this gateway does not have, and names the pack of responses to those for this pack. */
function createPackGuard(
  settings: Settings,
  dependencies: GuardDependencies,
  options: GuardOptions,
): Middleware {
  if (settings.CANDIDATE_MAPPINGS_DIR === undefined) return passOn;
  const { hash } = dependencies.pack;
  const rejectOthers = createGuard(
    settings,
    dependencies,
    options,
    ({ headers: { [PACK_HEADER]: wanted } }) =>
      wanted === undefined || wanted === hash ? undefined : new HttpError(412, UNKNOWN_PACK),
  );
  return (request, response, next) => {
    if (request.headers[PACK_HEADER] === hash) response.setHeader("X-Pack", hash);
    return rejectOthers(request, response, next);
  };
}

/** Creates the guards that the settings and the pack require. All other guards pass every request on. */
export function createGuards(settings: Settings, dependencies: GuardDependencies, options: GuardOptions) {
  const { pack } = dependencies;
  const guard = (findError: FindError | undefined): Middleware =>
    findError ? createGuard(settings, dependencies, options, findError) : passOn;
  return {
    host: guard(createHostErrors(settings, pack)),
    head: guard(findLongHead),
    crossSite: guard(createCrossSiteErrors(settings, pack)),
    pack: createPackGuard(settings, dependencies, options),
  };
}

/**
 * Counts preflights against the limit of their address, because browsers send no token with them, and in the metrics.
 */
export function createPreflightLimit({
  pack,
  shared,
  metrics,
}: GuardDependencies & { readonly metrics: Pick<Metrics, "observeRequest"> }): Middleware {
  return async function limitPreflight(_request, response, next) {
    const { startedAt, address } = plainRequestOf(response);
    const { status } = await shared.limits.consume({
      token: undefined,
      address,
      isKnownToken: false,
      isCreate: false,
    });
    response.on("close", () => {
      const ended = response.writableFinished ? response.statusCode : CLIENT_GONE;
      const timings = { total: performance.now() - startedAt, upstream: 0 };
      const alpha = { route: PREFLIGHT, status: ended };
      metrics.observeRequest(
        { lane: "alpha", alpha, v4: [], timings },
        status.isAllowed ? undefined : "limit",
      );
    });
    if (status.isAllowed) return next();
    response.writeHead(pack.statuses.limited, { "retry-after": String(status.retryAfter) }).end();
  };
}
