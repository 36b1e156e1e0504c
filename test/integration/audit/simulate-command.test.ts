/** `alpha-gateway sunset simulate`, in this process, with a store of its own. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openSqliteStore } from "../../../src/audit/sqlite/store.ts";
import { runCommandLine } from "../../../src/cli/program.ts";
import { captureCommands } from "../../support/command-output.ts";
import { sampleRecord } from "./sample-record.ts";
import { UNLIMITED } from "./store-contract.ts";

const PLAN = `announced: 2026-01-01
stages: [{ name: always, brown_out: "* * * * *", for: 15m, from: 2026-01-01 }]
`;

let folder: string;
const printed = captureCommands();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "simulate-"));
  await writeFile(join(folder, "plan.yaml"), PLAN);
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function simulate() {
  const flags = [`--data-dir=${folder}`, `--sunset-file=${join(folder, "plan.yaml")}`, "--format=json"];
  expect(await runCommandLine(["sunset", "simulate", ...flags])).toBe(0);
  // Its progress is printed, too.
  const [json = ""] = /\{[^]*\}/.exec(printed()) ?? [];
  return JSON.parse(json);
}

test("calls of the login server are not hit: the plan does not decide them", async () => {
  const store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
  const time = new Date(Date.now() - 3_600_000).toISOString();
  const application = "mobile";
  await store.append(sampleRecord("a", { time, application }));
  await store.append(
    sampleRecord("b", { time, application, client: null, accepted: true, route: "POST /oauth/token" }),
  );
  await store.close();
  const { recorded, stages } = await simulate();
  expect(recorded).toMatchObject({ calls: 1, clients: 1 });
  // The call is repeated each week.
  const [{ client, calls, windows }] = stages[0].clients;
  expect([client, calls]).toEqual(["application:mobile", windows]);
});
