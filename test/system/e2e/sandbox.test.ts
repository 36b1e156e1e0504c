import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { run, serve } from "./program.ts";

const HARBOUR = `
accounts:
  - account: { company: Harbour, email: kari@example.org }
    users: [{ username: kari, email: kari@example.org, tokens: [{ label: ci, scopes: "*", token: kari-ci }] }]
    instances: [{ label: web-1, region: us-east, type: g6-standard-1, image: vm/debian11 }]
`;

function seedFile(text: string): { folder: string; file: string } {
  const folder = temporaryFolder();
  const file = join(folder, "data.yaml");
  writeFileSync(file, text);
  return { folder, file };
}

describe("a seed file", () => {
  test("serve --seed adds its accounts to the embedded sandbox, for alpha clients too", async () => {
    const { folder, file } = seedFile(HARBOUR);
    const gateway = await serve(folder, { flags: ["--seed", file] });

    const response = await fetch(`${gateway.url}/v4/vm/instances`, {
      headers: { authorization: "token kari-ci" },
    });
    expect(await response.json()).toMatchObject({ vms: [{ label: "web-1" }], total_results: 1 });
  });

  test("that is missing, or given with a real v4 service, is rejected", async () => {
    const missing = await run(["sandbox", "--seed", "/nowhere/data.yaml"]).ended;
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("/nowhere/data.yaml") });

    const both = await run(["serve", "--seed", "x.yaml", "--upstream-url", "https://v4.example.org"]).ended;
    expect(both).toMatchObject({ code: 1, err: expect.stringContaining("SEED: only the embedded sandbox") });
  });
});

test("sandbox runs v4 alone, with the accounts of a seed file, until a signal", async () => {
  const { file } = seedFile(HARBOUR);
  const sandbox = run(["sandbox", "--port", "0", "--seed", file], { cwd: temporaryFolder() });
  const [, url = "", token = ""] = await sandbox.waitForOutput(/^v4 sandbox +(\S+)[^]*^ +full +(\S+)$/m);
  const list = async (as: string): Promise<unknown> =>
    (await fetch(`${url}/v4/vm/instances`, { headers: { authorization: `Bearer ${as}` } })).json();
  expect(await list(token)).toMatchObject({ data: expect.any(Array), page: 1 });
  expect(await list("kari-ci")).toMatchObject({ data: [{ label: "web-1" }] });

  sandbox.signal("SIGTERM");
  expect(await sandbox.ended).toMatchObject({ code: 0, signal: null, err: "" });
});
