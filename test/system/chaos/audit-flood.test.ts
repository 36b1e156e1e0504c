/** Neither made-up tokens nor an accepted client displace the audit records of other clients. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { envelope, json } from "../../support/fake-v4.ts";
import { RECORDING, startListeningGateway } from "../../support/gateway.ts";
import { startListeningGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { incompressible } from "../../audit/record/sample-record.ts";
import { readMetric } from "./admin-client.ts";

const PURGE_MS = 10_000;

test("a flood of unknown tokens and long user agents deletes no record", async () => {
  const folder = await mkdtemp(join(tmpdir(), "audit-flood-"));
  const settings = { DATA_DIR: folder, AUDIT_SIZE_LIMIT: "10mb", ...RECORDING };
  const gateway = await startListeningGateway(settings);
  const admin = gateway.adminUrl;
  // oxlint-disable-next-line typescript/no-explicit-any -- responses of two shapes
  const read = async (path: string): Promise<any> => (await fetch(`${admin}/api/${path}`)).json();
  try {
    for (let n = 0; n < 5; n += 1) expect((await gateway.request("GET /vm/instances")).status).toBe(200);
    const [first] = (await read("audit?limit=500")).records;
    for (let n = 0; n < 800; n += 1) {
      const headers = { "user-agent": `${n} ${"x".repeat(12_000)}`, "x-filter": "x".repeat(1000) };
      expect((await gateway.request("GET /vm/instances", { as: `made-up-${n}`, headers })).status).not.toBe(
        200,
      );
    }
    // The next purge has been, whenever the last was.
    await wait(PURGE_MS + 3000);
    expect(await (await fetch(`${admin}/api/audit/${first.id}`)).json()).toEqual(first);
    expect(await readMetric(admin, "audit_evicted_total")).toBe(0);
    expect(await readMetric(admin, "audit_written_total")).toBe(805);
    const { clients } = await read("usage/clients");
    expect(clients).toHaveLength(2);
  } finally {
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);

test("a flood of an accepted client deletes no record of another client, and not its own newest", async () => {
  const folder = await mkdtemp(join(tmpdir(), "audit-flood-"));
  const gateway = await startListeningGatewayWithFakeV4({
    DATA_DIR: folder,
    AUDIT_SIZE_LIMIT: "10mb",
    AUDIT: "full",
    RATE_LIMIT: "1000000/1",
    RATE_LIMIT_CREATE: "1000000/1",
  });
  gateway.v4.respondWith(json(200, envelope([{ id: 7, label: "web-one" }])));
  const native = (token: string, path: string) =>
    gateway.request(`GET ${path}`, { as: null, headers: { authorization: `Bearer ${token}` } });
  const recordsOf = async (
    text: string,
  ): Promise<{ id: string; lane: string; client: { fingerprint: string } }[]> =>
    (await gateway.requestAdmin(`GET /api/audit?${text}`)).body.records;
  try {
    await gateway.request("GET /vm/instances", { as: "token-of-quiet-client" });
    await native("token-of-quiet-client", "/vm/instances?page=1");
    await waitFor(async () => (await recordsOf("")).length === 2);
    const quiet = await recordsOf("");
    await gateway.request("GET /vm/instances", { as: "token-of-flooding-client" });
    for (let n = 0; n < 80; n += 1) {
      const body = { label: incompressible(200_000) };
      const rejected = await gateway.request("POST /vm/instances", { as: "token-of-flooding-client", body });
      expect(rejected.status).toBe(400);
      for (let m = 0; m < 5; m += 1)
        await native(
          "token-of-flooding-client",
          `/vm/instances?q=${incompressible(6000).replaceAll(/[+=/]/g, "")}`,
        );
    }
    await waitFor(async () => (await readMetric(gateway.adminUrl, "audit_written_total")) === 483);
    const oldest = await waitFor(async () => (await recordsOf("&status=400&limit=80")).at(-1));
    await waitFor(async () =>
      (await gateway.requestAdmin(`GET /api/audit/${oldest?.id}`)).text.includes("AUDIT_SIZE_LIMIT"),
    );
    expect(await recordsOf(`&client=${quiet[0]?.client.fingerprint}`)).toEqual(quiet);
    const newest = await recordsOf("&limit=10");
    expect(JSON.stringify(newest).length).toBeGreaterThan(200_000);
    expect(newest.map(({ lane }) => lane)).toEqual(expect.arrayContaining(["alpha", "native"]));
    expect(newest[0]?.client.fingerprint).not.toBe(quiet[0]?.client.fingerprint);
    const { clients } = (await gateway.requestAdmin("GET /api/usage/clients")).body;
    expect(clients).toMatchObject([{ requests: 481 }, { requests: 2 }]);
  } finally {
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
