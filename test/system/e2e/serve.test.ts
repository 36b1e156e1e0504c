import { execFile } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { createFolder, removeFolders } from "./folder.ts";
import { killAll, serve } from "./program.ts";
import { startSlowV4 } from "./slow-v4.ts";

const execute = promisify(execFile);

afterEach(async () => {
  await killAll();
  removeFolders();
});

/** The response to the pasted command; without curl, the response to the same request. */
async function paste(line: string): Promise<string> {
  try {
    return (await execute("sh", ["-c", line])).stdout;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 127) throw error;
    const [, url = "", header = ""] = /^curl -g '(\S+)' -H '(.*)'$/.exec(line) ?? [];
    return (await fetch(url, { headers: { authorization: header.replace(/^Authorization: /, "") } })).text();
  }
}

test("serve without settings becomes ready, and the command that it prints works", async () => {
  const gateway = await serve(createFolder());
  const [line] = await gateway.waitForOutput(/^curl .*$/m);

  expect(JSON.parse(await paste(line))).toMatchObject({
    vms: expect.any(Array),
    page: 1,
    total_pages: expect.any(Number),
    total_results: expect.any(Number),
  });
  expect((await fetch(`${gateway.admin}/healthz`)).status).toBe(200);
  expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(200);

  gateway.signal("SIGTERM");
  // Here V8 would name flags that it does not know.
  expect(await gateway.ended).toMatchObject({ code: 0, err: "" });
});

test("a flag overrides the environment", async () => {
  const folder = createFolder();
  const gateway = await serve(folder, { env: { NATIVE_PROXY: "maybe" }, flags: ["--native-proxy", "off"] });

  const response = await fetch(`${gateway.url}/v4/regions`, { headers: { authorization: "Bearer abc" } });
  expect(response.status).toBe(401);
});

test("serve with v4 down runs, reports why it is not ready, and becomes ready later", async () => {
  const down = await startSlowV4();
  await down.close();
  const gateway = await serve(createFolder(), { env: { UPSTREAM_URL: down.url } });
  const reasons = await (await fetch(`${gateway.admin}/readyz`)).json();
  expect(reasons).toMatchObject({
    status: "not ready",
    reasons: expect.arrayContaining([expect.stringMatching(/^catalog /)]),
  });

  const up = await startSlowV4({ port: down.port });
  try {
    while ((await fetch(`${gateway.admin}/readyz`)).status !== 200) await wait(100);
    expect((await fetch(`${gateway.admin}/healthz`)).status).toBe(200);
  } finally {
    await killAll();
    await up.close();
  }
});
