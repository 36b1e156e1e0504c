/** The report of a day's traffic of five clients, with a real gateway and each audit store. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parse, stringify } from "yaml";
import type { Report } from "../../../src/migration/report/make-report.ts";
import { sendTraffic } from "../../support/five-clients.ts";
import { RECORDING, startGateway, type Gateway, type TestResponse } from "../../support/gateway.ts";
import { makeDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";
import { summarizeReport } from "./traffic-report.ts";

const GOLDEN = "test/migration/report/five-clients.yaml";
const LONG_MS = 120_000;

const settings = { ...RECORDING, AUDIT_BODY_LIMIT: "64kb" };

const requestReport = (gateway: Gateway, query = ""): Promise<TestResponse> =>
  gateway.requestAdmin(`GET /api/report${query}`);

const reportOf = async (gateway: Gateway, query = ""): Promise<Report> =>
  (await requestReport(gateway, query)).body;

/** A whole gateway that has recorded all of it: the native proxy's records are written after its responses. */
async function withTraffic(more: Readonly<Record<string, string>> = {}): Promise<Gateway> {
  const gateway = await startGateway({ ...settings, ...more });
  const sent = await sendTraffic(gateway.app, gateway.sandbox.tokens);
  while ((await reportOf(gateway)).totals.requests < sent) await delay(50);
  return gateway;
}

describe("the report of a gateway with SQLite", () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await withTraffic();
  }, LONG_MS);

  test("has a guide for each client from its own calls, the most frequent first", async () => {
    const info = summarizeReport(await reportOf(gateway));
    // UPDATE_GOLDEN=1 writes the current report. Read it before you commit it.
    if (process.env["UPDATE_GOLDEN"]) writeFileSync(GOLDEN, stringify(info, { lineWidth: 0 }));
    expect(info).toEqual(parse(readFileSync(GOLDEN, "utf8")));
  });

  test("contains no token and no secret in any format", async () => {
    const secrets = [...Object.values(gateway.sandbox.tokens), "aVery!long-secret-1"];
    for (const format of ["json", "html", "md", "csv"]) {
      const text = (await requestReport(gateway, `?format=${format}`)).text;
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    }
  });

  test("can be limited to one client", async () => {
    const whole = await reportOf(gateway);
    const [one] = whole.clients;
    const { clients, totals } = await reportOf(gateway, `?client=${one?.client}`);
    expect(clients).toEqual([one]);
    expect(totals).toMatchObject({ clients: 1, requests: one?.requests });
  });

  test("says so if there was no traffic", async () => {
    const { clients, days } = await reportOf(gateway, "?since=2001-01-01&until=2001-02-01");
    expect({ clients, days }).toEqual({ clients: [], days: [] });
    const text = (await requestReport(gateway, "?format=md&until=2001-02-01")).text;
    expect(text).toContain("There are no requests yet");
  });

  test.each([
    ["json", "application/json; charset=utf-8", '{\n  "made"'],
    ["html", "text/html; charset=utf-8", "<!doctype html>"],
    ["md", "text/markdown; charset=utf-8", "# Migration report"],
    ["csv", "text/csv; charset=utf-8; header=present", "client,name,user_agent,"],
  ])("has a media type and a file name as %s", async (format, type, start) => {
    const response = await requestReport(gateway, `?format=${format}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("content-disposition")).toContain(`migration-report.${format}`);
    expect(response.text.startsWith(start)).toBe(true);
  });

  test("is a page that can load and run nothing", async () => {
    const response = await requestReport(gateway, "?format=html");
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-/,
    );
    expect(response.text).not.toMatch(/<script|<link|<img|\bsrc=|url\(/);
  });

  test.each(["?format=pdf", "?format=md&format=csv", "?client=me", "?since=yesterday", "?route=GET%20/x"])(
    "rejects %s with a reason",
    async (query) => {
      const response = await requestReport(gateway, query);
      expect(response.status).toBe(400);
      expect(response.text).toMatch(/Has to be|Use /);
    },
  );

  test("is linked in the console", async () => {
    expect((await gateway.requestAdmin("GET /api")).body).toMatchObject({ report: true });
  });
});

(await describeWith("postgres"))("the report of a gateway with PostgreSQL", () => {
  let database: TestDatabase;
  let gateway: Gateway;

  beforeAll(async () => {
    database = await makeDatabase();
    gateway = await withTraffic({ DATABASE_URL: database.url });
  }, LONG_MS);

  test("is the same", async () => {
    expect(summarizeReport(await reportOf(gateway))).toEqual(parse(readFileSync(GOLDEN, "utf8")));
  });
});

test(
  "without an audit there is no report and no link in the console",
  async () => {
    const gateway = await startGateway({ AUDIT: "off" });
    expect((await requestReport(gateway)).status).toBe(404);
    expect((await gateway.requestAdmin("GET /api")).body).toMatchObject({ report: false });
  },
  LONG_MS,
);
