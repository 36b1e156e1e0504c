/** A gateway inside the process of the tests, in front of a sandbox, with an audit store of its own. */
import type { ManualClock } from "../../src/sandbox/clock.ts";
import { manualClock } from "./manual-clock.ts";
import {
  startSandbox,
  type Sandbox,
  type SandboxOptions,
  type TokenName,
} from "../../src/sandbox/create-sandbox.ts";
import { createAdminHandler } from "../../src/app/listeners/admin-listener.ts";
import { createDependencies } from "../../src/app/composition/dependencies.ts";
import { readPackFiles, type LoadedPack } from "../../src/pack/load/loaded-pack.ts";
import { readInitialCatalogs } from "../../src/app/listeners/readiness.ts";
import { createHandlers, startService, type Service } from "../../src/app/composition/start.ts";
import { createPublicApp } from "../../src/app/listeners/public-app.ts";
import { readEnvironment } from "../../src/base/settings/settings.ts";
import type { Settings } from "../../src/base/settings/setting-definitions.ts";
import { endsWithTest, temporaryFolder } from "./ends-with-test.ts";
import { closeAndKeepPort } from "./free-port.ts";
import { loadOnce } from "./packs.ts";
import { request, type RequestOptions, type Target, type TestResponse } from "./request.ts";
import { waitFor } from "./wait-for.ts";

export type { TestResponse } from "./request.ts";

/** Environment variables. */
export type TestSettings = Readonly<Record<string, string>>;

export interface GatewayRequest extends RequestOptions {
  /** Name of a token of the sandbox, or the token itself; null: none. Default `full`. */
  readonly as?: TokenName | (string & {}) | null;
}

/** A gateway in front of any service. */
export interface TestGateway {
  /** The public application, for {@link request}. */
  readonly app: Target;
  /** Sends an alpha request: `request("GET /vm/instances?page=2")`. A path without `/v4` is one below it. */
  request(call: string, options?: GatewayRequest): Promise<TestResponse>;
  /** Sends a request to the admin application. It throws if that lacks records which the settings do not mention. */
  requestAdmin(call: string, options?: RequestOptions): Promise<TestResponse>;
  /** Records of the audit, the newest first, once all are committed. */
  readAudit(): Promise<TestResponse["body"][]>;
  readiness(): Promise<readonly string[]>;
  readonly reload: Service["reload"];
  stop(): Promise<void>;
}

/** A gateway in front of a sandbox. */
export interface Gateway extends TestGateway {
  readonly sandbox: Sandbox;
  readonly clock: ManualClock;
  /** Sends a request to v4, past the gateway. */
  requestV4(call: string, options?: GatewayRequest): Promise<TestResponse>;
  /** Requests that v4 got since the last call of this function, without those for catalogs. */
  takeV4Requests(): Sandbox["requests"];
}

/** The URLs of a gateway that listens. */
export interface Listening {
  readonly url: string;
  readonly adminUrl: string;
}

export type ListeningGateway = Gateway & Listening;

const loadPackOnce = (settings: Settings): LoadedPack => loadOnce(readPackFiles(settings), settings);

/** Sends a request with the scheme and the token of a client. */
function send(
  target: Target,
  scheme: string,
  tokens: Readonly<Record<string, string>>,
  call: string,
  { as = "full", ...options }: GatewayRequest = {},
): Promise<TestResponse> {
  const [method = "GET", path = "/"] = call.split(" ", 2);
  const token = as === null ? undefined : (tokens[as] ?? as);
  return request(target, `${method} ${/^\/(?:v4|\/)/.test(path) ? "" : "/v4"}${path}`, {
    ...options,
    headers: { ...(token !== undefined && { authorization: `${scheme} ${token}` }), ...options.headers },
  });
}

interface Running extends Pick<TestGateway, "readiness" | "reload" | "stop"> {
  readonly app: Target;
  readonly adminApp: Target;
}

/** Creates a gateway that does not listen. */
async function createApplications(settings: Settings): Promise<Running> {
  const dependencies = await createDependencies(settings, { loaded: loadPackOnce(settings) });
  const { router, activePack, admin, reload, stop } = createHandlers(settings, dependencies);
  await readInitialCatalogs(activePack);
  return {
    app: createPublicApp(router),
    adminApp: createAdminHandler(settings, dependencies, admin),
    readiness: async () => admin.readiness(),
    reload,
    stop: () => stop(),
  };
}

