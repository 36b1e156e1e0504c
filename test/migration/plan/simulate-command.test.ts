/** `alpha-gateway sunset simulate`, in this process, with a store of its own. */
import { beforeEach, expect, test } from "@jest/globals";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { UNLIMITED } from "../../audit/store/store-contract.ts";

let folder: string;
const printed = captureCommands();
beforeEach(async () => {
  folder = temporaryFolder();
});

test("counts the calls that the end would hit: sign-ins too, but not signing out and revoking a token", async () => {
  const store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
  const time = new Date(Date.now() - 3_600_000).toISOString();
  const routes = ["GET /vm/instances", "POST /oauth/token", "POST /oauth/token/expire", "GET /logout"];
  for (const [index, route] of routes.entries()) {
    const record = sampleRecord(`record-${index}`, { client: "0000000000000001" });
    await store.append({ ...record, time, alpha: { ...record.alpha, route } });
  }
  await store.close();
  const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const plan = writeOperatorFile(`announced: ${day(-1)}\nend: ${day(30)}\n`);
  const args = ["sunset", "simulate", "--format=json", `--data-dir=${folder}`, `--sunset-file=${plan}`];
  expect(await runCommandLine(args)).toBe(0);
  const { recorded, stages } = JSON.parse(printed().slice(printed().indexOf("{"))) as {
    recorded: { calls: number };
    stages: { name: string; calls: number }[];
  };
  expect([recorded.calls, stages.map(({ name, calls }) => [name, calls])]).toEqual([2, [["end", 2]]]);
});
