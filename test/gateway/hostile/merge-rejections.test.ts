/** A client over its limit writes few records, and all its requests are counted. */
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { mergeRejections } from "../../../src/audit/store/merge-rejections.ts";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import type { AuditStore } from "../../../src/audit/store/store.ts";
import { addressNetwork } from "../../../src/base/index.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { RECORDING } from "../../support/gateway.ts";
import { acceptGoodTokens } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { sampleId, sampleRecord } from "../../audit/record/sample-record.ts";

const OPTIONS = { networkOf: addressNetwork };

interface Sent {
  readonly client?: string | null;
  readonly accepted?: boolean;
  readonly address?: string;
  readonly route?: string;
  readonly status?: number;
  /** Null: no limit rejected it. */
  readonly by?: AuditRecord["rejectedBy"] | null;
}

let nextId = 0;
function rejected({ address = "192.0.2.1", status = 420, by = "limit", ...varied }: Sent = {}): AuditRecord {
  const record = sampleRecord(sampleId((nextId += 1)), { status, accepted: false, ...varied });
  return { ...record, client: { ...record.client, address }, v4: [], ...(by && { rejectedBy: by }) };
}

describe("records of rejected requests", () => {
  const records: AuditRecord[] = [];
  let isFirstGone = false;
  const fake = {
    append: (record: AuditRecord) => void records.push(record),
    get: async () => (isFirstGone ? undefined : records[0]),
    close: async () => {},
  };
  const store = mergeRejections(fake as unknown as AuditStore, OPTIONS);
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] }));
  afterEach(async () => {
    await store.close();
    jest.useRealTimers();
    records.length = 0;
    isFirstGone = false;
  });

  test("the first request of a kind is recorded immediately, and the others of a minute in one record with their number", async () => {
    for (let count = 0; count < 100; count += 1) void store.append(rejected());
    expect(records.map(({ requests }) => requests)).toEqual([undefined]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(records.map(({ requests }) => requests)).toEqual([undefined, 99]);
    expect(records[1]?.warnings).toEqual(["audit: 99 rejected requests have this one record"]);
    void store.append(rejected());
    expect(records).toHaveLength(3);
  });

  test("their number is recorded also where the first one was evicted, dropped or erased, without the client", async () => {
    for (let count = 0; count < 100; count += 1) void store.append(rejected({ client: "c".repeat(16) }));
    isFirstGone = true;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(records[1]).toMatchObject({
      requests: 99,
      client: { fingerprint: null, accepted: false, userAgent: null, address: "" },
      alpha: { route: records[0]?.alpha.route, status: 420, path: "" },
    });
  });

  test("those that count in no summary don't count together either", async () => {
    for (let count = 0; count < 100; count += 1) void store.append({ ...rejected(), requests: 0 });
    await jest.advanceTimersByTimeAsync(60_000);
    expect(records.map(({ requests }) => requests)).toEqual([0, 0]);
    expect(records[1]?.warnings).toEqual(["audit: 99 rejected requests have this one record"]);
  });

  test("made-up tokens of one network are one kind, and so are addresses of one IPv6 network", () => {
    for (const client of ["a".repeat(16), "b".repeat(16), null]) void store.append(rejected({ client }));
    for (const address of ["2001:db8::1", "2001:db8::2"]) void store.append(rejected({ address }));
    expect(records).toHaveLength(2);
  });

  test("each accepted token, network, route, dialect and status is a kind", () => {
    void store.append(rejected());
    void store.append(rejected({ accepted: true }));
    void store.append(rejected({ accepted: true, client: "b".repeat(16) }));
    void store.append(rejected({ address: "198.51.100.1" }));
    void store.append(rejected({ route: "GET /dns/zones" }));
    void store.append(rejected({ status: 429 }));
    void store.append({ ...rejected(), lane: "native" });
    expect(records).toHaveLength(7);
  });

  test("requests that v4 was called for, and all that no limit rejected, are recorded each", () => {
    for (let count = 0; count < 3; count += 1) {
      void store.append({ ...rejected(), v4: sampleRecord("v4").v4 });
      void store.append(rejected({ status: 401, by: null }));
      void store.append(rejected({ status: 200, by: null }));
      // The pack may have one status for a limit and for other rejections.
      void store.append(rejected({ status: 420, by: null }));
      void store.append(rejected({ status: 500, by: "brown_out" }));
    }
    expect(records).toHaveLength(15);
  });

  test("the status of a limit does not matter", () => {
    for (let count = 0; count < 3; count += 1) void store.append(rejected({ status: 400 }));
    expect(records).toHaveLength(1);
  });

  test("closing the store records what is still counted", async () => {
    for (let count = 0; count < 3; count += 1) void store.append(rejected());
    await store.close();
    expect(records.map(({ requests }) => requests)).toEqual([undefined, 2]);
  });

  test("more kinds than are remembered lose no request", async () => {
    for (let kind = 0; kind < 10_001; kind += 1)
      for (let count = 0; count < 3; count += 1)
        void store.append(rejected({ address: `10.${kind >> 16}.${(kind >> 8) & 255}.${kind & 255}` }));
    expect(records).toHaveLength(10_002);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(records.reduce((sum, { requests = 1 }) => sum + requests, 0)).toBe(30_003);
  });
});

