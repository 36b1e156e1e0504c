/** A whole gateway before its own sandbox, as clients meet it: over HTTP, on free ports, with an audit store of its own. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { manualClock, type ManualClock } from "../../src/sandbox/clock.ts";
import {
  startSandbox,
  type Sandbox,
  type SandboxOptions,
  type TokenName,
} from "../../src/sandbox/sandbox.ts";
import { startService, type Service } from "../../src/app/start.ts";
import { loadFiles, readPackOf, type LoadedPack } from "../../src/app/load-pack.ts";
import { readEnvironment } from "../../src/config/settings.ts";
import type { Settings } from "../../src/config/schema.ts";

export interface RequestOptions {
  /** Name of a token of the sandbox, or the token itself; null: none. Default `full`. */
  readonly as?: TokenName | (string & {}) | null;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly text?: string | Uint8Array<ArrayBuffer>;
  readonly filter?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any;
}

export interface Gateway {
  readonly service: Service;
  readonly sandbox: Sandbox;
  readonly clock: ManualClock;
  /** `request("GET /vm/instances?page=2")`, in alpha. */
  request(call: string, options?: RequestOptions): Promise<TestResponse>;
  /** The same of v4, asked directly. */
  requestV4(call: string, options?: RequestOptions): Promise<TestResponse>;
  /** What v4 was sent since the last time this was asked, catalogs left out. */
  takeV4Requests(): Sandbox["requests"];
  /** Records of the audit, the newest first, once all are committed. */
  readAudit(): Promise<TestResponse["body"][]>;
  stop(): Promise<void>;
}

async function tell(url: string, method: string, init: RequestInit): Promise<TestResponse> {
  const response = await fetch(url, { ...init, method, redirect: "manual" });
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, headers: response.headers, text, body };
}

const packs = new LRUCache<string, LoadedPack>({ max: 4 });

/** The pack that the settings name: made once, not for every gateway that a test starts. */
function loadPackOnce(settings: Settings): LoadedPack {
  const files = readPackOf(settings);
  const key = JSON.stringify([files, Object.entries(settings.WORDS)]);
  return packs.get(key) ?? packs.set(key, loadFiles(files, settings)).get(key)!;
}

/** Starts one. `settings` are environment variables besides those that a test needs. */
export async function startGateway(
  settings: Readonly<Record<string, string>> = {},
  options: SandboxOptions = {},
): Promise<Gateway> {
  const clock = manualClock(Date.UTC(2026, 4, 20, 12));
  const sandbox = await startSandbox({ clock, rateLimit: { limit: 100_000, seconds: 120 }, ...options });
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  const environment = {
    PORT: "0",
    ADMIN_PORT: "0",
    DATA_DIR: folder,
    LOG_LEVEL: "silent",
    UPSTREAM_URL: sandbox.url,
    AUTH_URL: sandbox.authUrl,
    // Clients of tests keep their connections, for each of which the end would wait.
    SHUTDOWN_GRACE_MS: "200",
    RATE_LIMIT: "100000/120",
    RATE_LIMIT_CREATE: "100000/30",
    ...settings,
  };
  let service: Service;
  try {
    const read = readEnvironment(environment);
    service = await startService(read, { loaded: loadPackOnce(read) });
  } catch (error) {
    // Else it would listen on, and the test run would never end.
    await sandbox.close();
    throw error;
  }
  let last = sandbox.requests.at(-1);

  function send(
    base: string,
    scheme: string,
    call: string,
    { as = "full", body, text, filter, headers }: RequestOptions = {},
  ): Promise<TestResponse> {
    const [method = "GET", path = "/"] = call.split(" ", 2);
    const token = as === null ? undefined : ((sandbox.tokens as Record<string, string>)[as] ?? as);
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
    return tell(`${base}${path.startsWith("/v4") || path.startsWith("//") ? "" : "/v4"}${path}`, method, {
      headers: {
        ...(token !== undefined && { authorization: `${scheme} ${token}` }),
        ...(sent !== undefined && { "content-type": "application/json" }),
        ...(filter !== undefined && {
          "x-filter": typeof filter === "string" ? filter : JSON.stringify(filter),
        }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
    });
  }

  return {
    service,
    sandbox,
    clock,
    request: (call, ask) => send(service.url, "token", call, ask),
    requestV4: (call, ask) => send(sandbox.url, "Bearer", call, ask),
    takeV4Requests() {
      const fresh = sandbox.requests.slice(last ? sandbox.requests.indexOf(last) + 1 : 0);
      last = sandbox.requests.at(-1);
      return fresh.filter(({ headers }) => headers["authorization"] !== undefined);
    },
    async readAudit() {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return (await tell(`${service.adminUrl}/api/audit`, "GET", {})).body.records;
    },
    async stop() {
      await service.stop();
      await sandbox.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
