/** Runs every script by every way there is, and writes docs/inputs.md. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeFake } from "../support/before-fake.ts";
import { FRONTS, startFront } from "./fronts.ts";
import { page, type DoorName } from "./page.ts";
import { runScript, type Door, type Seen } from "./run-script.ts";
import { readScripts, type Lane } from "./script.ts";
import { SETTINGS } from "./settings.ts";

const PAGE = join(import.meta.dirname, "../../docs/inputs.md");
const rows = readScripts().map((script) => ({ script, seen: {} as Record<DoorName, Record<Lane, Seen>> }));

async function runAll(name: DoorName, door: Door): Promise<void> {
  for (const { script, seen } of rows) {
    const run = (lane: Lane): Promise<Seen> =>
      runScript(script, lane, door, name === "gateway" ? script.expected[lane] : undefined);
    seen[name] = { alpha: await run("alpha"), native: await run("native") };
  }
}

async function run(name: DoorName): Promise<void> {
  const gateway = await beforeFake(SETTINGS);
  const front = name === "gateway" ? undefined : await startFront(name, gateway.service.url);
  try {
    await runAll(name, { gateway, address: front?.address ?? gateway.service.url });
  } finally {
    await front?.stop();
    await gateway.stop();
  }
}

const nginx = /nginx\/\S+/.exec(spawnSync("/usr/sbin/nginx", ["-v"], { encoding: "utf8" }).stderr)?.[0] ?? "";
const haproxy = /HAProxy version [\d.]+/.exec(
  execFileSync("/usr/sbin/haproxy", ["-v"], { encoding: "utf8" }),
)?.[0];
for (const name of ["gateway", ...FRONTS] as const) await run(name);
await writeFile(PAGE, page(rows, [`Node ${process.version}`, nginx, haproxy ?? ""]));