test("an unknown sender above the limit has two records in the store, and all requests in the summaries", async () => {
  const folder = temporaryFolder();
  const gateway = await startGatewayWithFakeV4({ ...RECORDING, DATA_DIR: folder, RATE_LIMIT: "2/600" });
  gateway.v4.respondWith(acceptGoodTokens);
  const statuses: number[] = [];
  for (let count = 0; count < 30; count += 1)
    statuses.push((await gateway.request("GET /vm/instances", { as: `made-up-${count}` })).status);
  const limited = statuses.filter((status) => status === 420).length;
  expect(limited).toBeGreaterThan(20);
  await gateway.stop();

  const options = { durability: "relaxed", retentionDays: 30, sizeLimit: 1e9 } as const;
  const store = await openSqliteStore({ directory: folder, ...options });
  const { records } = await store.query({ status: 420 });
  expect(records.map(({ requests = 1 }) => requests).toSorted((one, other) => one - other)).toEqual([
    1,
    limited - 1,
  ]);
  const usage = (await store.usage({})).find(({ status }) => status === 420);
  expect(usage).toMatchObject({ client: "unaccepted", requests: limited });
  await store.close();
});

test.each(["relaxed", "strict"])(
  "where a pack has one status for limits and for invalid requests, each invalid request has its record: %s",
  async (durability) => {
    const gateway = await startSmallGateway(
      {
        client: { credentials: { scheme: "token" } },
        upstream: { base_path: "/api", credentials: { scheme: "Bearer" } },
        pack: { errors: { statuses: { "4XX": 400, default: 500 } } },
        book: {
          fields: { id: "id", title: "name" },
          bodies: { create: { schema: { type: "object", properties: { title: { type: "string" } } } } },
          routes: [{ client: "POST /books", upstream: "POST /items", body: "create" }],
        },
      },
      { ...RECORDING, AUDIT_DURABILITY: durability, RATE_LIMIT: "20/600" },
    );
    const ask = () =>
      gateway.send("POST /books", { headers: { authorization: "token t" }, body: { title: 7 } });
    const invalid = await Promise.all(Array.from({ length: 20 }, ask));
    expect(invalid.map(({ status, headers }) => [status, headers.get("retry-after")])).toEqual(
      invalid.map(() => [400, null]),
    );
    const limited = await Promise.all(Array.from({ length: 20 }, ask));
    for (const { status, headers } of limited)
      expect([status, headers.get("retry-after")]).toEqual([400, expect.stringMatching(/^[1-9]\d*$/)]);
    let records: readonly AuditRecord[] = [];
    await waitFor(async () => (records = await gateway.readRecords()).length >= 21);
    const rejectedBy = records.map((record) => record.rejectedBy);
    expect(rejectedBy.filter((by) => by === undefined)).toHaveLength(20);
    expect(rejectedBy.filter((by) => by === "limit")).toHaveLength(1);
  },
);
