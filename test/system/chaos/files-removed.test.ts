/** The files of SQLite are removed or replaced while the gateway runs: the system keeps them until it ends, and no longer. */
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { acceptGoodTokens, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "../e2e/program.ts";
import { readMetric, waitForReadiness } from "./admin-client.ts";

let v4: FakeV4;
let data: string;
let gateway: Serving;

beforeEach(async () => {
  v4 = await startFakeV4();
  v4.respondWith(acceptGoodTokens);
  const folder = temporaryFolder();
  data = join(folder, "data");
  gateway = await serve(folder, { env: { UPSTREAM_URL: v4.url, DATA_DIR: data } });
  await ask();
  while ((await readMetric(gateway.admin, "audit_written_total")) < 1);
});

const ask = async (): Promise<number> => {
  const headers = { authorization: "token good" };
  const response = await fetch(`${gateway.url}/v4/vm/instances`, { headers });
  await response.arrayBuffer();
  return response.status;
};

const remove = (name: string) => () => {
  for (const end of ["", "-wal", "-shm"]) rmSync(join(data, name + end));
};
const replace = (name: string) => () => {
  const file = join(data, name);
  cpSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
};

describe.each([
  ["audit.db", "audit store", "AG_AUDIT_STORE_FAILED"],
  ["state.db", "state store", "AG_STATE_UNAVAILABLE"],
])("%s", (name, store, code) => {
  test.each([
    ["removed", remove(name)],
    ["replaced", replace(name)],
    ["without its log of changes", () => rmSync(join(data, `${name}-wal`))],
  ])("%s: the gateway serves, is not ready, and logs the reason once", async (_how, lose) => {
    lose();
    const reasons = await waitForReadiness(gateway.admin, 503);
    expect(reasons).toEqual([expect.stringContaining("was removed or replaced")]);
    expect(reasons[0]?.toLowerCase()).toContain(store);
    expect(await ask()).toBe(200);
    await waitForReadiness(gateway.admin, 503);
    gateway.signal("SIGTERM");
    const lines = (await gateway.ended).err.split("\n").filter((line) => line.includes(code));
    expect(lines).toEqual([expect.stringContaining(name)]);
  });
});

test("records for a removed audit.db wait, and do not count as written, until it is back", async () => {
  const away = join(data, "..", "away");
  renameSync(data, away);
  await waitForReadiness(gateway.admin, 503);
  for (let n = 0; n < 5; n += 1) expect(await ask()).toBe(200);
  expect(await readMetric(gateway.admin, "audit_written_total")).toBe(1);
  expect(await readMetric(gateway.admin, "audit_queued")).toBe(5);
  renameSync(away, data);
  expect(await waitForReadiness(gateway.admin, 200)).toEqual([]);
  while ((await readMetric(gateway.admin, "audit_written_total")) < 6);
  expect(await readMetric(gateway.admin, "audit_dropped_total")).toBe(0);
});
