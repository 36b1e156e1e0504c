/** Requests that real clients send, although alpha's description does not allow them. All must succeed. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { request } from "node:http";
import {
  answer,
  createInstance,
  successWith,
  errorOn,
  fetchAllRows,
  type Json,
  minimalInstance,
} from "./helpers.ts";
import { startListeningGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startListeningGateway());
beforeEach(() => {
  gateway.clock.advance(31_000);
  gateway.takeV4Requests();
});

const json = { "content-type": "application/json" };

/** Sends a request with a body, also where no body belongs. */
function send(method: string, path: string, body: string): Promise<{ status: number; body: Json }> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...json,
      authorization: `token ${gateway.sandbox.tokens.full}`,
      "content-length": String(Buffer.byteLength(body)),
    };
    const sent = request(`${gateway.url}/v4${path}`, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
    sent.on("error", reject).end(body);
  });
}

describe("requests with empty or null bodies", () => {
  test.each(["null", "", "{}", "not JSON at all"])("GET with Content-Type and the body %j", async (body) => {
    expect(await send("GET", "/vm/instances/5201", body)).toEqual(successWith({ id: 5201 }));
    expect(gateway.takeV4Requests()[0]?.body).toBeUndefined();
  });

  test.each(["null", "", "{}"])("DELETE with Content-Type and the body %j", async (body) => {
    const { id } = await createInstance(gateway);
    gateway.takeV4Requests();
    expect(await send("DELETE", `/vm/instances/${id}`, body)).toEqual({ status: 200, body: {} });
    expect(gateway.takeV4Requests()[0]?.body).toBeUndefined();
  });

  test("PUT with null changes nothing and returns the object", async () => {
    const before = await gateway.request("GET /vm/instances/5230");
    expect(await send("PUT", "/vm/instances/5230", "null")).toEqual(answer(before.status, before.body));
  });

  test("POST with null reports the missing members", async () => {
    expect(await send("POST", "/vm/instances", "null")).toEqual(errorOn(400, "datacenter", "type"));
  });

  test("keep their connection usable", async () => {
    await send("GET", "/vm/instances/5201", '{"a":1}');
    expect(await send("GET", "/vm/instances/5202", "null")).toEqual(successWith({ id: 5202 }));
  });
});

describe("T-2.1 trailing and double slashes", () => {
  test.each([
    ["/vm/instances", "/vm/instances/"],
    ["/vm/instances?page=2", "/vm/instances/?page=2"],
    ["/vm/instances/5202", "/vm/instances/5202/"],
    ["/vm/instances/5202/disks?page=1", "/vm/instances/5202/disks/?page=1"],
    ["/vm/instances/5202", "//vm/instances/5202"],
    ["/vm/instances/5202", "//vm//instances///5202//"],
    ["/vm/distributions/vm/debian11", "/vm/distributions/vm%2Fdebian11"],
    ["/vm/distributions/vm/debian11", "/vm/distributions/vm%2fdebian11/"],
    ["/vm/kernels/vm/latest_64", "/vm/kernels/vm%2Flatest_64"],
    ["/vm/kernels/vm/latest", "/vm/kernels/vm/latest_32"],
    ["/datacenters", "/datacenters/"],
  ])("%s also has the path %s", async (path, other) => {
    const [plain, odd] = [await send("GET", path, ""), await send("GET", other, "")];
    expect(plain.status).toBe(200);
    expect(odd).toEqual(plain);
    expect(gateway.takeV4Requests().every(({ path }) => !path.includes("//"))).toBe(true);
  });

  test("are accepted on a create", async () => {
    expect(await gateway.request("POST /vm/instances/", { body: minimalInstance })).toEqual(
      successWith({ label: "vm" }),
    );
    const body = { size: 10, label: "data", filesystem: "raw" };
    const { id } = await createInstance(gateway);
    expect(await gateway.request(`POST /vm/instances/${id}/disks/`, { body })).toEqual(
      successWith({ label: "data" }),
    );
  });
});

