/** Unexpected errors are logged with a code, and never end the process silently. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { type Ended, PROGRAM, serve, type Serving } from "./program.ts";

let v4: FakeV4;
beforeEach(async () => {
  v4 = await startFakeV4();
});

/** The program with a fault that a signal sets off. */
const planted = (fault: string): readonly string[] => [
  "--import",
  `data:text/javascript,process.on("SIGUSR2", () => { ${fault} });`,
  PROGRAM,
];
const REJECTION = planted('Promise.reject(new Error("planted rejection"))');
const EXCEPTION = planted('throw new Error("planted exception")');

const ask = async (gateway: Serving, path: string): Promise<number> =>
  (await fetch(gateway.url + path, { headers: { authorization: "token good" } })).status;

const codesOf = ({ err }: Ended): unknown[] =>
  err
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => (JSON.parse(line) as { code?: string }).code)
    .filter((code) => code?.startsWith("AG_UN"));

/** The pack with a field that only the interpreter can read, and that fails if its input is not a string. */
function packLeftToTheInterpreter(): string {
  const folder = temporaryFolder();
  cpSync("mappings", folder, { recursive: true });
  const file = join(folder, "instance.yaml");
  const read = `{ read: '[$at := $toMillis(group, "[M01]-[D01]")][0] > 0', default: "" }`;
  writeFileSync(file, readFileSync(file, "utf8").replace(/^( +hypervisor: +)hypervisor$/m, `$1${read}`));
  return folder;
}

describe("a field that is interpreted", () => {
  const rows = (...groups: unknown[]) =>
    json(200, envelope(groups.map((group, index) => ({ id: index + 1, label: "web", group, type: null }))));

  test("returns its rows; a failing row gives 500 without an unhandled rejection", async () => {
    const gateway = await serve(temporaryFolder(), {
      env: { UPSTREAM_URL: v4.url, MAPPINGS_DIR: packLeftToTheInterpreter() },
    });
    v4.respondWith(rows("02-01", "03-01"));
    const good = await fetch(`${gateway.url}/v4/vm/instances`, { headers: { authorization: "token good" } });
    expect({ status: good.status, body: await good.json() }).toMatchObject({
      status: 200,
      body: { vms: [{ hypervisor: true }, { hypervisor: true }] },
    });
    v4.respondWith(rows(7, "02-01", 8));
    expect(await ask(gateway, "/v4/vm/instances")).toBe(500);
    // The second row is not an object, so nothing waits for the promise of the first.
    v4.respondWith(json(200, envelope([{ id: 1, group: 7 }, 7])));
    expect(await ask(gateway, "/v4/vm/instances")).toBe(500);
    v4.respondWith(rows("02-01"));
    expect(await ask(gateway, "/v4/vm/instances")).toBe(200);
    gateway.signal("SIGTERM");
    const ended = await gateway.ended;
    expect({ code: ended.code, codes: codesOf(ended) }).toEqual({ code: 0, codes: [] });
  });
});

test("an unhandled rejection is logged with AG_UNHANDLED_REJECTION, and the process continues", async () => {
  const gateway = await serve(temporaryFolder(), { script: REJECTION, env: { UPSTREAM_URL: v4.url } });
  gateway.signal("SIGUSR2");
  v4.respondWith(json(200, envelope([])));
  expect(await ask(gateway, "/v4/vm/instances")).toBe(200);
  gateway.signal("SIGTERM");
  const ended = await gateway.ended;
  expect({ code: ended.code, codes: codesOf(ended) }).toEqual({ code: 0, codes: ["AG_UNHANDLED_REJECTION"] });
  expect(ended.err).toContain("planted rejection");
});

test("an uncaught exception is logged, in-flight requests finish, and the process exits with 1", async () => {
  const gateway = await serve(temporaryFolder(), { script: EXCEPTION, env: { UPSTREAM_URL: v4.url } });
  let respond = (): void => {};
  v4.respondWith((call, response) => {
    respond = () => void json(200, envelope([]))(call, response);
  });
  const inFlight = ask(gateway, "/v4/vm/instances");
  await waitFor(() => v4.calls[0]);
  gateway.signal("SIGUSR2");
  await waitFor(async () => (await fetch(`${gateway.admin}/readyz`)).status === 503);
  respond();
  expect(await inFlight).toBe(200);
  const ended = await gateway.ended;
  expect({ code: ended.code, codes: codesOf(ended) }).toEqual({ code: 1, codes: ["AG_UNCAUGHT_EXCEPTION"] });
});
