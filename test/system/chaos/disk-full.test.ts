/** A full disk under load: the SQLite audit keeps its guarantees, and recovers when there is space. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { readAuditRecords } from "../../support/audit-records.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { RECORDING, startListeningGateway } from "../../support/gateway.ts";
import { describeWith } from "../../support/services.ts";
import { mountSmallDisk, type SmallDisk } from "../../support/small-disk.ts";
import { waitForReadiness, readMetric } from "./admin-client.ts";
import { startLoad } from "./load.ts";
import { startRecordedGateway, type RecordedGateway } from "./recorded-gateway.ts";

const describe = await describeWith("mount");
const LONG = 60_000;
const CLIENT = { body: { name: "app", redirect_uri: "https://app.example.net/callback" } };

describe("a full disk", () => {
  let disk: SmallDisk;
  let relaxed: RecordedGateway;
  let strict: RecordedGateway;

  const folderOf = (durability: string): string => join(disk.folder, durability);
  const start = (durability: string): Promise<RecordedGateway> =>
    startRecordedGateway(durability, { DATA_DIR: folderOf(durability) });
  beforeAll(async () => {
    disk = mountSmallDisk("64m");
    relaxed = await start("relaxed");
    strict = await start("strict");
  });
  afterAll(async () => {
    await relaxed.gateway.stop();
    await strict.gateway.stop();
  });

  /** Checks the integrity of the database file, and reads the request ids of its records. */
  async function recordedIds(durability: string): Promise<ReadonlySet<unknown>> {
    const database = new DatabaseSync(join(folderOf(durability), "audit.db"), { readOnly: true });
    try {
      expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    } finally {
      database.close();
    }
    const records = await readAuditRecords({ folder: folderOf(durability) });
    return new Set(records.map(({ requestId }) => requestId));
  }

  test(
    "fails no request with relaxed audit, loses no record, and recovers when there is space",
    async () => {
      const { body } = await relaxed.gateway.request("POST /account/clients", CLIENT);
      const signIn = async ({ gateway }: RecordedGateway): Promise<number> => {
        const query = new URLSearchParams({ client_id: body.id, scopes: "vms:view" });
        return (await fetch(`${gateway.url}/oauth/authorize?${query.toString()}`, { redirect: "manual" }))
          .status;
      };
      const later = startLoad(relaxed.send, 2);
      const atOnce = startLoad(strict.send, 2);
      await later.waitForMore(20);
      await atOnce.waitForMore(20);
      disk.fill();
      for (const { admin } of [relaxed, strict])
        // The state store notices it first: it is probed by a write.
        await waitFor(async () =>
          (await waitForReadiness(admin, 503)).some((reason) => reason.includes("the disk is full")),
        );
      await later.waitForMore(50);
      await atOnce.waitForMore(50);
      const signIns = [];
      while (signIns.at(-1) !== 500) signIns.push(await signIn(relaxed));
      expect(await waitForReadiness(relaxed.admin, 503)).toContain(
        "the state store does not respond, or can't be written",
      );

      disk.free();
      for (const { admin } of [relaxed, strict]) expect(await waitForReadiness(admin, 200)).toEqual([]);
      const before = strict.failedCount();
      await later.waitForMore(20);
      await atOnce.waitForMore(20);
      expect([...(await later.end())]).toEqual([200]);
      expect(new Set(await atOnce.end())).toEqual(new Set([200, 500]));
      expect(strict.failedCount()).toBe(before);
      expect(await signIn(relaxed)).toBe(302);
      await waitFor(async () => (await readMetric(relaxed.admin, "audit_queued")) === 0);
      for (const [durability, { succeeded, admin, failedCount }] of Object.entries({ relaxed, strict })) {
        const recorded = await recordedIds(durability);
        expect(succeeded.filter((id) => !recorded.has(id))).toEqual([]);
        expect(await readMetric(admin, "audit_dropped_total")).toBe(failedCount());
      }
    },
    LONG,
  );

  test("is reported at a start, which succeeds when there is space", async () => {
    const settings = { ...RECORDING, DATA_DIR: join(disk.folder, "another") };
    disk.fill();
    await expect(startListeningGateway(settings)).rejects.toThrow(/the disk is full/);
    disk.free();
    const gateway = await startListeningGateway(settings);
    expect(await gateway.request("GET /vm/instances")).toMatchObject({ status: 200 });
    await gateway.stop();
  });
});