describe("filters of old clients", () => {
  test.each<[string, string, string, Json, (row: Json) => boolean]>([
    [
      "a whole datacenter",
      "/vm/instances",
      "vms",
      { datacenter: { id: "newark", label: "Newark, NJ", country: "us" } },
      ({ datacenter }) => (datacenter as Json)["id"] === "newark",
    ],
    [
      "a whole distribution",
      "/vm/instances",
      "vms",
      { distribution: { id: "vm/arch", label: "old words" } },
      ({ distribution }) => (distribution as Json | null)?.["id"] === "vm/arch",
    ],
    [
      "a distribution in another case",
      "/vm/instances",
      "vms",
      { distribution: "vm/Arch" },
      ({ distribution }) => (distribution as Json | null)?.["id"] === "vm/arch",
    ],
    ["+ne", "/vm/instances", "vms", { group: { "+ne": "shop" } }, ({ group }) => group !== "shop"],
    [
      "+or of labels",
      "/vm/instances",
      "vms",
      { "+or": [{ label: "api-01" }, { label: "db-07" }] },
      ({ label }) => label === "api-01" || label === "db-07",
    ],
    [
      "deprecated, the opposite of recommended",
      "/vm/distributions",
      "distributions",
      { deprecated: true },
      ({ recommended }) => recommended === false,
    ],
    [
      "a date with fraction and zone",
      "/vm/distributions",
      "distributions",
      { created: { "+gte": "2020-01-01T00:00:00.000Z" } },
      ({ created }) => String(created) >= "2020-01-01T00:00:00",
    ],
    [
      "a date without",
      "/vm/distributions",
      "distributions",
      { created: { "+lte": "2020-01-01T00:00:00" } },
      ({ created }) => String(created) <= "2020-01-01T00:00:00",
    ],
  ])("%s", async (_name, path, list, filter, picks) => {
    const all = await fetchAllRows(gateway, `GET ${path}`, list);
    const rows = await fetchAllRows(gateway, `GET ${path}`, list, { filter });
    expect(rows).toEqual(all.filter(picks));
    expect([0, all.length]).not.toContain(rows.length);
  });

  test("an order with underscores can be combined with a condition", async () => {
    const filter = { label: { "+contains": "api" }, "+order_by": "label", "+order": "desc" };
    const { body } = await gateway.request("GET /vm/instances", { filter });
    const found = body.vms.map(({ label }: Json) => label);
    expect(found.length).toBeGreaterThan(2);
    expect(found).toEqual(found.toSorted().toReversed());
  });

  test("pages with the same filter have the same totals", async () => {
    const filter = { id: { "+gt": 5205 } };
    const first = (await gateway.request("GET /vm/instances?page=1", { filter })).body;
    let received = 0;
    for (let page = 1; page <= first.total_pages; page += 1) {
      const { body } = await gateway.request(`GET /vm/instances/?page=${page}`, { filter });
      expect([body.total_pages, body.total_results]).toEqual([first.total_pages, first.total_results]);
      received += body.vms.length;
    }
    expect(received).toBe(first.total_results);
  });
});

describe("X-CORS-Status: true", () => {
  test.each([
    ["GET /vm/instances", "full", "200"],
    ["GET /vm/instances/1", "full", "404"],
    ["GET /vm/instances?page=0", "full", "400"],
    ["GET /vm/instances", null, "401"],
    ["GET /vm/instances", "none", "403"],
    ["GET /nothing", "full", "404"],
  ])("%s as %s gets 200 with X-Status %s", async (call, as, status) => {
    const response = await gateway.request(call, { as, headers: { "x-cors-status": "true" } });
    const plain = await gateway.request(call, { as });
    expect([response.status, response.headers.get("x-status")]).toEqual([200, status]);
    expect([String(plain.status), plain.headers.get("x-status")]).toEqual([status, null]);
    expect(Object.keys(response.body)).toEqual(Object.keys(plain.body));
  });

  test("is not sent to v4", async () => {
    await gateway.request("GET /vm/instances", { headers: { "x-cors-status": "true" } });
    expect(gateway.takeV4Requests()[0]?.headers).not.toHaveProperty("x-cors-status");
  });
});

test("the start-up requests of one client succeed: all catalogs with a token and a filter, then instances", async () => {
  for (const path of ["/vm/kernels", "/vm/types", "/datacenters", "/vm/distributions"]) {
    const { status, body } = await gateway.request(`GET ${path}/?page=1`, { headers: json, filter: {} });
    expect([status, body.page, body.total_pages]).toEqual([200, 1, 1]);
  }
  expect((await gateway.request("GET /vm/instances/?page=1", { headers: json, filter: {} })).status).toBe(
    200,
  );
});
