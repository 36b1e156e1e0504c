/** A record says what was sent, and nothing in it reveals what was redacted, whichever side has sent it. */
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, plain } from "../../support/fake-v4.ts";

const TOKEN = "t0k3n-of-a-client";
const CODE = "90817263";

let gateway: GatewayWithFakeV4;
let metadata: GatewayWithFakeV4;
let short: GatewayWithFakeV4;
beforeAll(async () => {
  [gateway, metadata, short] = await Promise.all([
    startGatewayWithFakeV4(RECORDING),
    startGatewayWithFakeV4({ ...RECORDING, AUDIT: "metadata" }),
    startGatewayWithFakeV4({ ...RECORDING, AUDIT_BODY_LIMIT: "1000" }),
  ]);
});
afterAll(() => Promise.all([gateway.stop(), metadata.stop(), short.stop()]));

async function lastText(from = gateway): Promise<string> {
  return (await from.requestAdmin("GET /api/audit/export")).text.split("\n")[0] ?? "";
}

/** v4's object of an OAuth client, whose `secret` both dialects have. */
const client = (secret: string, label = "app", redirect = "https://x.example/cb") =>
  json(200, { id: "c1", label, redirect_uri: redirect, public: false, status: "active", secret });
const reset = (query = "", headers: Record<string, string> = {}) =>
  gateway.request(`POST /account/clients/c1/reset_secret${query}`, { as: TOKEN, headers });

describe("nothing in a record is computed from a secret", () => {
  test("a response with a secret has no checksum, and no length that reveals how long it is", async () => {
    const records = [];
    for (const secret of [CODE, `${CODE}${CODE}`]) {
      gateway.v4.respondWith(client(secret));
      const response = await reset();
      expect(response.text).toContain(secret);
      const record = await gateway.readLastRecord();
      expect(record.alpha.response).toMatchObject({ secret: "[redacted]" });
      expect(record.alpha).not.toHaveProperty("checksum");
      expect(JSON.stringify(record)).not.toContain(crc32(response.text).toString(16).padStart(8, "0"));
      records.push(record);
    }
    expect(records[0].bytes).toEqual(records[1].bytes);
  });

  test("a request body with a secret has no length that reveals how long it is", async () => {
    gateway.v4.respondWith(json(200, {}));
    const lengths = [];
    for (const password of ["short-1", "a-longer-password-1"]) {
      await gateway.request("POST /account/clients", { as: TOKEN, body: { name: "app", password } });
      lengths.push((await gateway.readLastRecord()).bytes.in);
    }
    expect(lengths[0]).toBe(lengths[1]);
  });

  test("a response that is recorded as it was sent has its checksum", async () => {
    gateway.v4.respondWith(json(200, envelope([{ id: 7, label: "web-one" }])));
    const response = await gateway.request("GET /vm/instances", { as: TOKEN });
    const { alpha, bytes } = await gateway.readLastRecord();
    expect(alpha.checksum).toBe(crc32(response.text).toString(16).padStart(8, "0"));
    expect(bytes.out).toBe(Buffer.byteLength(response.text));
  });
});