async function startListeners(settings: Settings): Promise<Running & Listening> {
  const { url, adminUrl = "", ...service } = await startService(settings, { loaded: loadPackOnce(settings) });
  return {
    url,
    adminUrl,
    app: url,
    adminApp: adminUrl,
    readiness: async () => service.readiness(),
    reload: service.reload,
    stop: () => service.stop(),
  };
}

async function open<T extends Running>(
  start: (settings: Settings) => Promise<T>,
  environment: TestSettings,
  tokens: Readonly<Record<string, string>>,
): Promise<T & TestGateway> {
  const defaults = {
    PORT: "0",
    ADMIN_PORT: "0",
    DATA_DIR: environment["DATA_DIR"] ?? temporaryFolder(),
    LOG_LEVEL: "silent",
    // Clients of tests keep connections open, and a shutdown waits for them.
    SHUTDOWN_GRACE_MS: "200",
    RATE_LIMIT: "100000/120",
    RATE_LIMIT_CREATE: "100000/30",
    // A thread stores records, and starting it takes most of a start. See RECORDING.
    AUDIT: "off",
  };
  const settings = readEnvironment({ ...defaults, ...environment });
  const running = await start(settings);
  const missing = "this gateway keeps no records: start it with RECORDING";
  async function requestAdmin(call: string, options?: RequestOptions): Promise<TestResponse> {
    const response = await request(running.adminApp, call, options);
    if (environment["AUDIT"] === undefined && response.text.includes("AUDIT=off")) throw new Error(missing);
    return response;
  }
  return {
    ...running,
    request: (call, options) => send(running.app, "token", tokens, call, options),
    requestAdmin,
    async readAudit() {
      if (settings.AUDIT === "off") throw new Error(missing);
      // A record is queued in the turn after its response.
      await waitFor(async () => {
        const { text } = await request(running.adminApp, "GET /metrics");
        return /^alpha_gateway_audit_queued 0$/m.test(text);
      });
      return (await requestAdmin("GET /api/audit")).body.records;
    },
    stop: endsWithTest(running.stop),
  };
}

/** Settings of a gateway that keeps records; each is stored before its response ends. Others keep none. */
export const RECORDING: TestSettings = { AUDIT: "full", AUDIT_DURABILITY: "strict" };

/**
 * Creates a gateway with its settings, without ports and without a sandbox.
 *
 * @param tokens Tokens by the names that requests use.
 */
export const openGateway = (
  environment: TestSettings,
  tokens: Readonly<Record<string, string>> = {},
): Promise<TestGateway> => open(createApplications, environment, tokens);

/** Starts a gateway as {@link openGateway} does, on ports of its own. For tests of connections and processes. */
export const openListeningGateway = (
  environment: TestSettings,
  tokens: Readonly<Record<string, string>> = {},
): Promise<TestGateway & Listening> => open(startListeners, environment, tokens);

async function withSandbox<T extends TestGateway>(
  openWith: (environment: TestSettings, tokens: Sandbox["tokens"]) => Promise<T>,
  settings: TestSettings,
  options: SandboxOptions,
): Promise<T & Gateway> {
  const clock = manualClock(Date.UTC(2026, 4, 20, 12));
  const sandbox = await startSandbox({ clock, rateLimit: { limit: 100_000, seconds: 120 }, ...options });
  const environment = { UPSTREAM_URL: sandbox.url, AUTH_URL: sandbox.authUrl, ...settings };
  const close = endsWithTest(sandbox.close);
  const gateway = await openWith(environment, sandbox.tokens);
  let last = sandbox.requests.at(-1);
  return {
    ...gateway,
    sandbox: { ...sandbox, close: () => closeAndKeepPort({ url: sandbox.url, close }) },
    clock,
    requestV4: (call, request) => send(sandbox.url, "Bearer", sandbox.tokens, call, request),
    takeV4Requests() {
      const fresh = sandbox.requests.slice(last ? sandbox.requests.indexOf(last) + 1 : 0);
      last = sandbox.requests.at(-1);
      return fresh.filter(({ headers }) => headers["authorization"] !== undefined);
    },
  };
}

/** Creates a gateway in front of a sandbox. Only the sandbox has ports. */
export const startGateway = (settings: TestSettings = {}, options: SandboxOptions = {}): Promise<Gateway> =>
  withSandbox(openGateway, settings, options);

/** The same on ports of its own. For tests of connections and processes. */
export const startListeningGateway = (
  settings: TestSettings = {},
  options: SandboxOptions = {},
): Promise<ListeningGateway> => withSandbox(openListeningGateway, settings, options);
