/** What has a secret name in v4's response to a forwarded request is not recorded anywhere in its record. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { json, plain } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const TOKEN = "t0k3n-of-a-client";
const CODE = "c0de-in-the-response";

const gateway = startForTests(() => startGatewayWithFakeV4({ ...RECORDING, AUDIT_BODY_LIMIT: "100kb" }));

const native = async (call: string, headers: Record<string, string> = {}) => {
  await gateway.request(call, { as: null, headers: { authorization: `Bearer ${TOKEN}`, ...headers } });
  return gateway.readLastRecord();
};

/** A request whose query has the value under a name that is not secret. */
const sendCode = () => native(`GET /vm/instances?label=${CODE}&page=2`);

const body = Buffer.from(JSON.stringify({ url: `https://x.example/${CODE}`, password: CODE }));

describe("a value with a secret name in v4's response to a native request is not recorded", () => {
  test.each([
    ["in a body", json(200, { password: CODE })],
    ["in a nested list", json(200, { data: [{ id: 1, keys: [{ secret: CODE }] }] })],
    ["in a body without a type", plain(200, body)],
    ["in a body with gzip", plain(200, gzipSync(body), { "content-encoding": "gzip" })],
    ["in a body with Brotli", plain(200, brotliCompressSync(body), { "content-encoding": "br" })],
    ["in an error", json(400, { errors: [{ reason: "No.", token: CODE }] })],
    ["in a header", plain(200, Buffer.from("{}"), { "x-token": CODE, token: CODE })],
    ["in a cookie", plain(200, Buffer.from("{}"), { "set-cookie": `token=${CODE}; Path=/` })],
  ])("%s", async (_, response) => {
    gateway.v4.respondWith(response);
    const record = await sendCode();
    expect(record.lane).toBe("native");
    expect(JSON.stringify(record)).not.toContain(CODE);
    expect(record.alpha.query).toBe("label=[redacted]&page=2");
    expect(record.v4[0].path).toBe("/v4/vm/instances?label=[redacted]&page=2");
  });

  test("in a body, and in the filter and the agent of the request", async () => {
    gateway.v4.respondWith(json(200, { password: CODE }));
    const record = await native("GET /vm/instances", {
      "x-filter": JSON.stringify({ label: CODE }),
      "user-agent": `client ${CODE}`,
    });
    expect(record).toMatchObject({
      alpha: { filter: '{"label":"[redacted]"}' },
      client: { userAgent: "client [redacted]" },
    });
  });

  test("in a response that is too long to be searched: the texts of the request are left out", async () => {
    gateway.v4.respondWith(json(200, { data: "x".repeat(150_000), password: CODE }));
    const record = await sendCode();
    expect(JSON.stringify(record)).not.toContain(CODE);
    expect(record).toMatchObject({ alpha: { path: "/v4/vm/instances", status: 200 } });
    expect(record.warnings).toEqual([
      expect.stringMatching(/response can't be searched .*more than 102400 bytes/),
    ]);
  });

  const zeros = gzipSync(Buffer.concat([body, Buffer.alloc(1_000_000)]));
  test.each([
    ["in an encoding that nobody knows", "odd", body, "its content encoding is not known"],
    ["in an encoding with a name of JavaScript's", "constructor", body, "its content encoding is not known"],
    ["in two encodings", "gzip, br", body, "its content encoding is not known"],
    [
      "in a damaged encoding",
      "gzip",
      gzipSync(body).subarray(0, 40),
      "its content encoding is damaged, or the response is cut",
    ],
    ["in a little that is a lot", "gzip", zeros, "it has more than 102400 bytes"],
  ])("%s: the record says why it has no texts", async (_, encoding, bytes, why) => {
    gateway.v4.respondWith(plain(200, bytes, { "content-encoding": encoding }));
    const record = await sendCode();
    expect(JSON.stringify(record)).not.toContain(CODE);
    expect(record).toMatchObject({ alpha: { path: "/v4/vm/instances", status: 200 } });
    expect(record.warnings).toEqual([
      `audit: the record has no texts of the client: the upstream's response can't be searched for secrets: ${why}`,
    ]);
  });

  test.each([
    ["behind the name of another secret", `{"token":"another-one","a":[1,],"password":"${CODE}"}`],
    ["behind the names of many others", `${"token: other ".repeat(50)} password: ${CODE}`],
    ["in lines of JSON", `{"token":"another-one"}\n{"password":"${CODE}"}\n`],
  ])("in text that is no JSON, %s", async (_, text) => {
    gateway.v4.respondWith(plain(200, Buffer.from(text), { "content-type": "application/json" }));
    expect(JSON.stringify(await sendCode())).not.toContain(CODE);
  });

  test("in a response that breaks off within it", async () => {
    gateway.v4.respondWith((_call, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": 1000 });
      response.write(`{"data":[],"password":"${CODE.slice(0, 8)}`, () => response.destroy());
    });
    await sendCode().catch(() => {});
    await waitFor(async () => (await gateway.readLastRecord()).warnings.length > 0);
    const record = await gateway.readLastRecord();
    expect(JSON.stringify(record)).not.toContain(CODE.slice(8));
    expect(record.warnings).toContainEqual(expect.stringContaining("it is cut"));
  });
});

test.each([
  ["that has no such value", json(200, { label: CODE })],
  ["that is a long file", plain(200, Buffer.alloc(300_000), { "content-type": "image/png" })],
])("a query is recorded beside a response %s", async (_, response) => {
  gateway.v4.respondWith(response);
  const record = await sendCode();
  expect(record.alpha.query).toBe(`label=${CODE}&page=2`);
  expect(record.warnings).toEqual([]);
});
