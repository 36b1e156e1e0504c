import type { Worker } from "node:worker_threads";
import type { AuditStore } from "../audit/store.ts";
import type { BrownOuts } from "../pipeline/brown-outs/brown-outs.ts";
import { createNativeProxy } from "../pipeline/native/native-proxy.ts";
import { createBodyReaders, type RequestBodies } from "../pipeline/http/receive-body.ts";
import type { PackFiles } from "../mapping/load/load-pack.ts";
import { createMetrics, type Metrics } from "../observability/metrics/metrics.ts";
import type { Settings } from "../config/setting-definitions.ts";
import { SettingsError } from "../config/settings.ts";
import type { Pack } from "../mapping/pack.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { createTokenLocks, type TokenLocks } from "../auth/token-locks.ts";
import { openTracing, type Tracing } from "../observability/tracing/tracing.ts";
import type { Sandbox } from "../sandbox/create-sandbox.ts";
import { createUpstream, type UpstreamClient, type UpstreamOptions } from "../upstream/client.ts";
import { mergeRejections } from "../audit/merge-rejections.ts";
import { addressNetwork, type OnUntrustedProxy } from "../rate-limit/client-address.ts";
import { openAuditStore, startAuditThread } from "./audit-store.ts";
import { openOAuthServices, type OAuthServices, type OAuthServicesOptions } from "./oauth-services.ts";
import { loadFiles, readPackFiles, schedulePackBrownOuts, type LoadedPack } from "./loaded-pack.ts";
import { readLinkBase } from "./pipeline-config.ts";
import { readUpstreamTokens } from "./read-upstream-tokens.ts";
import { createLog, type Log } from "../observability/log.ts";
import { countDroppedLines } from "../observability/log-output.ts";
import { watchFullness, type StateFullness } from "./state-fullness.ts";
import { openSharedState, type SharedState } from "./state-backends.ts";
import { withOpenTelemetry } from "./with-opentelemetry.ts";
import { createInFlightTracker, type InFlightTracker } from "./in-flight.ts";
import { openUpstreamTls, type UpstreamTls } from "./upstream-tls.ts";

/** What a gateway needs to serve requests, opened, before it listens. */
export interface Dependencies {
  readonly log: Log;
  /** The pack at the start. */
  readonly initialPack: LoadedPack;
  readonly v4: V4Service;
  /** The certificates towards v4; undefined if no setting names any. */
  readonly tls: UpstreamTls | undefined;
  /** Undefined if auditing is off. */
  readonly audit: AuditStore | undefined;
  /** Token records, and the scopes that applications requested. */
  readonly state: KeyValueStore;
  readonly oauth: OAuthServices;
  readonly shared: SharedState;
  readonly stateFullness: StateFullness;
  readonly metrics: Metrics;
  readonly brownOuts: BrownOuts;
  readonly upstream: UpstreamClient;
  readonly nativeProxy: ReturnType<typeof createNativeProxy>;
  readonly tokenLocks: TokenLocks;
  readonly bodies: RequestBodies;
  readonly inFlight: InFlightTracker;
  readonly onUntrustedProxy: OnUntrustedProxy;
  /** Undefined if tracing is off. */
  readonly tracing: Tracing | undefined;
}

/** The v4 service: the one of the settings, or the embedded sandbox. */
interface V4Service {
  readonly origin: URL;
  /** Its login server; undefined if the settings name a service without one. */
  readonly authOrigin: URL | undefined;
  /** The embedded sandbox, if it is the service. */
  readonly sandbox: Sandbox | undefined;
  close(): Promise<void>;
}

export interface DependenciesOptions {
  /** The files of the pack. Default: those of the folder that the settings name. */
  readonly files?: PackFiles;
  /** The pack, if it is loaded already. */
  readonly loaded?: LoadedPack;
  /** OpenTelemetry's variables. Default: those of the process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Whether this process serves requests, and so has a part of the limits. Default: true. */
  readonly servesRequests?: boolean;
}

/** How long closing waits for the audit records of requests that were aborted. */
const LAST_RECORDS_MS = 1000;

/**
 * Opens the dependencies of a gateway. v4 gets no request yet.
 *
 * @throws {PackError} If the pack is invalid.
 * @throws {AuditUnavailableError} or {StateUnavailableError} If a store can't be opened.
 * @throws {SeedError} If the seed file of the sandbox is invalid.
 * @throws {SettingsError} If the sandbox is used with a pack for another v4, or if tokens that the pack needs are missing.
 */
export async function createDependencies(
  settings: Settings,
  options: DependenciesOptions = {},
): Promise<Dependencies> {
  // First: it starts while this thread compiles the pack.
  const auditThread = startAuditThread(settings);
  try {
    return await openDependencies(settings, options, auditThread);
  } catch (error) {
    await auditThread?.terminate();
    throw error;
  }
}

