/** What a start prints, for people and for machines. */
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { newFolder, removeFolders } from "./folder.ts";
import { endAll, REPOSITORY, run, serve } from "./program.ts";

afterEach(async () => {
  await endAll();
  removeFolders();
});

test("prints a call of the pack in the service's words, and it works", async () => {
  const gateway = await serve(newFolder(), { env: { WORDS: "vm=acme" } });
  const [, scopes] = await gateway.printed(/^OAuth .*&scopes=(\S+)$/m);
  expect(scopes).toBe("acmes:modify");
  const [, credentials = "", url = ""] = await gateway.printed(/^curl -H 'Authorization: ([^']+)' (\S+)$/m);
  expect(url).toBe(`${gateway.url}/v4/acme/instances`);
  expect((await fetch(url, { headers: { authorization: credentials } })).status).toBe(200);
}, 60_000);

test("prints neither token nor call before a service that is no sandbox", async () => {
  const env = { UPSTREAM_URL: "http://127.0.0.1:1" };
  const gateway = await serve(newFolder(), { env });
  gateway.signal("SIGTERM");
  expect((await gateway.ended).out).not.toMatch(/^(?:Token|OAuth|curl)/m);
}, 60_000);

test.each([
  ["auto", false],
  ["json", true],
])(
  "on a terminal, with LOG_FORMAT=%s, has JSON before the welcome: %s",
  async (format, hasJson) => {
    const command = `${process.execPath} ${join(REPOSITORY, "src", "main.ts")} serve`;
    const terminal = run([], {
      script: [],
      within: ["bash", "-c", `exec script -qefc '${command}' /dev/null`, "--"],
      env: {
        PORT: "0",
        ADMIN_PORT: "0",
        DATA_DIR: newFolder(),
        LOG_FORMAT: format,
        UPSTREAM_URL: "http://127.0.0.1:1",
      },
    });
    const [printed] = await terminal.printed(/^[^]*Running, not ready yet/);
    expect(/^\{/m.test(printed)).toBe(hasJson);
    expect(printed).toContain("a catalog could not be read");
  },
  60_000,
);
