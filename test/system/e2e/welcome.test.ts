/** What a start prints, for people and for machines. */
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { PROGRAM, run, serve } from "./program.ts";

/** Prints the name of each module of the sandbox that is loaded. */
const PRINT_SANDBOX_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    load(url, context, nextLoad) {
      if (/\\/(?:src|dist)\\/sandbox\\//.test(url)) console.log("loaded " + url);
      return nextLoad(url, context);
    },
  });
`)}`;

test("serve loads the sandbox where it has no service, and prints a working request with the service's product words", async () => {
  const gateway = await serve(temporaryFolder(), {
    script: ["--import", PRINT_SANDBOX_MODULES, PROGRAM],
    env: { WORDS: "vm=acme" },
  });
  await gateway.waitForOutput(/^loaded file:/m);
  const [, scopes] = await gateway.waitForOutput(/^OAuth .*&scopes=(\S+)$/m);
  expect(scopes).toBe("acmes:modify");
  const [, url = "", credentials = ""] = await gateway.waitForOutput(
    /^curl -g '(\S+)' -H 'Authorization: ([^']+)'$/m,
  );
  expect(url).toBe(`${gateway.url}/v4/acme/instances`);
  expect((await fetch(url, { headers: { authorization: credentials } })).status).toBe(200);
}, 60_000);

test("serve in front of a service never loads the sandbox, and prints neither token nor request", async () => {
  const gateway = await serve(temporaryFolder(), {
    script: ["--import", PRINT_SANDBOX_MODULES, PROGRAM],
    env: { UPSTREAM_URL: "http://127.0.0.1:1" },
  });
  gateway.signal("SIGTERM");
  expect((await gateway.ended).out).not.toMatch(/^(?:loaded file:|Token|OAuth|curl)/m);
}, 60_000);

test("serve with a pack for another v4, and no address of it, says what is missing", async () => {
  const env = {
    MAPPINGS_DIR: "examples/library/pack",
    DATA_DIR: temporaryFolder(),
    PORT: "0",
    ADMIN_PORT: "0",
  };
  const { code, out, err } = await run(["serve"], { env }).ended;
  expect([code, out]).toEqual([1, ""]);
  expect(err).toContain("AG_SETTINGS_INVALID: ");
  expect(err).toContain(
    "UPSTREAM_URL is missing: this pack is for another service than the embedded sandbox, which has no GET /api/new/items",
  );
}, 60_000);

test.each([
  ["auto", false],
  ["json", true],
])(
  "serve on a terminal with LOG_FORMAT=%s prints JSON before the welcome: %s",
  async (format, hasJson) => {
    const command = `${process.execPath} ${PROGRAM} serve`;
    const terminal = run([], {
      script: [],
      within: ["bash", "-c", `exec script -qefc '${command}' /dev/null`, "--"],
      env: {
        PORT: "0",
        ADMIN_PORT: "0",
        DATA_DIR: temporaryFolder(),
        LOG_FORMAT: format,
        UPSTREAM_URL: "http://127.0.0.1:1",
      },
    });
    const [printed] = await terminal.waitForOutput(/^[^]*Running, not ready yet/);
    expect(/^\{/m.test(printed)).toBe(hasJson);
    expect(printed).toContain("a catalog could not be read");
  },
  60_000,
);
