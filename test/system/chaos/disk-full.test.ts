/** A disk that is full, under load: what is promised of the audit in SQLite holds, and it goes on when there is space. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { startListeningGateway, type ListeningGateway } from "../../support/gateway.ts";
import { describeWith } from "../../support/services.ts";
import { mountSmallDisk, type SmallDisk } from "../../support/small-disk.ts";
import { waitForReadiness, readMetric } from "./admin-client.ts";
import { startLoad } from "./load.ts";

const describe = await describeWith("mount");
const LONG = 60_000;
const CLIENT = { body: { name: "app", redirect_uri: "https://app.example.net/callback" } };

/** A gateway, and what became of each request to it. */
interface Asked {
  readonly gateway: ListeningGateway;
  readonly admin: string;
  readonly folder: string;
  /** Ids of requests that were answered with 200, and how many were with 500. */
  readonly kept: string[];
  refused: number;
}

describe("a full disk", () => {
  let disk: SmallDisk;
  let relaxed: Asked;
  let strict: Asked;

  async function start(durability: string): Promise<Asked> {
    const folder = join(disk.folder, durability);
    const gateway = await startListeningGateway({
      DATA_DIR: folder,
      AUDIT: "metadata",
      AUDIT_DURABILITY: durability,
    });
    return { gateway, admin: gateway.adminUrl, folder, kept: [], refused: 0 };
  }
  beforeAll(async () => {
    disk = mountSmallDisk("64m");
    relaxed = await start("relaxed");
    strict = await start("strict");
  });
  afterAll(async () => {
    await relaxed.gateway.stop();
    await strict.gateway.stop();
    disk.remove();
  });

  let requests = 0;
  async function ask(asked: Asked): Promise<number> {
    const id = `request-${++requests}`;
    const { status } = await asked.gateway.request("GET /vm/instances", { headers: { "x-request-id": id } });
    if (status === 200) asked.kept.push(id);
    else asked.refused += 1;
    return status;
  }

  /** The ids in the audit, past the gateway; whether its file is whole. */
  function inAudit({ folder }: Asked): ReadonlySet<unknown> {
    const database = new DatabaseSync(join(folder, "audit.db"), { readOnly: true });
    try {
      expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      return new Set(
        database
          .prepare("SELECT record ->> '$.requestId' AS id FROM audit")
          .all()
          .map(({ id }) => id),
      );
    } finally {
      database.close();
    }
  }

  test(
    "fails no request with relaxed audit, loses no record, and recovers when there is space",
    async () => {
      const { body } = await relaxed.gateway.request("POST /account/clients", CLIENT);
      const signIn = async ({ gateway }: Asked): Promise<number> => {
        const query = new URLSearchParams({ client_id: body.id, scopes: "vms:view" });
        return (await fetch(`${gateway.url}/oauth/authorize?${query.toString()}`, { redirect: "manual" }))
          .status;
      };
      const later = startLoad(() => ask(relaxed), 2);
      const atOnce = startLoad(() => ask(strict), 2);
      await later.waitForMore(20);
      await atOnce.waitForMore(20);
      disk.fill();
      for (const { admin } of [relaxed, strict])
        expect(await waitForReadiness(admin, 503)).toContainEqual(
          expect.stringContaining("the disk is full"),
        );
      await later.waitForMore(50);
      await atOnce.waitForMore(50);
      const signIns = [];
      while (signIns.at(-1) !== 500) signIns.push(await signIn(relaxed));
      expect(await waitForReadiness(relaxed.admin, 503)).toContain("the state store does not respond");

      disk.free();
      for (const { admin } of [relaxed, strict]) expect(await waitForReadiness(admin, 200)).toEqual([]);
      const before = strict.refused;
      await later.waitForMore(20);
      await atOnce.waitForMore(20);
      expect([...(await later.end())]).toEqual([200]);
      expect(new Set(await atOnce.end())).toEqual(new Set([200, 500]));
      expect(strict.refused).toBe(before);
      expect(await signIn(relaxed)).toBe(302);
      await waitFor(async () => (await readMetric(relaxed.admin, "audit_queued")) === 0);
      for (const asked of [relaxed, strict]) {
        const there = inAudit(asked);
        expect(asked.kept.filter((id) => !there.has(id))).toEqual([]);
        expect(await readMetric(asked.admin, "audit_dropped_total")).toBe(asked.refused);
      }
    },
    LONG,
  );

  test("is reported at a start, which succeeds when there is space", async () => {
    const settings = { DATA_DIR: join(disk.folder, "another") };
    disk.fill();
    await expect(startListeningGateway(settings)).rejects.toThrow(/the disk is full/);
    disk.free();
    const gateway = await startListeningGateway(settings);
    expect(await gateway.request("GET /vm/instances")).toMatchObject({ status: 200 });
    await gateway.stop();
  });
});
