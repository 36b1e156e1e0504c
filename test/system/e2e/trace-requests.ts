/** Prints, as JSON, the files of `src/` in which the request of a list executes a function. Run it as a program. */
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startService } from "../../../src/app/composition/start.ts";
import { readSettings } from "../../../src/base/settings/settings.ts";
import { startSandbox } from "../../../src/sandbox/create-sandbox.ts";

const SOURCES = `${pathToFileURL(join(import.meta.dirname, "..", "..", "..", "src")).href}/`;

const folder = mkdtempSync(join(tmpdir(), "trace-"));
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

async function sendList(): Promise<void> {
  const response = await fetch(`${service.url}/v4/vm/instances`, {
    headers: { authorization: `token ${sandbox.tokens.full}`, "x-filter": '{"datacenter":"newark"}' },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
}

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

// The first one fills caches.
await sendList();
console.log(JSON.stringify(await executedFiles(sendList)));

await service.stop();
await sandbox.close();
rmSync(folder, { recursive: true, force: true });