async function openDependencies(
  settings: Settings,
  { files, loaded, environment = process.env, servesRequests = true }: DependenciesOptions,
  auditThread: Worker | undefined,
): Promise<Dependencies> {
  const log = createLog(settings.LOG_LEVEL, settings.LOG_FORMAT);
  const initialPack = loaded ?? loadFiles(files ?? readPackFiles(settings), settings);
  const { pack } = initialPack;
  const brownOuts = schedulePackBrownOuts(settings, pack);
  // Only checked here, before anything is opened: each active pack reads its own.
  readUpstreamTokens(settings, pack);
  readLinkBase(settings, pack);
  const tracing = await withOpenTelemetry("OTEL_EXPORTER_OTLP_ENDPOINT", () =>
    openTracing(environment, (message) =>
      log.warn({ code: "AG_TRACE_EXPORT_FAILED", message }, "spans were not sent"),
    ),
  );
  const tls = openUpstreamTls(settings, log);
  const v4 = await openV4(settings, pack).catch(async (error: unknown) => {
    await closeAll([() => tls?.close(), () => tracing?.close()]).catch(() => {});
    throw error;
  });
  const loginContext = tls?.contextFor(v4.authOrigin?.origin === v4.origin.origin);
  const oauthOptions = { pack, log, authOrigin: v4.authOrigin, tracing, secureContext: loginContext };
  const stores = await openStores(settings, oauthOptions, { auditThread, servesRequests }).catch(
    async (error: unknown) => {
      await closeAll([() => tls?.close(), () => v4.close(), () => tracing?.close()]).catch(() => {});
      throw error;
    },
  );
  const metrics = createMetrics();
  if (stores.audit) metrics.watchAudit(stores.audit.stats);
  const upstreamOptions = {
    name: pack.dialect.upstream.name,
    origin: v4.origin,
    timeoutMs: settings.UPSTREAM_TIMEOUT_MS,
    connections: settings.UPSTREAM_CONNECTIONS,
    secureContext: tls?.contextFor(true),
  };
  const upstream = openUpstream(upstreamOptions, log, metrics);
  const bodies = createBodyReaders(settings.BODY_LIMIT);
  metrics.addGauge("body_bytes", "Bytes of request bodies in memory.", () => bodies.bytes);
  metrics.addTotal("log_dropped_total", "Log lines that nobody read.", countDroppedLines);
  metrics.addGauge(
    "replicas",
    "Processes that share the limits, this one among them.",
    stores.shared.replicas,
  );
  return {
    log,
    initialPack,
    v4,
    tls,
    ...stores,
    state: stores.shared.state,
    stateFullness: watchFullness(stores.shared.state, { log, metrics }),
    metrics,
    brownOuts,
    upstream,
    nativeProxy: createNativeProxy({ ...upstreamOptions, breaker: upstream.breaker }),
    tokenLocks: createTokenLocks(),
    bodies,
    inFlight: createInFlightTracker(),
    onUntrustedProxy: createProxyWarning(log),
    tracing,
  };
}

/** The v4 calls of a pack, with a value for each parameter. */
const v4Calls = ({ routes, dialect }: Pack): { readonly method: string; readonly path: string }[] =>
  routes.flatMap(({ source }) => {
    if (!("call" in source)) return [];
    const { method, template } = source.call;
    return [
      {
        method,
        path: dialect.upstream.base_path + template.replace(/\?.*/, "").replaceAll(/\{[^{}]*\}/g, "1"),
      },
    ];
  });

/** @throws {SeedError} If the seed file is invalid. @throws {SettingsError} If the sandbox has no call of the pack. */
async function openV4({ UPSTREAM_URL, AUTH_URL, WORDS, SEED }: Settings, pack: Pack): Promise<V4Service> {
  if (UPSTREAM_URL)
    return { origin: UPSTREAM_URL, authOrigin: AUTH_URL, sandbox: undefined, close: async () => {} };
  // Loaded only if it is used.
  const [{ startSandbox }, { readSeedFile }] = await Promise.all([
    import("../sandbox/create-sandbox.ts"),
    import("../sandbox/seed/seed-file.ts"),
  ]);
  const data = SEED === undefined ? undefined : await readSeedFile(SEED);
  const sandbox = await startSandbox({ words: WORDS, data });
  const calls = v4Calls(pack);
  const [call] = calls;
  if (call && !calls.some(({ method, path }) => sandbox.serves(method, path))) {
    await sandbox.close();
    throw new SettingsError([
      `UPSTREAM_URL is missing: this pack is for another service than the embedded sandbox, which has no ${call.method} ${call.path}`,
    ]);
  }
  return {
    origin: new URL(sandbox.url),
    authOrigin: AUTH_URL ?? new URL(sandbox.authUrl),
    sandbox,
    close: () => sandbox.close(),
  };
}

