/** `alpha-gateway rollout`, in this process, beside a gateway that runs. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { userInfo } from "node:os";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { json } from "../../support/fake-v4.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { startOldService, type TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";
import { isOld, LIST, startTwoSides, type TwoSides } from "./two-sides.ts";

let folder: string;
let old: TestOldService;
let gateway: Gateway;
let flags: string[];
let two: TwoSides;
const printed = captureCommands();

beforeEach(async () => {
  folder = temporaryFolder();
  old = await startOldService();
  old.respondWith(json(200, { from: "old" }));
});

async function start(rollout: string): Promise<void> {
  two = await startTwoSides(old, rollout, { DATA_DIR: folder });
  ({ gateway } = two);
  flags = [`--rollout-file=${two.rolloutFile}`, `--clients-file=${two.clientsFile}`, `--data-dir=${folder}`];
}

const run = (...args: readonly string[]): Promise<number> => runCommandLine(["rollout", ...args, ...flags]);

const callsOld = async (client: string): Promise<boolean> => isOld(await two.call(client));

describe("rollout", () => {
  test("prints who is where and why", async () => {
    await start(`data: shared\nnew: [{ clients: [billing] }, { routes: [${LIST}] }]`);
    expect(await run()).toBe(0);
    expect(printed()).toContain(
      "1 of 2 clients get the translation; data: shared (one store for both services)",
    );
    expect(printed()).toContain("new  billing: named in the file");
    expect(printed()).toContain(`old  reports: no rule matches\n     new on ${LIST}: all clients`);
  });

  test("turn-back and resume change a running gateway, and say who did it", async () => {
    await start("data: shared\nnew: all");
    expect(await callsOld("billing")).toBe(false);
    expect(await run("turn-back", LIST, "--reason=a word is wrong")).toBe(0);
    await waitFor(() => callsOld("billing"));
    expect(await run()).toBe(1);
    expect(printed()).toContain(`returned: ${LIST} at `);
    expect(printed()).toContain(`by ${userInfo().username}: a word is wrong`);
    expect(await run("resume", LIST)).toBe(0);
    await waitFor(async () => !(await callsOld("billing")));
    expect(await run("resume", LIST)).toBe(1);
  });

  test("turns back one client, or all", async () => {
    await start("data: shared\nnew: all");
    await run("turn-back", "billing");
    await waitFor(() => callsOld("billing"));
    expect(await callsOld("reports")).toBe(false);
    await run("turn-back", "all");
    await waitFor(() => callsOld("reports"));
  });

  test("--format json prints the same as the admin API", async () => {
    await start("data: shared\nnew: all");
    await run("--format", "json");
    const { blocked, ...status } = (await gateway.requestAdmin("GET /api/rollout")).body.rollout;
    expect(JSON.parse(printed())).toEqual({ ...status, blocked: [] });
    expect(blocked).toEqual([]);
  });

  test("takes an application that has no name, and says the name of another one", async () => {
    await start("data: shared\nnew: all");
    expect(await run("turn-back", "application:app-2")).toBe(0);
    expect(await run("turn-back", "application:app-1")).toBe(1);
    expect(printed()).toContain(
      "AG_ROLLOUT_REFUSED: CLIENTS_FILE has the application app-1 as billing: name billing.",
    );
  });

  test("names unknown targets, and does nothing", async () => {
    await start("data: shared\nnew: all");
    expect(await run("turn-back", "biling")).toBe(1);
    expect(printed()).toContain('AG_ROLLOUT_REFUSED: There is no route and no client "biling"');
  });

  test("resume of a target that has not returned lists those that have; an unknown name is refused", async () => {
    await start("data: shared\nnew: all");
    expect(await run("resume", "billing")).toBe(1);
    expect(printed()).toContain("billing has not returned. Nothing has.\n");
    await run("turn-back", LIST);
    await run("turn-back", "reports");
    for (const target of ["billing", "all"]) {
      expect(await run("resume", target)).toBe(1);
      expect(printed()).toContain(`${target} has not returned. These have: ${LIST}, reports.\n`);
    }
    expect(await run("resume", "biling")).toBe(1);
    expect(printed()).toContain('AG_ROLLOUT_REFUSED: There is no route and no client "biling"');
  });
});

test("check --rollout checks a file with the pack and the client directory", async () => {
  await start("data: shared\nnew: all");
  const directory = `--clients=${writeOperatorFile("billing: {}", "clients.yaml")}`;
  const check = (text: string): Promise<number> =>
    runCommandLine(["check", directory, `--rollout=${writeOperatorFile(text, "rollout.yaml")}`]);
  expect(await check("data: shared\nnew: [{ clients: [billing] }]")).toBe(0);
  expect(printed()).toContain("1 client\n1 rule\n");
  expect(await check("data: { replicated: 2s }\nnew: [{ routes: [GET /vm/instances] }]")).toBe(1);
  expect(printed()).toContain("AG_ROLLOUT_DATA");
});

describe("POST /api/rollout/turn-back", () => {
  test("does the same, and the admin API resumes nothing", async () => {
    await start("data: shared\nnew: all");
    const turnBack = (body: object) => gateway.requestAdmin("POST /api/rollout/turn-back", { body });
    expect((await turnBack({ by: "Ann", target: "biling" })).status).toBe(409);
    expect((await turnBack({ target: "all" })).status).toBe(400);
    const { status, body } = await turnBack({ by: "Ann", target: "all", reason: "odd" });
    expect([status, body.rollout.trips[0].by]).toEqual([200, "Ann"]);
    expect(await callsOld("billing")).toBe(true);
    expect((await gateway.requestAdmin("POST /api/rollout/resume", { body: {} })).status).toBe(404);
  });

  test("is 404 without a rollout", async () => {
    gateway = await startGateway({ DATA_DIR: folder });
    const { status } = await gateway.requestAdmin("POST /api/rollout/turn-back", {
      body: { by: "Ann", target: "all" },
    });
    expect([status, (await gateway.requestAdmin("GET /api/rollout")).body]).toEqual([404, { rollout: null }]);
  });
});
