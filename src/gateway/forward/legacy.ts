/** The old service of `LEGACY_URL`: its connections, its requests, and the records of its responses. */
import type { IncomingMessage } from "node:http";
import { noteOldAnswer } from "../auth/known-senders.ts";
import { AcceptedTokens, fingerprint, tokenHash } from "../auth/token-cache.ts";
import {
  addressNetwork,
  isObserving,
  type Log,
  mayShareAddresses,
  type Metrics,
  OTHER_ROUTE,
  RouteTemplates,
  type Settings,
  type UsedUp,
} from "../../base/index.ts";
import { findUsualToken, hasDotSegment, type Pack, type Route, splitPath } from "../../pack/index.ts";
import { cleanLegacyRequestHeaders, cleanLegacyResponseHeaders } from "../http/forwarded-headers.ts";
import type { InFlightTracker } from "../http/in-flight.ts";
import { SAFE_METHODS } from "../http/origins.ts";
import { restoreTarget } from "../http/request-context.ts";
import { trustedProxies } from "../limits/client-address.ts";
import { settingsVary } from "../pipeline/pipeline-config.ts";
import type { ForwardedExchange } from "../record/recorded-exchange.ts";
import type { Recorder } from "../record/recorder.ts";
import type { AlphaRequest } from "../request/request.ts";
import { openBreaker } from "../upstream/open-breaker.ts";
import type { UpstreamTls } from "../upstream/open-tls.ts";
import { createLegacyErrors, legacyError } from "./forward-errors.ts";
import { Forward, type ForwardRequest } from "./forward.ts";

/** The name of the old service in messages. */
const NAME = "the old service";

/** The old service, with connections that all packs share. */
export type LegacyService = NonNullable<ReturnType<typeof openLegacy>>;

/** The names of exhausted shares in the log. */
const USED_UP: Readonly<Record<UsedUp, string>> = {
  client: "one client has added as many observed routes as it may",
  network: "one network has added as many observed routes as it may",
  all: "there are as many observed routes as there may be",
};

/** The old service's time-out as a multiple of v4's, because clients of the old service are used to slow calls. */
const TIMEOUT_FACTOR = 4;

function openTemplates(log: Log, metrics: Metrics): RouteTemplates {
  const templates = new RouteTemplates(undefined, (what, { token }) =>
    log.warn(
      { code: "AG_OBSERVED_ROUTES_FULL", share: what, client: token && fingerprint(token) },
      `${USED_UP[what]}: further paths are recorded as the route ${OTHER_ROUTE}`,
    ),
  );
  metrics.addGauge(
    "observed_routes",
    "Routes found in the paths of an API without a pack.",
    () => templates.size,
  );
  metrics.addTotal(
    "observed_routes_refused_total",
    "Requests recorded as the route other, because a share of the observed routes is used up.",
    () => templates.refused,
  );
  return templates;
}

/** Opens the old service. Undefined if `LEGACY_URL` is not set. No request is sent to it yet. */
export function openLegacy(
  settings: Settings,
  {
    log,
    metrics,
    tls,
  }: { readonly log: Log; readonly metrics: Metrics; readonly tls: UpstreamTls | undefined },
) {
  const { LEGACY_URL: url, UPSTREAM_TIMEOUT_MS, UPSTREAM_CONNECTIONS: connections } = settings;
  if (url === undefined) return undefined;
  const breaker = openBreaker(
    {
      code: "AG_LEGACY_CIRCUIT_OPEN",
      reason: `${NAME} can't be reached`,
      recovery: `${NAME} can be reached again`,
      gauge: "legacy_breaker_open",
      service: NAME,
    },
    mayShareAddresses(settings),
    { log, metrics },
  );
  /** The certificates of connections to it. Undefined: the public authorities are used. */
  const secureContext = url.protocol === "https:" ? tls?.contextFor(false) : undefined;
  /** The tokens that the old service has accepted, with any active pack. */
  const acceptedTokens = new AcceptedTokens();
  const proxy = new Forward({
    name: NAME,
    origin: url,
    timeoutMs: TIMEOUT_FACTOR * UPSTREAM_TIMEOUT_MS,
    connections,
    breaker,
    secureContext,
    isAnyoneKnown: () => acceptedTokens.size > 0,
    onShortage: (reason) => log.warn({ code: "AG_LEGACY_CONNECTIONS_EXHAUSTED" }, reason),
  });
  /** The routes of an API without a pack. */
  const templates = openTemplates(log, metrics);
  return { url, secureContext, proxy, breaker, acceptedTokens, templates };
}

/**
 * The pack's route of a request. Undefined if none matches. If several routes share a path, the body that selects one
 * is not known yet: the result is a route that writes if there is one, otherwise the first route.
 */
export function findRoute({ method, path }: AlphaRequest, pack: Pack): Route | undefined {
  const segments = splitPath(path);
  const { prefix } = pack;
  if (!segments || !prefix.every((segment, index) => segments[index] === segment)) return undefined;
  const { routes = [] } = pack.match(method === "HEAD" ? "GET" : method, segments.slice(prefix.length)) ?? {};
  return routes.find(({ isSafe }) => !isSafe) ?? routes[0];
}

