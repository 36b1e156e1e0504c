import { describe, expect, test } from "@jest/globals";
import { startSandbox } from "../../src/sandbox/create-sandbox.ts";
import { openRawClient } from "../support/raw-client.ts";
import { request } from "../support/request.ts";
import { errorFields, sandboxForAllTests, webServer } from "./sandbox-service.ts";

const v4 = sandboxForAllTests();

const errorBody = { errors: expect.arrayContaining([{ reason: expect.any(String) }]) };

test.each([
  "GET /nothing",
  "GET /v4/",
  "GET /vm/instances/",
  "GET /vm/instances/0",
  "GET /vm/instances/99999999",
  "GET /vm/instances/5201x",
  "GET /vm/instances/-5201",
  "GET /vm/instances/1e3",
  "GET /vm/instances/%zz",
  "GET /vm/instances/..%2f5201",
  "GET /vm/instances/5201/disks/1",
  "GET /vm/instances/1/disks",
  "GET /regions/atlantis",
  "GET /images/vm/nothing",
  "GET /images/vm/debian11/more",
  "GET /images/__proto__",
  "GET /vm/types-legacy",
  "GET /account/events/1",
  "PATCH /vm/instances/5201",
  "POST /vm/instances/5201",
  "PUT /vm/instances",
  "DELETE /regions/us-east",
  "GET /vm/instances/5201/boot",
])("V-186 V-187 V-192 %s is 404 with the error body", async (request) => {
  const response = await v4.ask(request);
  expect(response.status).toBe(404);
  expect(response.body).toEqual(errorBody);
});

test("V-196 a path without a version gets 404, with both prefixes 200", async () => {
  for (const path of ["/regions", "/v5/regions"])
    expect((await request(v4.sandbox.listener, `GET ${path}`)).status).toBe(404);
  for (const prefix of ["/v4", "/v4beta"]) {
    expect(await v4.status(`GET ${prefix}/regions`)).toBe(200);
  }
});

test.each(["vm/debian11", "vm%2Fdebian11", "vm%2fdebian11"])("the image id may be written %s", async (id) => {
  expect(await v4.read(`GET /images/${id}`)).toMatchObject({ id: "vm/debian11" });
});

describe("V-003 bodies", () => {
  test("unknown and read-only members are ignored", async () => {
    const before = await v4.ask("GET /vm/instances/5202");
    const body = { id: 1, status: "running", region: "moon", ipv4: 7, nothing: true, tags: ["kept"] };
    const response = await v4.ask("PUT /vm/instances/5202", body);
    expect(response.body).toEqual({ ...before.body, tags: ["kept"], updated: expect.any(String) });
  });

  test("one invalid member rejects the whole update", async () => {
    const response = await v4.ask("PUT /vm/instances/5202", { label: "fine-label", group: 7 });
    expect(response.status).toBe(400);
    expect(errorFields(response)).toEqual(["group"]);
    expect((await v4.read("GET /vm/instances/5202")).label).not.toBe("fine-label");
  });

  test("V-188 V-189 all problems are reported together, nested members with a dot", async () => {
    const response = await v4.ask("PUT /vm/instances/5202", {
      label: "-",
      alerts: { cpu: -1, io: "much" },
      backups: { schedule: { day: "Someday" } },
      tags: [1],
    });
    expect(response.status).toBe(400);
    expect(errorFields(response)).toEqual([
      "label",
      "tags[0]",
      "alerts.cpu",
      "alerts.io",
      "backups.schedule.day",
    ]);
  });

  /** String() of it throws. */
  const noText = { toString: 1, valueOf: 1 };
  test.each([
    ["/orch/clusters", "node_pools[0]", { node_pools: [null] }],
    ["/orch/clusters", "node_pools[0].disks[0]", { node_pools: [{ type: "g6-standard-1", disks: [null] }] }],
    ["/nodebalancers", "configs[0]", { configs: [null] }],
    ["/object-storage/keys", "bucket_access[0]", { bucket_access: [null] }],
    ["/domains/7010/records", "name", { type: "A", target: "192.0.2.1", name: 5 }],
    ["/object-storage/keys", "bucket_access[0].cluster", { bucket_access: [{ cluster: noText }] }],
    ["/object-storage/buckets", "cluster", { cluster: noText }],
    ["/account/payments", "usd", { usd: noText }],
    ["/account/payments/wallet", "usd", { usd: noText }],
    ["/vm/stackscripts", "images[0]", { images: [noText] }],
    ["/vm/instances", "authorized_users[0]", { authorized_users: [noText] }],
  ])("POST %s rejects %s of another type", async (path, field, body) => {
    const response = await v4.ask(`POST ${path}`, body);
    expect(response.status).toBe(400);
    expect(errorFields(response)).toContain(field);
  });

  test("an empty body of a create names what is required", async () => {
    expect(await v4.faults("POST /vm/instances")).toEqual(["type", "region"]);
  });
});

test("V-002 every response is JSON, even to what is not an HTTP request", async () => {
  for (const request of ["GET /regions", "GET /nothing", "POST /vm/instances"]) {
    expect((await v4.ask(request)).headers.get("content-type")).toBe("application/json");
  }
  const response = await sendBytes("NONSENSE\r\n\r\n");
  expect(response).toMatch(/^HTTP\/1\.1 400 .*\r\nContent-Type: application\/json\r\n/);
  expect(JSON.parse(response.split("\r\n\r\n")[1] ?? "")).toEqual(errorBody);
  const headers = `GET /v4/regions HTTP/1.1\r\nHost: a\r\nX-Filter: ${"x".repeat(20_000)}\r\n\r\n`;
  expect(await sendBytes(headers)).toMatch(/^HTTP\/1\.1 400 /);
});

test("two X-Filter headers are 400, not joined into one", async () => {
  const response = await sendBytes(
    "GET /v4/regions HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Filter: {}\r\nX-Filter: {}\r\n\r\n",
  );
  expect(response).toMatch(/^HTTP\/1\.1 400 /);
});

test("the last 200 requests can be inspected", async () => {
  const body = { ...webServer, authorized_keys: ["ssh-ed25519 AAAA anna"], region: "moon" };
  await v4.request("POST /vm/instances?x=1", { body, headers: { "x-request-id": "r1" } });
  const last = v4.sandbox.requests.at(-1);
  expect(last).toMatchObject({ method: "POST", path: "/v4/vm/instances?x=1", body });
  expect(last?.headers).toMatchObject({ "x-request-id": "r1" });
  for (let count = 0; count < 210; count += 1) await v4.ask("GET /nothing");
  expect(v4.sandbox.requests).toHaveLength(200);
  expect(v4.sandbox.requests.at(-1)?.path).toBe("/v4/nothing");
});

/** Sends bytes to a sandbox that listens, and returns all bytes of the response. */
async function sendBytes(bytes: string): Promise<string> {
  const { url, close } = await startSandbox();
  const client = await openRawClient(url);
  client.send(bytes);
  const response = await client.waitForEnd();
  await close();
  return response;
}

test("HEAD is answered like GET, without a body", async () => {
  const ask = (method: string): Promise<string> =>
    sendBytes(`${method} /v4/regions HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  const [head, get] = await Promise.all([ask("HEAD"), ask("GET")]);
  const [headers = "", body = ""] = get.split("\r\n\r\n");
  expect(headers).toMatch(/^HTTP\/1\.1 200 /);
  expect(body).toContain('"data"');
  const withoutDate = (text: string): string => text.replace(/^Date: .*\r\n/m, "");
  expect(withoutDate(head)).toBe(withoutDate(`${headers}\r\n\r\n`));
});
