/** Runs every script by every way there is, and writes docs/results/inputs.tsv and inputs.md. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { splitPage } from "../../../fuzz/worst/section.ts";
import { RECORDING } from "../../support/gateway.ts";
import { startListeningGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { FRONTS, type FrontName } from "./fronts.ts";
import { page, table, type Row } from "./inputs-page.ts";
import { runBehind } from "./run-behind.ts";
import { runScript, type ScriptResult } from "./run-script.ts";
import { readScripts, type Dialect, type Script } from "./script.ts";
import { SETTINGS } from "./settings.ts";

const RESULTS = join(import.meta.dirname, "../../../docs/results");
const PAGE = join(RESULTS, "inputs.md");
const rows = readScripts().map((script): Row => ({ script, seen: {} }));

async function runAtTheGateway(): Promise<void> {
  const gateway = await startListeningGatewayWithFakeV4({ ...RECORDING, ...SETTINGS });
  const door = { gateway, address: gateway.url };
  const run = (script: Script, dialect: Dialect): Promise<ScriptResult> =>
    runScript(script, dialect, door, script.expected[dialect]);
  try {
    for (const { script, seen } of rows)
      seen.gateway = { alpha: await run(script, "alpha"), native: await run(script, "native") };
  } finally {
    await gateway.stop();
  }
}

async function runBehindIt(name: FrontName): Promise<void> {
  const all = await runBehind(
    name,
    rows.map(({ script }) => script),
  );
  for (const row of rows) Object.assign(row.seen, { [name]: all.get(row.script) });
}

const nginx = /nginx\/\S+/.exec(spawnSync("/usr/sbin/nginx", ["-v"], { encoding: "utf8" }).stderr)?.[0] ?? "";
const haproxy = /HAProxy version [\d.]+/.exec(
  execFileSync("/usr/sbin/haproxy", ["-v"], { encoding: "utf8" }),
)?.[0];
await runAtTheGateway();
for (const name of FRONTS) await runBehindIt(name);
await writeFile(join(RESULTS, "inputs.tsv"), table(rows));
const { section } = splitPage(await readFile(PAGE, "utf8"));
await writeFile(
  PAGE,
  [page(rows, [`Node ${process.version}`, nginx, haproxy ?? ""]), section].filter(Boolean).join("\n"),
);
