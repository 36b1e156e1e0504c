/** The old service of `LEGACY_URL`: its connections, and the records of its responses. */
import { noteOldAnswer } from "../auth/known-senders.ts";
import { AcceptedTokens, fingerprint } from "../auth/token-cache.ts";
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
import { type Pack, type Route, splitPath } from "../../pack/index.ts";
import type { AlphaRequest } from "../request/request.ts";
import { settingsVary } from "../pipeline/pipeline-config.ts";
import { createLegacyProxy, type ForwardLegacy, type LegacyExchange } from "./legacy-proxy.ts";
import { keptBytes } from "../record/body-start.ts";
import { legacyExchange } from "../record/forwarded-record.ts";
import { createForward, type Forward } from "./forward.ts";
import { trustedProxies } from "../limits/client-address.ts";
import { CircuitBreaker } from "../upstream/circuit-breaker.ts";
import type { CurrentContext, UpstreamTls } from "../upstream/open-tls.ts";
import type { Recorder } from "../record/recorder.ts";
import type { AuditStore } from "../../audit/index.ts";
import type { InFlightTracker } from "../http/in-flight.ts";
import { SAFE_METHODS } from "../http/origins.ts";

/** The name of the old service in messages. */
const NAME = "the old service";

/** The old service, over connections that all packs share. */
export interface LegacyService {
  readonly url: URL;
  /** The certificates of connections to it. Undefined: the public authorities. */
  readonly secureContext: CurrentContext | undefined;
  readonly proxy: Forward;
  readonly breaker: CircuitBreaker;
  /** The routes of an API without a pack. */
  readonly templates: RouteTemplates;
  /** The tokens that it has accepted, with any active pack. */
  readonly acceptedTokens: AcceptedTokens;
}

/** The exhausted share, for the log. */
const USED_UP: Readonly<Record<UsedUp, string>> = {
  client: "one client has added as many observed routes as it may",
  network: "one network has added as many observed routes as it may",
  all: "there are as many observed routes as there may be",
};

/** How much longer than v4 the old service may take, because its clients used to wait for slow calls. */
const TIMEOUT_FACTOR = 4;

/** Opens the old service. Undefined without `LEGACY_URL`. It gets no request yet. */
export function openLegacy(
  {
    LEGACY_URL: url,
    UPSTREAM_TIMEOUT_MS,
    UPSTREAM_CONNECTIONS: connections,
    TRUST_PROXY,
  }: Pick<Settings, "LEGACY_URL" | "UPSTREAM_TIMEOUT_MS" | "UPSTREAM_CONNECTIONS" | "TRUST_PROXY">,
  {
    log,
    metrics,
    tls,
  }: { readonly log: Log; readonly metrics: Metrics; readonly tls: UpstreamTls | undefined },
): LegacyService | undefined {
  if (url === undefined) return undefined;
  const breaker = new CircuitBreaker({
    areAddressesShared: mayShareAddresses({ TRUST_PROXY }),
    onChange(state) {
      if (state === "closed") log.info({}, `${NAME} can be reached again: the circuit is closed`);
      else
        log.error(
          { code: "AG_LEGACY_CIRCUIT_OPEN" },
          `${NAME} can't be reached: the circuit is open, a few requests a second probe it`,
        );
    },
  });
  metrics.addGauge("legacy_breaker_open", "1 while the circuit to the old service is open, else 0.", () =>
    Number(breaker.state() !== "closed"),
  );
  const secureContext = url.protocol === "https:" ? tls?.contextFor(false) : undefined;
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
    "Requests recorded as the route other: a share of the observed routes is used up.",
    () => templates.refused,
  );
  const timeoutMs = TIMEOUT_FACTOR * UPSTREAM_TIMEOUT_MS;
  const acceptedTokens = new AcceptedTokens();
  const proxy = createForward({
    name: NAME,
    origin: url,
    timeoutMs,
    connections,
    breaker,
    secureContext,
    isAnyoneKnown: () => acceptedTokens.size > 0,
    onShortage: (reason) => log.warn({ code: "AG_LEGACY_CONNECTIONS_EXHAUSTED" }, reason),
  });
  return { url, secureContext, proxy, breaker, acceptedTokens, templates };
}

