/** Prints, as JSON, the files of `src/` in which each of four requests executes a function. Run it as a program. */
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startService } from "../../../src/app/start.ts";
import { readSettings } from "../../../src/base/settings/settings.ts";
import { startSandbox } from "../../../src/sandbox/create-sandbox.ts";

const SOURCES = `${pathToFileURL(join(import.meta.dirname, "..", "..", "..", "src")).href}/`;

const folder = mkdtempSync(join(tmpdir(), "trace-"));
const observed = mkdtempSync(join(tmpdir(), "trace-"));
const sandbox = await startSandbox();
const service = await startService(
  readSettings({
    PORT: "0",
    ADMIN_PORT: "off",
    DATA_DIR: folder,
    LOG_LEVEL: "silent",
    UPSTREAM_URL: sandbox.url,
    AUTH_URL: sandbox.authUrl,
  }),
);

/** A gateway that observes, in front of the same service. */
const observing = await startService(
  readSettings({
    PORT: "0",
    ADMIN_PORT: "off",
    DATA_DIR: observed,
    LOG_LEVEL: "silent",
    LEGACY_URL: sandbox.url,
  }),
);

interface Init {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(scheme: string, init: Init = {}, { url } = service): Promise<void> {
  const authorization = `${scheme} ${sandbox.tokens.full}`;
  const response = await fetch(`${url}/v4/vm/instances`, {
    ...init,
    headers: { authorization, ...init.headers },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
}

let created = 0;
const requests: Readonly<Record<string, () => Promise<void>>> = {
  list: () => send("token", { headers: { "x-filter": '{"datacenter":"newark"}' } }),
  create: () => {
    created += 1;
    const body = { datacenter: "newark", type: "g6-standard-1", label: `${"abcdef"[created]}-traced` };
    const headers = { "content-type": "application/json" };
    return send("token", { method: "POST", headers, body: JSON.stringify(body) });
  },
  native: () => send("Bearer"),
  legacy: () => send("Bearer", {}, observing),
};

const session = new Session();
session.connect();
await session.post("Profiler.enable");

async function executedFiles(request: () => Promise<void>): Promise<string[]> {
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await request();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  return result
    .filter(
      ({ url, functions }) => url.startsWith(SOURCES) && functions.some(({ ranges }) => ranges[0]?.count),
    )
    .map(({ url }) => `src/${url.slice(SOURCES.length)}`)
    .filter((path) => !path.startsWith("src/sandbox/"))
    .toSorted();
}

// The first of each fills caches.
for (const request of Object.values(requests)) await request();
const traces: Record<string, string[]> = {};
for (const [name, request] of Object.entries(requests)) traces[name] = await executedFiles(request);
console.log(JSON.stringify(traces));

await observing.stop();
await service.stop();
await sandbox.close();
for (const each of [folder, observed]) rmSync(each, { recursive: true, force: true });