/** Creates the client of v4, and logs and counts the states of its circuit. */
function openUpstream(options: UpstreamOptions, log: Log, metrics: Metrics): UpstreamClient {
  const upstream = createUpstream({
    ...options,
    breaker: {
      onChange(state) {
        if (state === "closed") log.info(`${options.name} responds again: the circuit is closed`);
        else
          log.error(
            { code: "AG_CIRCUIT_OPEN" },
            `${options.name} fails: the circuit is open, one request a second probes it`,
          );
      },
    },
  });
  metrics.addGauge("v4_breaker_open", "1 while the circuit to the upstream is open, else 0.", () =>
    Number(upstream.breaker.state() !== "closed"),
  );
  return upstream;
}

type Stores = Pick<Dependencies, "audit" | "shared" | "oauth">;

async function openStores(
  settings: Settings,
  oauthOptions: Omit<OAuthServicesOptions, "state">,
  {
    auditThread,
    servesRequests,
  }: {
    readonly auditThread: Worker | undefined;
    readonly servesRequests: boolean;
  },
): Promise<Stores> {
  const { log } = oauthOptions;
  const audit = await openAudit(settings, oauthOptions, auditThread);
  let shared: SharedState | undefined;
  try {
    shared = await openSharedState(settings, log, servesRequests);
    const oauth = openOAuthServices(settings, { ...oauthOptions, state: shared.state });
    // If the store is down, the first request that needs the epoch reads it.
    await oauth.epoch.read().catch(() => {});
    return { audit, shared, oauth };
  } catch (error) {
    await closeAll([() => audit?.close(), () => shared?.close()]).catch(() => {});
    throw error;
  }
}

async function openAudit(
  settings: Settings,
  { log, pack }: Pick<OAuthServicesOptions, "log" | "pack">,
  thread: Worker | undefined,
): Promise<AuditStore | undefined> {
  if (settings.AUDIT === "off") return undefined;
  const options = {
    durability: settings.AUDIT_DURABILITY,
    retentionDays: settings.AUDIT_RETENTION_DAYS,
    sizeLimit: settings.AUDIT_SIZE_LIMIT,
    onFault: (error: unknown) =>
      log.error({ code: "AG_AUDIT_STORE_FAILED", err: error }, "the audit store failed"),
    onDamaged: (records: number) =>
      log.error(
        { code: "AG_AUDIT_RECORD_DAMAGED", records },
        "damaged records of the audit store were left out",
      ),
  };
  const withExport = await loadAuditExport(settings, { log, pack });
  const store = await openAuditStore(settings, options, thread);
  return mergeRejections(withExport(store), { networkOf: addressNetwork });
}

/** Wraps a store so that records are also sent to a collector, if the settings name one. */
async function loadAuditExport(
  { AUDIT_OTLP: url }: Settings,
  { log, pack }: Pick<OAuthServicesOptions, "log" | "pack">,
): Promise<(store: AuditStore) => AuditStore> {
  if (url === undefined) return (store) => store;
  const { exportToCollector } = await withOpenTelemetry(
    "AUDIT_OTLP",
    () => import("../observability/otlp/audit-export.ts"),
  );
  return (store) =>
    exportToCollector(store, {
      url,
      filterHeader: pack.dialect.client.filters?.header,
      onFault: (message, dropped) =>
        log.warn(
          { code: "AG_AUDIT_EXPORT_FAILED", message, dropped },
          "audit records were not sent to the OpenTelemetry collector; the audit store has them",
        ),
    });
}

/** Warns of the first proxy that nobody trusts. A stranger can send such a header too: one line is enough for a process. */
function createProxyWarning(log: Log): OnUntrustedProxy {
  let hasWarned = false;
  return function warnOfUntrustedProxy(address) {
    if (hasWarned) return;
    hasWarned = true;
    log.warn(
      { code: "AG_PROXY_NOT_TRUSTED", address },
      "X-Forwarded-For or Forwarded came from an address that is not in TRUST_PROXY, and has no effect: " +
        "all clients behind this address share one rate limit. If it is your proxy, set TRUST_PROXY to its address",
    );
  };
}

/**
 * Closes the dependencies, once the public listener is closed.
 *
 * @param closeListeners Closes the listeners that serve requests until the stores are closed.
 * @throws The first error, once all have been tried: one that can't be closed keeps no other open.
 */
export async function closeDependencies(
  dependencies: Dependencies,
  closeListeners: () => Promise<unknown>,
): Promise<void> {
  // Aborted requests are recorded too: only their record says whether v4 executed them.
  await dependencies.inFlight.idle(LAST_RECORDS_MS);
  await closeAll([
    () => dependencies.audit?.close(),
    () => dependencies.oauth.close(),
    () => dependencies.stateFullness.close(),
    () => dependencies.shared.close(),
    closeListeners,
    () => dependencies.tracing?.close(),
    () => dependencies.metrics.close(),
    () => dependencies.nativeProxy.close(),
    () => dependencies.upstream.close(),
    () => dependencies.tls?.close(),
    () => dependencies.v4.close(),
  ]);
}

/** Calls all functions in order. @throws The first error, once all have been called. */
async function closeAll(closers: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