/**
 * The pack's route of a request. Undefined if none matches. If several routes share a path, the body that selects one
 * is not read yet. Then it is a route that writes, else the first one.
 */
export function findRoute({ method, path }: AlphaRequest, pack: Pack): Route | undefined {
  const segments = splitPath(path);
  const { prefix } = pack;
  if (!segments || !prefix.every((segment, index) => segments[index] === segment)) return undefined;
  const { routes = [] } = pack.match(method === "HEAD" ? "GET" : method, segments.slice(prefix.length)) ?? {};
  return routes.find(({ isSafe }) => !isSafe) ?? routes[0];
}

/** Whether a request only reads, for the client and for the upstream. Without a route the method decides. */
export const onlyReads = ({ method }: AlphaRequest, route: Route | undefined): boolean =>
  route ? route.isSafe : SAFE_METHODS.has(method);

/**
 * The headers that decide which side serves a request. No cache may give the response of one side to clients of the
 * other.
 */
function sideVary(
  settings: Pick<Settings, "CORS_ORIGINS" | "CANDIDATE_MAPPINGS_DIR">,
  { credentials }: Pack,
): readonly string[] {
  const headers = ["Authorization", ...(credentials.client?.headers ?? []), "User-Agent"];
  return [...new Set(headers), ...settingsVary(settings)];
}

/** The services that the forward needs. */
export interface LegacyForwardParts {
  readonly pack: Pack;
  readonly audit: AuditStore | undefined;
  readonly inFlight: InFlightTracker;
}

/** Creates the function that passes a request of the active pack to the old service. */
export function createLegacyForward(
  settings: Settings,
  { proxy, templates, acceptedTokens }: LegacyService,
  { pack, audit, inFlight }: LegacyForwardParts,
  recorder: Recorder,
): ForwardLegacy {
  const { options } = recorder;
  const isObserved = isObserving(settings);
  const forward = createLegacyProxy(proxy, {
    pack,
    isFromProxy: trustedProxies(settings.TRUST_PROXY ?? []),
    hasOwnCors: !isObserved && settings.CORS_ORIGINS !== undefined,
    // While the gateway observes, it passes on the old service's own CORS headers.
    vary: isObserved ? settingsVary({ ...settings, CORS_ORIGINS: undefined }) : sideVary(settings, pack),
    recordFirst: settings.AUDIT_DURABILITY === "strict",
    isKnown: (hash) => acceptedTokens.has(hash),
    bodyLimitOf: ({ query }) =>
      audit && (options.bodies || query !== "") ? keptBytes(options.redaction) : 0,
    record: (plain, exchange) => inFlight.track(record(plain, exchange)),
  });

  async function record(plain: AlphaRequest, { hash, sent, answer, outcome }: LegacyExchange): Promise<void> {
    const matched = isObserved ? undefined : findRoute(plain, pack);
    const judged = isObserved ? "unknown" : matched;
    const { upstreamStatus } = outcome;
    const isAccepted = noteOldAnswer(acceptedTokens, hash, judged, upstreamStatus ?? 0);
    const { method, address } = plain;
    const guessRoute = (path: string): string | null =>
      templates.routeOf(method, path, upstreamStatus ?? null, {
        token: hash,
        network: addressNetwork(address),
      });
    const sender = {
      hash,
      isAccepted,
      route: matched?.name ?? null,
      guessRoute: isObserved ? guessRoute : undefined,
    };
    const bodies = { sent: await sent?.decode(), received: await answer?.body.decode() };
    return recorder.forwarded(legacyExchange(plain, outcome, sender, bodies));
  }

  return function forwardLegacy(request, response, plain, observer) {
    response.on("close", inFlight.begin());
    forward(request, response, plain, observer);
  };
}

/** Why the old service can't serve. Empty if it can. */
export function legacyProblems(legacy: LegacyService | undefined): readonly string[] {
  if (!legacy) return [];
  const isOpen = legacy.breaker.state() === "open";
  return [...(isOpen ? [`${NAME} can't be reached: the circuit is open`] : []), ...legacy.proxy.shortages()];
}
