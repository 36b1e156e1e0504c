/** Hundreds of made-up tokens with user agents of the maximum length do not displace audit records. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { startListeningGateway } from "../../support/gateway.ts";
import { readMetric } from "./admin-client.ts";

const PURGE_MS = 10_000;

test("a flood of unknown tokens and long user agents deletes no record", async () => {
  const folder = await mkdtemp(join(tmpdir(), "audit-flood-"));
  const settings = { DATA_DIR: folder, AUDIT_SIZE_LIMIT: "10mb", AUDIT_DURABILITY: "strict" };
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
