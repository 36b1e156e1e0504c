/** Forms of a response that a client asks for in its query, and objects that have not changed. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { RECORDING } from "../../support/gateway.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";

let gateway: SmallGateway;

const CLIENT = {
  query: { unknown: "reject" },
  always_ok: { parameter: "quiet", response_header: "X-Status" },
  callback: { parameter: "jsonp" },
  headers: { response: { "Last-Modified": { read: "changed" } } },
};

async function send(call: string, response = json(200, { id: 1, name: "a" }), headers = {}) {
  gateway = await startSmallGateway({ client: CLIENT });
  gateway.service.respondWith(response);
  return gateway.send(call, { headers });
}

describe("a callback", () => {
  test("gets the JSON of a success, and of an error with its status as 200", async () => {
    const { status, text, headers } = await send("GET /books/1?jsonp=a.b$");
    expect([status, text]).toEqual([200, '/**/a.b$({"id":1,"title":"a"});']);
    expect(headers.get("content-type")).toMatch(/^text\/javascript/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    await gateway.stop();
    const failed = await send("GET /books/1?jsonp=f", json(404, { message: "No." }));
    expect([failed.status, failed.text]).toEqual([200, '/**/f({"message":"No."});']);
  });

  test.each(["alert(1)//", "a;b", "", "1a", "a".repeat(200), "a\u2028"])(
    "%j is no name of a function: the response is JSON",
    async (name) => {
      const { text } = await send(`GET /books/1?jsonp=${encodeURIComponent(name)}`);
      expect(text).toBe('{"id":1,"title":"a"}');
    },
  );

  test("is in the record as the text that the client got, without secrets, and records can be read", async () => {
    gateway = await startSmallGateway({ client: CLIENT }, RECORDING);
    gateway.service.respondWith(json(200, { id: 1, name: "a", password: "hunter-2" }));
    await gateway.send("GET /books/1?jsonp=f");
    const [record] = await gateway.readRecords();
    expect(record?.alpha.response).toBe('/**/f({"id":1,"title":"a"});');
    await gateway.stop();
    gateway = await startSmallGateway(
      { client: CLIENT, book: { fields: { id: "id", title: "name", password: "password" } } },
      RECORDING,
    );
    gateway.service.respondWith(json(200, { id: 1, name: "a", password: "hunter-2" }));
    await gateway.send("GET /books/1?jsonp=f");
    expect(await gateway.lastRecord()).not.toContain("hunter-2");
    expect((await gateway.readRecords())[0]?.alpha.status).toBe(200);
  });

  test("has no line ends of old JavaScript in its texts", async () => {
    const { text } = await send("GET /books/1?jsonp=f", json(200, { id: 1, name: "\u2028\u2029" }));
    expect(text).toBe(String.raw`/**/f({"id":1,"title":"\u2028\u2029"});`);
  });

  test.each([{ cookie: "sid" }, { basic: "username" }, { header: "X-Key", or: [{ cookie: "sid" }] }])(
    "is refused with credentials that browsers send by themselves: %j",
    (credentials) => {
      const faults = faultsOfSmallPack({
        client: { credentials, callback: { parameter: "f" } },
        upstream: { credentials: { scheme: "Bearer" } },
      });
      expect(faults).toEqual([expect.stringContaining("scripts of any page")]);
    },
  );
});

test("a parameter asks for status 200 always, and the true one is in a header", async () => {
  const { status, headers } = await send("GET /books/1?quiet=true", json(404, { message: "No." }));
  expect([status, headers.get("x-status")]).toEqual([200, "404"]);
  await gateway.stop();
  expect((await send("GET /books/1?quiet=1", json(404, { message: "No." }))).status).toBe(404);
});

test("a client can't ask without a header and without a parameter", () => {
  expect(faultsOfSmallPack({ client: { always_ok: { response_header: "X-Status" } } })).toEqual([
    'clients can\'t ask for it: add "request_header" or "parameter"',
  ]);
});

describe("an object with a Last-Modified of the pack", () => {
  const changed = json(200, { id: 1, name: "a", changed: "2026-03-01T10:00:00.900Z" });
  test.each([
    ["Sun, 01 Mar 2026 10:00:00 GMT", {}, 304],
    ["Sun, 01 Mar 2026 09:59:59 GMT", {}, 200],
    ["no date", {}, 200],
    ["Sun, 01 Mar 2026 10:00:00 GMT", { "if-none-match": '"other"' }, 200],
  ])("read since %s with %j is a %i", async (since, others, expected) => {
    const { status, headers } = await send("GET /books/1", changed, {
      "if-modified-since": since,
      ...others,
    });
    expect([status, headers.get("last-modified")]).toEqual([expected, "Sun, 01 Mar 2026 10:00:00 GMT"]);
  });

  test("has no header where the upstream has no time", async () => {
    const { headers } = await send("GET /books/1", json(200, { id: 1, changed: "soon" }));
    expect(headers.get("last-modified")).toBeNull();
  });
});