/** Whether a request only reads, for the client and for the upstream. If there is no route, the method decides. */
export const onlyReads = ({ method }: AlphaRequest, route: Route | undefined): boolean =>
  route ? route.isSafe : SAFE_METHODS.has(method);

/**
 * Returns the headers that decide which side serves a request. No cache may send the response of one side to clients of
 * the other side.
 */
function sideVary(settings: Settings, { credentials }: Pack): readonly string[] {
  const headers = ["Authorization", ...(credentials.client?.headers ?? []), "User-Agent"];
  return [...new Set(headers), ...settingsVary(settings)];
}

/** Returns the hash of a client's token. The token is read from the location that the pack defines, or that most APIs use. */
function hashOf(plain: AlphaRequest, { credentials: { client } }: Pack): string | undefined {
  const found = client?.read(plain);
  const token = found && "token" in found ? found.token : findUsualToken(plain);
  return token === undefined ? undefined : tokenHash(token);
}

/**
 * Returns why a request can't be forwarded. Requests for a different protocol, such as `h2c`, are offers that a server
 * may ignore.
 */
function refusalOf({ headers, url = "" }: IncomingMessage, hasBasePath: boolean): string | undefined {
  if (/\bwebsocket\b/i.test(headers.upgrade ?? "")) return "WebSocket connections are not passed on";
  // `*` can't be forwarded, and a target with a host would be sent to a different host.
  if (!url.startsWith("/")) return "A target without a path is not passed on";
  // It would leave the path of `LEGACY_URL`, and reach other services of the same host.
  return hasBasePath && hasDotSegment(url.split("?", 1)[0] ?? "")
    ? "A path with dot segments is not passed on"
    : undefined;
}

/** The services that the forward needs. */
export interface LegacyForwardParts {
  readonly pack: Pack;
  readonly inFlight: InFlightTracker;
}

/** Creates the function that passes a request of the active pack to the old service. */
export function createLegacyForward(
  settings: Settings,
  { url, proxy, templates, acceptedTokens }: LegacyService,
  { pack, inFlight }: LegacyForwardParts,
  recorder: Pick<Recorder, "forwarded" | "keptBytes">,
): ForwardRequest {
  const isObserved = isObserving(settings);
  const isFromProxy = trustedProxies(settings.TRUST_PROXY ?? []);

  function record(exchange: ForwardedExchange): Promise<void> {
    const { request, hash, isTrusted, forwarded } = exchange;
    const { upstreamStatus = null } = forwarded;
    const route = isObserved ? undefined : findRoute(request, pack);
    const judged = isObserved ? "unknown" : route;
    const isAccepted = noteOldAnswer(acceptedTokens, hash, judged, upstreamStatus ?? 0);
    const sender = { token: hash, network: addressNetwork(request.address) };
    return recorder.forwarded({
      ...exchange,
      isAccepted,
      isTrusted: isTrusted || isAccepted,
      route: route?.name ?? null,
      ...(isObserved && {
        guessRoute: (path) => templates.routeOf(request.method, path, upstreamStatus, sender),
      }),
    });
  }

  const forward = proxy.for({
    lane: "legacy",
    errors: createLegacyErrors(pack),
    admit(exchange) {
      const fault = refusalOf(exchange.request, url.pathname !== "/");
      if (fault === undefined) return true;
      exchange.fault = fault;
      exchange.reject(legacyError(pack, `${fault}.`, 501));
      return false;
    },
    isKnown: ({ hash }) => hash !== undefined && acceptedTokens.has(hash),
    prepareRequest(request) {
      const address = isFromProxy(request) ? undefined : request.socket.remoteAddress;
      cleanLegacyRequestHeaders(request.headers, address);
    },
    cleanResponse: cleanLegacyResponseHeaders,
    hasOwnCors: !isObserved && settings.CORS_ORIGINS !== undefined,
    // An observing gateway forwards the old service's own CORS headers.
    vary: isObserved ? settingsVary({ ...settings, CORS_ORIGINS: undefined }) : sideVary(settings, pack),
    hashOf: (plain) => hashOf(plain, pack),
    keptBytes: (plain) => recorder.keptBytes(plain, "legacy"),
    record,
    recordFirst: settings.AUDIT_DURABILITY === "strict",
  });
  return function forwardLegacy(request, response, plain, observer) {
    restoreTarget(request);
    response.on("close", inFlight.begin());
    forward(request, response, plain, observer);
  };
}

/** Returns why the old service can't serve requests. Empty if it can. */
export function legacyProblems(legacy: LegacyService | undefined): readonly string[] {
  if (!legacy) return [];
  const isOpen = legacy.breaker.state() === "open";
  return [...(isOpen ? [`${NAME} can't be reached: the circuit is open`] : []), ...legacy.proxy.shortages()];
}