describe("a value with a secret name is replaced in the whole exchange", () => {
  test("a secret of v4's response is replaced in the text beside it, in both dialects", async () => {
    gateway.v4.respondWith(client(CODE, `the code is ${CODE}`, `https://x.example/?r=${CODE}`));
    expect((await reset()).text).toContain(`r=${CODE}`);
    const text = await lastText();
    expect(text).toContain("the code is [redacted]");
    expect(text).not.toContain(CODE);
  });

  test("a secret of v4's response is replaced in the query, in the headers and in the body of the request", async () => {
    gateway.v4.respondWith(client(CODE));
    await gateway.request(`PUT /account/clients/c1?r=${CODE}`, {
      as: TOKEN,
      body: { name: `app ${CODE}` },
      filter: { label: CODE },
      headers: { "user-agent": `agent/${CODE}` },
    });
    const text = await lastText();
    expect(text).toContain("agent/[redacted]");
    expect(text).not.toContain(CODE);
  });

  test("a secret of a header that is not recorded is replaced where it occurs", async () => {
    gateway.v4.respondWith(json(200, envelope([{ id: 7, label: `web-${CODE}` }])));
    for (const headers of [
      { "x-session-token": CODE },
      { cookie: `a=b; sid=${CODE}` },
      { referer: `https://x.example/?token=${CODE}` },
    ] satisfies Record<string, string>[]) {
      await gateway.request(`GET /vm/instances?r=${CODE}`, { as: TOKEN, headers });
      expect(await lastText()).not.toContain(CODE);
      await gateway.request(`GET /vm/instances?r=${CODE}`, {
        as: null,
        headers: { ...headers, authorization: `Bearer ${TOKEN}` },
      });
      expect(await lastText()).not.toContain(CODE);
    }
  });

  test("a secret of a cookie that v4 sets is replaced where it occurs", async () => {
    gateway.v4.respondWith((_call, response) => {
      response.setHeader("set-cookie", `sid=${CODE}; Path=/; Domain=web-one.example`);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(envelope([{ id: 7, label: `web-one.example ${CODE}` }])));
    });
    await gateway.request("GET /vm/instances", { as: TOKEN });
    const text = await lastText();
    expect(text).toContain("web-one.example [redacted]");
    expect(text).not.toContain(CODE);
  });

  test("a secret after the recorded part of a response is replaced in the part before it", async () => {
    const rows = Array.from({ length: 40 }, (_, id) => ({ id, label: `web-${id}`, region: "us-east" }));
    const list = envelope([{ id: 999, label: `r=${CODE}` }, ...rows]);
    short.v4.respondWith(json(200, { ...list, secret: CODE }));
    await short.request("GET /vm/instances", { as: TOKEN });
    const text = await lastText(short);
    expect(text).toContain('"truncated":true');
    expect(text).not.toContain(CODE);
  });

  test("a secret of an error of v4 that is not JSON is replaced in the query", async () => {
    gateway.v4.respondWith(plain(500, `token=${CODE}`));
    await gateway.request(`GET /vm/instances?r=${CODE}`, { as: TOKEN });
    expect(await lastText()).not.toContain(CODE);
  });

  test("AUDIT=metadata: a secret of v4's response is replaced in the query and in the filter", async () => {
    metadata.v4.respondWith(client(CODE));
    await metadata.request(`GET /account/clients/c1?r=${CODE}`, { as: TOKEN, filter: { label: CODE } });
    const text = await lastText(metadata);
    expect(text).toContain("r=[redacted]");
    expect(text).not.toContain(CODE);
    expect(text).not.toContain('"response"');
  });

  test("AUDIT=metadata: a cookie that v4 has set is replaced in the path, without a query or a filter", async () => {
    const cookie = "c00kie-of-v4-1234";
    metadata.v4.respondWith(json(200, { id: "c1" }, { "set-cookie": `sid=${cookie}; Path=/` }));
    await metadata.request(`GET /account/clients/${cookie}`, { as: TOKEN });
    const record = await metadata.readLastRecord();
    expect(record.alpha.path).toBe("/v4/account/clients/[redacted]");
    expect(JSON.stringify(record)).not.toContain(cookie);
  });
});

describe("a record says what was sent", () => {
  test.each([
    ["digits that a double does not have", '{"name":"app","n":9007199254740993}'],
    ["a number that no double holds", '{"name":"app","n":1e400}'],
    ["white space and the spelling of numbers", '{ "name": "app", "n": 1.50 }'],
    ["a member that is repeated", '{"name":"app","n":1,"n":2}'],
  ])("a request body has %s", async (_, raw) => {
    gateway.v4.respondWith(json(200, {}));
    await gateway.request("POST /account/clients", { as: TOKEN, raw });
    expect(await lastText()).toContain(`"body":${raw}`);
  });

  test("numbers keep their digits beside a secret, in a text of JSON, and in the admin API", async () => {
    const n = '[9007199254740993,1e400,"{\\"n\\":9007199254740993,\\"pin\\":\\"[redacted]\\"}"]';
    gateway.v4.respondWith(json(200, {}));
    const raw = `{"name":"app","password":"${CODE}","n":${n.replace("[redacted]", CODE)}}`;
    await gateway.request("POST /account/clients", { as: TOKEN, raw });
    const recorded = `"body":{"name":"app","password":"[redacted]","n":${n}}`;
    expect(await lastText()).toContain(recorded);
    expect((await gateway.requestAdmin("GET /api/audit?limit=1")).text).toContain(recorded);
  });

  test("a filter that a Connection header takes away is not recorded as sent to v4", async () => {
    const filter = '{"label":"web-one"}';
    gateway.v4.respondWith(json(200, envelope([])));
    for (const [connection, sent] of [
      ["x-other", filter],
      ["close, X-Filter", null],
    ] as const) {
      const headers = { authorization: `Bearer ${TOKEN}`, connection, "x-filter": filter };
      await gateway.request("GET /vm/instances", { as: null, headers });
      expect(gateway.v4.calls.at(-1)?.headers["x-filter"] ?? null).toBe(sent);
      const { alpha, v4 } = await gateway.readLastRecord();
      expect([alpha.filter, v4[0].filter]).toEqual([filter, sent]);
    }
  });
});
