/** Any faulty response of v4: the client gets one of alpha's statuses and JSON of alpha's shape, and the record has the fault. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, plain, raw, neverRespond, type Responder } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const LIST = JSON.stringify(envelope([{ id: 7, label: "web-one" }]));
const HTML = "<html><body>nginx at 10.1.2.3</body></html>";
const head = (length: number) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;

const inBytes: Responder = (_call, response) => {
  for (const byte of Buffer.from(LIST)) response.write(Buffer.of(byte));
  response.end();
};

const wholeList = head(Buffer.byteLength(LIST)) + LIST;

/** Writes each byte in a packet of its own. */
const inSingleBytes =
  (bytes: string): Responder =>
  async (_call, { socket }) => {
    socket?.setNoDelay(true);
    for (const byte of Buffer.from(bytes)) {
      socket?.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket?.end();
  };

/** A gateway with a short timeout, for responses that never end. The other one must not time out on a busy machine. */
const gateway = startForTests(() => startGatewayWithFakeV4({ ...RECORDING, UPSTREAM_TIMEOUT_MS: "15000" }));
const hasty = startForTests(() => startGatewayWithFakeV4({ ...RECORDING, UPSTREAM_TIMEOUT_MS: "500" }));

const CREATE = { body: { datacenter: "newark", type: "g6-standard-1", label: "web-one" } };
const problems = (reason: unknown) => ({ errors: [{ reason }] });
const failed = problems(expect.stringMatching(/^The service could not process this request/));

/** Expects no text, address or header of v4 in a response. */
function expectNoLeak(result: { text: string; headers: Headers }): void {
  expect(result.text).not.toMatch(/nginx|10\.1\.2\.3|127\.0\.0\.1|UND_ERR|ECONN|node:|\bat \w+/);
  expect(result.headers.get("content-type")).toBe("application/json");
  expect(result.headers.get("server")).toBeNull();
  expect(result.headers.get("set-cookie")).toBeNull();
  expect(result.headers.get("location")).toBeNull();
}

describe("L-9 an unusable response gives 500, and only harmless requests are retried", () => {
  // Without successes in between the circuit would open.
  afterEach(async () => {
    gateway.v4.respondWith(json(200, envelope([])));
    await Promise.all([1, 2, 3, 4].map(() => gateway.request("GET /vm/instances")));
  });

  // What v4 does, the number of requests of a GET, the warning in the record.
  const table: [string, Responder, number, RegExp][] = [
    ["closes without a response", raw(""), 3, /truncated/],
    ["resets without a response", raw("", "reset"), 3, /truncated|unreachable/],
    ["never responds", neverRespond, 1, /timed_out/],
    ["sends half a head", raw("HTTP/1.1 200 OK\r\nContent-Ty"), 3, /truncated/],
    ["sends half a head and waits", raw("HTTP/1.1 200 OK\r\nContent-Ty", "leave"), 1, /timed_out/],
    ["ends in mid-body", raw(head(500) + LIST), 3, /truncated/],
    ["resets in mid-body", raw(head(500) + LIST, "reset"), 3, /truncated/],
    ["waits in mid-body", raw(head(500) + LIST, "leave"), 1, /timed_out/],
    [
      "ends in mid-chunk",
      raw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"da`),
      3,
      /truncated/,
    ],
    [
      "breaks its chunking",
      raw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`),
      3,
      /truncated/,
    ],
    ["sends a length that cuts the JSON", raw(head(20) + LIST), 1, /not JSON/],
    [
      "sends two lengths",
      raw(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`),
      3,
      /truncated/,
    ],
    ["responds with garbage", raw("\u0000\u0001SSH-2.0-OpenSSH\r\n\r\n"), 3, /truncated/],
    [
      "switches protocols",
      raw("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
      3,
      /truncated/,
    ],
    ["sends a head of 100 KB", raw(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n\r\n{}`), 3, /truncated/],
    [
      "responds 200 with HTML",
      plain(200, HTML, { "content-type": "text/html", server: "nginx" }),
      1,
      /not JSON/,
    ],
    [
      "responds 500 with HTML",
      plain(500, HTML, { "content-type": "text/html", "set-cookie": "a=b" }),
      1,
      /v4 said 500/,
    ],
    ["responds 500 with text", plain(500, "Traceback: at node:10.1.2.3"), 1, /v4 said 500/],
    ["responds 500 without a body", plain(500, ""), 1, /v4 said 500/],
    ["responds 502", plain(502, HTML), 3, /v4 responded with 502/],
    ["responds 504", plain(504, ""), 3, /v4 responded with 504/],
    ["responds 600", plain(600, "{}"), 1, /v4 responded with 600/],
    ["responds 304", plain(304, ""), 1, /v4 responded with 304/],
    ["responds with truncated JSON", plain(200, LIST.slice(0, -3)), 1, /not JSON/],
    ["responds with two JSON texts", plain(200, LIST + LIST), 1, /not JSON/],
    ["responds with invalid gzip data", plain(200, LIST, { "content-encoding": "gzip" }), 3, /truncated/],
    [
      "responds with an unknown Content-Encoding",
      plain(200, LIST, { "content-encoding": "rot13" }),
      3,
      /truncated/,
    ],
    [
      "responds with three nested Content-Encodings",
      plain(200, LIST, { "content-encoding": "gzip, gzip, gzip" }),
      3,
      /truncated/,
    ],
    ["responds with a gzip bomb", plain(200, bomb, { "content-encoding": "gzip" }), 1, /too_large/],
    ["responds with 20 MB", plain(200, Buffer.alloc(20 * 1024 * 1024, " ")), 1, /too_large/],
    ["nests 50 000 levels", plain(200, deep), 1, /not JSON/],
    [
      "L-11 redirects with 301 to itself",
      plain(301, "", { location: "/v4/vm/instances" }),
      1,
      /v4 responded with 301/,
    ],
    [
      "L-11 redirects with 302 to another host",
      plain(302, HTML, { location: "http://10.1.2.3/" }),
      1,
      /v4 responded with 302/,
    ],
    [
      "L-11 redirects with 307 to another host",
      plain(307, "", { location: "http://10.1.2.3/" }),
      1,
      /v4 responded with 307/,
    ],
  ];

  const before = (warning: RegExp): GatewayWithFakeV4 => (warning.source === "timed_out" ? hasty : gateway);

  test.each(table)("A-173 a read, if v4 %s", async (_name, behaviour, calls, warning) => {
    const pair = before(warning);
    pair.v4.respondWith(behaviour);
    const response = await pair.request("GET /vm/instances");
    expect(response).toMatchObject({ status: 500, body: failed });
    expectNoLeak(response);
    expect(pair.v4.calls).toHaveLength(calls);
    const record = await pair.readLastRecord();
    expect(record.alpha.status).toBe(500);
    expect(record.v4).toHaveLength(1);
    // A 500 that stays a 500 has no warning. The record has the status of the v4 request.
    const status = record.v4[0].status === null ? [] : [`v4 said ${record.v4[0].status}`];
    expect([...record.warnings, ...status].join("\n")).toMatch(warning);
  });

  test.each(table)("L-28 a create, sent once, if v4 %s", async (_name, behaviour, _calls, warning) => {
    const pair = before(warning);
    pair.v4.respondWith(behaviour);
    const response = await pair.request("POST /vm/instances", CREATE);
    expect(response).toMatchObject({ status: 500, body: failed });
    expectNoLeak(response);
    expect(pair.v4.calls.map(({ method }) => method)).toEqual(["POST"]);
  });
});

describe("L-9 JSON of the wrong shape gives 500", () => {
  const table: [string, Responder][] = [
    ["a list without an envelope", json(200, [{ id: 7 }])],
    ["an object for a list", json(200, { id: 7 })],
    ["null", json(200, null)],
    ["a string", json(200, "ok")],
    ["an envelope whose data is not a list", json(200, { data: {}, page: 1, pages: 1, results: 0 })],
    [
      "an envelope with two lists of data",
      plain(200, '{"data":[{"id":1}],"page":1,"pages":1,"results":1,"data":[{"id":2}]}'),
    ],
    ["an envelope with invalid counts", json(200, { data: [], page: "1", pages: -1, results: 1e300 })],
    ["a list of nothing but null", json(200, envelope([null]))],
    ["a list of numbers", json(200, envelope([1, 2]))],
    ["a page of a hundred thousand rows", json(200, envelope(Array.from({ length: 100_000 }, () => ({}))))],
    ["an empty 200", plain(200, "")],
    ["204", plain(204, "")],
  ];
  test.each(table)("for a list, if v4 responds with %s", async (_name, behaviour) => {
    gateway.v4.respondWith(behaviour);
    const response = await gateway.request("GET /vm/instances");
    expect(response).toMatchObject({ status: 500, body: failed });
    expectNoLeak(response);
    expect((await gateway.readLastRecord()).warnings).not.toEqual([]);
  });

  test.each<[string, Responder]>([
    ["a list", json(200, [])],
    ["null", json(200, null)],
    ["a number", json(200, 7)],
    ["a number that no double holds", plain(200, "12345678901234567890123")],
    ["an empty 200", plain(200, "")],
  ])("for an object, if v4 responds with %s", async (_name, behaviour) => {
    gateway.v4.respondWith(behaviour);
    const response = await gateway.request("GET /vm/instances/7/disks/1");
    expect(response).toMatchObject({ status: 500, body: failed });
  });

  test.each<[string, Responder]>([
    ["an empty 200", plain(200, "")],
    ["204", plain(204, "")],
    ["{}", json(200, {})],
  ])("but a removal succeeds if v4 responds with %s", async (_name, behaviour) => {
    gateway.v4.respondWith(behaviour);
    expect(await gateway.request("DELETE /vm/instances/7")).toMatchObject({ status: 200, text: "{}" });
  });

  test("but a create succeeds if v4 responds without a body", async () => {
    gateway.v4.respondWith(plain(204, ""));
    expect(await gateway.request("POST /vm/instances", CREATE)).toMatchObject({ status: 200, text: "{}" });
  });
});

describe("L-9 JSON that is too expensive gives 500, and the record has the reason", () => {
  const many = (count: number, item: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => item(index)).join(",");
  const members = many(200_000, (index) => `"name-${index}":0`);
  const escaped = many(200_000, (index) => `"\\u0061${index}":0`);
  const row = (text: string): string => `{"data":[${text}],"page":1,"pages":1,"results":1}`;
  const unexpected = /more than 100000 members that are not expected/;

  test.each([
    ["200 000 members", "GET /vm/instances/7/disks/1", `{${members}}`, unexpected],
    [
      "200 000 members whose names have escapes, which may hide secret names",
      "GET /vm/instances/7/disks/1",
      `{${escaped}}`,
      /the record has no texts of the client/,
    ],
    [
      "the same member 200 000 times",
      "GET /account/profile",
      `{${many(200_000, () => '"a":0')}}`,
      unexpected,
    ],
    ["200 000 members in a row", "GET /vm/instances", row(`{${members}}`), unexpected],
    ["200 000 members beside the rows", "GET /vm/instances", `{${members},${row("").slice(1)}`, unexpected],
    [
      "300 000 values that are parsed",
      "GET /vm/instances/7",
      `{"id":7,"specs":{"a":[${many(300_000, () => "0")}]}}`,
      /more than 200000 values/,
    ],
    [
      "a number of 100 000 digits",
      "GET /vm/instances/7/disks/1",
      `{"id":1${"0".repeat(100_000)}}`,
      /a number of more than 1000 characters/,
    ],
    [
      "a number of 100 000 digits in a row",
      "GET /vm/instances",
      row(`{"id":0.${"1".repeat(100_000)}}`),
      /a number of more than 1000 characters/,
    ],
    [
      "200 levels",
      "GET /vm/instances",
      row(`{"id":${"[".repeat(200)}${"]".repeat(200)}}`),
      /nested deeper than 100/,
    ],
  ])("%s", async (_name, call, text, warning) => {
    gateway.v4.respondWith(plain(200, text));
    expect(await gateway.request(call)).toMatchObject({ status: 500, body: failed });
    expect((await gateway.readLastRecord()).warnings.join("\n")).toMatch(warning);
  });
});

describe("unusual but valid v4 responses", () => {
  test.each<[string, Responder]>([
    ["chunked, in single bytes", inBytes],
    ["without a length, until the end", raw(`HTTP/1.1 200 OK\r\n\r\n${LIST}`)],
    ["with no content type", plain(200, LIST)],
    [
      "after a 103",
      raw(`HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n${head(Buffer.byteLength(LIST))}${LIST}`),
    ],
    ["after a 100", raw(`HTTP/1.1 100 Continue\r\n\r\n${wholeList}`)],
    ["after a 100 with headers", raw(`HTTP/1.1 100 Go on\r\nX-A: b\r\n\r\n${wholeList}`)],
    [
      "after 102, 100, 103 and 100",
      raw(
        ["102 P", "100 C", "103 E", "100 C"].map((line) => `HTTP/1.1 ${line}\r\n\r\n`).join("") + wholeList,
      ),
    ],
    ["after a 100, in single bytes", inSingleBytes(`HTTP/1.1 100 Continue\r\n\r\n${wholeList}`)],
    ["with a byte order mark", plain(200, `\u{feff}${LIST}`)],
    ["with Content-Encoding: none", plain(200, LIST, { "content-encoding": "none" })],
    ["L-2 as raw deflate", plain(200, deflateRawSync(LIST), { "content-encoding": "deflate" })],
    ["L-2 as gzip", plain(200, gzipSync(LIST), { "content-encoding": "gzip" })],
    ["L-2 as x-gzip", plain(200, gzipSync(LIST), { "content-encoding": "x-gzip" })],
    ["L-2 as brotli", plain(200, brotliCompressSync(LIST), { "content-encoding": "br" })],
    ["L-2 as deflate", plain(200, deflateSync(LIST), { "content-encoding": "Deflate" })],
    ["L-2 as zstd", plain(200, zstdCompressSync(LIST), { "content-encoding": "zstd" })],
    ["L-2 twice coded", plain(200, gzipSync(brotliCompressSync(LIST)), { "content-encoding": "br, gzip" })],
    [
      "as 202 with warnings",
      json(202, { ...envelope([{ id: 7, label: "web-one" }]), warnings: [{ title: "slow" }] }),
    ],
  ])("a list is read if it arrives %s", async (_name, behaviour) => {
    gateway.v4.respondWith(behaviour);
    const response = await gateway.request("GET /vm/instances");
    expect(response).toMatchObject({
      status: 200,
      body: { vms: [{ id: 7, label: "web-one" }], total_pages: 1 },
    });
    expect(Object.keys(response.body)).toEqual(["vms", "page", "total_pages", "total_results"]);
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(response.text)));
    expect(gateway.v4.calls[0]?.headers["accept-encoding"]).toBe("identity");
  });

  test.each([0, 1, 2, 25])("L-5 a list of %i stays a list", async (length) => {
    gateway.v4.respondWith(
      json(200, envelope(Array.from({ length }, (_, id) => ({ id, label: `vm-${id}` })))),
    );
    const { body } = await gateway.request("GET /vm/instances");
    expect(body.vms.map(({ id }: { id: number }) => id)).toEqual(Array.from({ length }, (_, id) => id));
  });

  test("L-5 numbers above 2^53 and long decimals keep their digits", async () => {
    const text = '{"data":[{"id":90071992547409931234,"label":"big"}],"page":1,"pages":1,"results":1}';
    gateway.v4.respondWith(plain(200, text));
    expect((await gateway.request("GET /vm/instances")).text).toContain('"id":90071992547409931234,');
  });

  test("L-5 a __proto__ member of v4 has no effect and is not returned", async () => {
    const row =
      '{"id":7,"label":"one","__proto__":{"group":"evil","status":"running"},"constructor":{"prototype":{"polluted":1}}}';
    gateway.v4.respondWith(
      plain(200, `{"data":[${row}],"page":1,"pages":1,"results":1,"__proto__":{"x":1}}`),
    );
    const response = await gateway.request("GET /vm/instances");
    expect(response.body.vms[0]).toMatchObject({ id: 7, group: "", status: null });
    expect(response.text).not.toMatch(/evil|polluted|__proto__/);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("L-28 a read survives two 503 responses", async () => {
    gateway.v4.respondWith(plain(503, ""), raw("", "reset"), plain(200, LIST));
    expect(await gateway.request("GET /vm/instances")).toMatchObject({ status: 200 });
    expect(gateway.v4.calls).toHaveLength(3);
  });

  test.each(["POST /vm/instances", "PUT /vm/instances/7", "DELETE /vm/instances/7"])(
    "L-28 T-2.8 %s is never retried",
    async (call) => {
      gateway.v4.respondWith(plain(503, ""), json(200, { id: 7 }));
      const options = call.startsWith("PUT") ? { body: { label: "web-two" } } : CREATE;
      expect(await gateway.request(call, call.startsWith("DELETE") ? {} : options)).toMatchObject({
        status: 500,
      });
      expect(gateway.v4.calls).toHaveLength(1);
    },
  );
});

describe("informational responses of v4 before the final one are skipped (RFC 9110 15.2)", () => {
  const afterHundred: Responder = (call, response) => {
    response.writeContinue();
    response.writeProcessing();
    response.writeContinue();
    json(200, { id: 7, label: "web-one" })(call, response);
  };

  test.each(["POST /vm/instances", "PUT /vm/instances/7"])(
    "%s is sent once, on a new connection and on a used one, and the connection is kept",
    async (call) => {
      const alone = await startGatewayWithFakeV4({ UPSTREAM_CONNECTIONS: "1" });
      await alone.request("GET /vm/instances");
      const connections = alone.v4.countConnections();
      alone.v4.respondWith(afterHundred);
      for (let times = 1; times <= 3; times += 1) {
        const options = call.startsWith("PUT") ? { body: { label: "web-two" } } : CREATE;
        expect(await alone.request(call, options)).toMatchObject({ status: 200, body: { id: 7 } });
        expect(alone.v4.calls.filter(({ method }) => method !== "GET")).toHaveLength(times);
      }
      expect(alone.v4.countConnections()).toBe(connections);
    },
  );

  test("bytes of a body that look like one stay as they are", async () => {
    const label = "HTTP/1.1 100 Continue\r\n\r\n";
    gateway.v4.respondWith(json(200, envelope([{ id: 7, label }])));
    expect((await gateway.request("GET /vm/instances")).body.vms[0].label).toBe(label);
  });
});

describe("a connection that v4 closes at the moment when it is used again", () => {
  const options = (call: string) =>
    ({ PUT: { body: { label: "web-two" } }, POST: CREATE })[call.split(" ")[0] ?? ""] ?? {};

  /** Sends a request on a connection that has served another one. @returns its methods at v4, and its status */
  async function sendOnUsedConnection(call: string, ...behaviours: [Responder, ...Responder[]]) {
    const alone = await startGatewayWithFakeV4({ UPSTREAM_CONNECTIONS: "1" });
    await alone.request("GET /vm/instances");
    alone.v4.respondWith(...behaviours);
    const { status } = await alone.request(call, options(call));
    const [path] = alone.v4.calls.map((received) => received.path);
    return { status, calls: alone.v4.calls.filter((received) => received.path === path).length };
  }

  const answer = json(200, { id: 7, label: "web-one" });

  test.each([
    ["GET /vm/instances/7", 2, 200],
    ["PUT /vm/instances/7", 2, 200],
    ["DELETE /vm/instances/7", 2, 200],
    ["POST /vm/instances", 1, 500],
    ["POST /vm/instances/7/reboot", 1, 500],
  ])("%s is sent %i times", async (call, calls, status) => {
    for (const end of ["end", "reset"] as const)
      expect(await sendOnUsedConnection(call, raw("", end), answer)).toEqual({ calls, status });
  });

  test.each(["PUT /vm/instances/7", "DELETE /vm/instances/7"])(
    "%s is not sent again where a byte of a response came",
    async (call) => {
      expect(await sendOnUsedConnection(call, raw("H"), answer)).toEqual({ calls: 1, status: 500 });
    },
  );

  test.each(["PUT /vm/instances/7", "DELETE /vm/instances/7"])(
    "%s is not sent again on a new connection, nor a third time",
    async (call) => {
      const behaviours = [raw(""), raw(""), answer] as const;
      expect(await sendOnUsedConnection(call, ...behaviours)).toEqual({ calls: 2, status: 500 });
    },
  );
});

describe("204 and 304 end at their head, whatever follows (RFC 9112 6.3)", () => {
  test.each([
    ["chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"],
    ["an empty chunk", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["chunks that never come", "Transfer-Encoding: chunked\r\n\r\n"],
    ["a length", "Content-Length: 5\r\n\r\nhello"],
    ["a length and no bytes", "Content-Length: 5\r\n\r\n"],
    ["bytes without a length", "\r\nhello"],
    ["a coding", "Connection: close\r\nContent-Encoding: gzip\r\n\r\n"],
  ])("with %s", async (_name, rest) => {
    for (const end of ["leave", "end", "reset"] as const) {
      gateway.v4.respondWith(raw(`HTTP/1.1 204 No Content\r\n${rest}`, end));
      const response = await gateway.request("DELETE /vm/instances/7");
      expect([end, response.status]).toEqual([end, 200]);
      expect(gateway.v4.calls).toHaveLength(1);
    }
  });
});

test("bytes after a response are not the response of the next caller", async () => {
  const alone = await startGatewayWithFakeV4({ UPSTREAM_CONNECTIONS: "1" });
  const of = (label: string) => JSON.stringify(envelope([{ id: 1, label }]));
  const whole = (body: string) => head(Buffer.byteLength(body)) + body;
  alone.v4.respondWith(raw(whole(of("mine")) + whole(of("poison")), "leave"), plain(200, of("theirs")));
  const responses = await Promise.all(["a", "b"].map((as) => alone.request("GET /vm/instances", { as })));
  for (const { text } of responses) expect(text).not.toContain("poison");
  expect(responses[1]?.body.vms[0].label).toBe("theirs");
});
