import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve } from "./program.ts";

const execute = promisify(execFile);

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
  const gateway = await serve(temporaryFolder());
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
