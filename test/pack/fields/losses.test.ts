/** What translations lose: counted for each client, route and day, with bodies in the records or without. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import type { RankedLoss } from "../../../src/audit/usage/rank-losses.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";

const TEXTS = {
  meaning: "ip_whitelist_enabled: it can be switched off only",
  detail: "total_transfer: a part of a GB; 0 in lists",
  rounding: "refresh_sec: v4 rounds it up to one of its steps",
};

const lossesOf = async (gateway: Gateway, query = ""): Promise<RankedLoss[]> =>
  (await gateway.requestAdmin(`GET /api/usage/losses${query}`)).body.losses;

async function sendLossyRequests(gateway: Gateway): Promise<void> {
  await gateway.request("GET /vm/instances");
  await gateway.request("GET /vm/instances", { as: "readOnly", headers: { "user-agent": "sync/1" } });
  await gateway.request("GET /vm/instances", { as: "nobody" });
  await gateway.request("PUT /account/profile", { body: { ip_whitelist_enabled: true } });
  const zone = { dnszone: "a.example", type: "master", soa_email: "a@a.example", refresh_sec: 301 };
  await gateway.request("POST /dns/zones", { body: zone });
}

describe.each(["full", "metadata"])("with AUDIT=%s", (audit) => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ AUDIT: audit, AUDIT_DURABILITY: "strict" });
    await sendLossyRequests(gateway);
  });

  test("losses are ranked by weight, with their routes, clients and days", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const losses = await lossesOf(gateway);
    const ranks = losses.map(({ severity }) => severity);
    expect(ranks).toEqual(
      ranks.toSorted((one, other) => Object.keys(TEXTS).indexOf(one) - Object.keys(TEXTS).indexOf(other)),
    );
    for (const [severity, loss] of Object.entries(TEXTS))
      expect(losses).toContainEqual(
        expect.objectContaining({ severity, loss, firstDay: today, lastDay: today }),
      );
    const detail = losses.find(({ loss }) => loss === TEXTS.detail);
    expect(detail).toMatchObject({ routes: ["GET /vm/instances"], requests: 2 });
    expect(detail?.clients.map(({ requests }) => requests)).toEqual([1, 1]);
  });

  test("losses can be filtered by route and by client, as what a client lost", async () => {
    const ofRoute = await lossesOf(gateway, `?route=${encodeURIComponent("PUT /account/profile")}`);
    expect(ofRoute).toMatchObject([{ loss: TEXTS.meaning, severity: "meaning", requests: 1 }]);
    const client = ofRoute[0]?.clients[0]?.client;
    expect((await lossesOf(gateway, `?client=${client}`)).map(({ loss }) => loss)).toEqual(
      expect.arrayContaining(Object.values(TEXTS)),
    );
    expect(await lossesOf(gateway, "?client=none")).toEqual([]);
    expect(await lossesOf(gateway, "?until=2026-01-01")).toEqual([]);
    expect((await gateway.requestAdmin("GET /api/usage/losses?route=x")).body).toMatchObject({
      errors: [{ parameter: "route" }],
    });
  });

  test("the counts are those of the records", async () => {
    const { records } = (await gateway.requestAdmin("GET /api/audit?limit=100")).body as {
      records: AuditRecord[];
    };
    const counted = new Map((await lossesOf(gateway)).map(({ loss, requests }) => [loss, requests]));
    const scanned = new Map<string, number>();
    for (const loss of records.flatMap(({ losses }) => losses))
      scanned.set(loss, (scanned.get(loss) ?? 0) + 1);
    expect(counted).toEqual(scanned);
  });
});
