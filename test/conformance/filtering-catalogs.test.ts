/** Filters where the gateway filters its own copy of a list, or a list below an object. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { errorOn, fetchAllRows, type Json } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

interface Distribution extends Json {
  readonly id: string;
  readonly created: string;
  readonly minimum_storage_size: number;
  readonly vendor: string;
  readonly recommended: boolean;
}

const gateway = startForTests(() => startGateway());
let distributions: Distribution[];
beforeAll(async () => {
  distributions = (await fetchAllRows(gateway, "GET /vm/distributions", "distributions")) as Distribution[];
});

const ids = (rows: readonly Json[]): unknown[] => rows.map(({ id }) => id);

test("A-020 a sub-list is filtered the same way", async () => {
  const path = "GET /vm/instances/5204/disks";
  const disks = await fetchAllRows(gateway, path, "disks");
  const large = await fetchAllRows(gateway, path, "disks", { filter: { size: { "+gte": 2048 } } });
  expect(ids(large)).toEqual(ids(disks.filter(({ size }) => Number(size) >= 2048)));
  expect(large).toHaveLength(2);
  expect(await gateway.request(path, { filter: { status: "ok" } })).toEqual(errorOn(400));
});

describe("a filter of distributions, which the gateway applies, has the same meaning", () => {
  test.each<[string, Json, (row: Distribution) => boolean]>([
    ["A-020 equality", { vendor: "Debian" }, ({ vendor }) => vendor === "Debian"],
    ["A-020 a boolean", { recommended: false }, ({ recommended }) => !recommended],
    [
      "A-021 two keys",
      { vendor: "Debian", recommended: true },
      (row) => row.vendor === "Debian" && row.recommended,
    ],
    [
      "A-022 +or",
      { "+or": [{ vendor: "Debian" }, { vendor: "Arch" }] },
      ({ vendor }) => vendor === "Debian" || vendor === "Arch",
    ],
    [
      "A-022 +and",
      { "+and": [{ vendor: "Debian" }, { recommended: true }] },
      (row) => row.vendor === "Debian" && row.recommended,
    ],
    ["A-023 +gt", { minimum_storage_size: { "+gt": 1500 } }, (row) => row.minimum_storage_size > 1500],
    ["A-023 +gte", { minimum_storage_size: { "+gte": 1500 } }, (row) => row.minimum_storage_size >= 1500],
    ["A-023 +lt", { minimum_storage_size: { "+lt": 1500 } }, (row) => row.minimum_storage_size < 1500],
    ["A-023 +lte", { minimum_storage_size: { "+lte": 1500 } }, (row) => row.minimum_storage_size <= 1500],
    [
      "A-023 a date-time",
      { created: { "+gt": "2019-07-07T16:00:00" } },
      ({ created }) => created > "2019-07-07T16:00:00",
    ],
    [
      "A-023 a date-time with fraction and zone",
      { created: { "+gte": "2019-07-07T16:00:00.000Z" } },
      ({ created }) => created >= "2019-07-07T16:00:00",
    ],
    [
      "A-023 a date-time, other side",
      { created: { "+lt": "2019-07-07T18:00:00+02:00" } },
      ({ created }) => created < "2019-07-07T16:00:00",
    ],
    [
      "A-023 a date-time, other side, included",
      { created: { "+lte": "2019-07-07T16:00:00" } },
      ({ created }) => created <= "2019-07-07T16:00:00",
    ],
    ["A-024 +contains", { id: { "+contains": "debian" } }, ({ id }) => id.includes("debian")],
    ["A-025 +neq", { vendor: { "+neq": "Debian" } }, ({ vendor }) => vendor !== "Debian"],
  ])("%s", async (_name, filter, picks) => {
    const rows = await fetchAllRows(gateway, "GET /vm/distributions", "distributions", { filter });
    const expected = distributions.filter(picks);
    expect(ids(rows)).toEqual(ids(expected));
    expect([0, distributions.length]).not.toContain(expected.length);
  });

  test.each([
    ["A-026 +order-by", { "+order-by": "minimum_storage_size" }, 1],
    ["A-026 +order_by", { "+order_by": "minimum_storage_size" }, 1],
    ["A-028 desc", { "+order-by": "minimum_storage_size", "+order": "desc" }, -1],
  ])("%s", async (_name, filter, sign) => {
    const rows = await fetchAllRows(gateway, "GET /vm/distributions", "distributions", { filter });
    const order = (a: Distribution, b: Distribution) =>
      sign * (a.minimum_storage_size - b.minimum_storage_size);
    expect(ids(rows)).toEqual(ids(distributions.toSorted(order)));
  });

  test.each([
    ["a string", { created: { "+gt": "yesterday" } }],
    ["a number", { created: { "+gt": 5 } }],
  ])("A-023 a date-time is not compared with %s", async (_name, filter) => {
    expect(await gateway.request("GET /vm/distributions", { filter })).toEqual(errorOn(400));
  });
});
