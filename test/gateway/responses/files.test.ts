/** Files are streamed without buffering. If one side ends a stream, the other side ends too. */
import { beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { request as ask, type ClientRequest, type IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { buffer } from "node:stream/consumers";
import { acceptGoodTokens, json, plain, raw, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { RECORDING, startListeningGateway, type ListeningGateway } from "../../support/gateway.ts";

let v4: FakeV4;
let gateway: ListeningGateway;
beforeAll(async () => {
  v4 = await startFakeV4();
  gateway = await startListeningGateway({ UPSTREAM_URL: v4.url, ...RECORDING });
  // A token that v4 has not taken yet is checked before a file is taken.
  await gateway.request("GET /account/profile", { as: "t" });
});
beforeEach(() => v4.respondWith(json(200, {})));

const THUMBNAIL = "/v4/account/clients/0123456789abcdef0123/thumbnail";
const ATTACHMENTS = "/v4/support/tickets/7/attachments";
const FORM = "multipart/form-data; boundary=x";

function send(method: string, path: string, type?: string, length?: number): ClientRequest {
  return ask(gateway.url + path, {
    method,
    agent: false,
    headers: {
      authorization: "token t",
      ...(type !== undefined && { "content-type": type }),
      ...(length !== undefined && { "content-length": length }),
    },
  }).on("error", () => {});
}

const responseOf = (call: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => call.once("response", resolve).once("error", reject));

async function reported(call: ClientRequest): Promise<{ status: number | undefined; body: unknown }> {
  const response = await responseOf(call);
  return { status: response.statusCode, body: JSON.parse((await buffer(response)).toString()) };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("a file larger than BODY_LIMIT reaches v4 complete, with its type and length", async () => {
  const file = Buffer.alloc(3_000_000, 7);
  const call = send("PUT", `/${THUMBNAIL}`, "image/png", file.length);
  call.end(file);
  expect(await reported(call)).toEqual({ status: 200, body: {} });
  expect(v4.calls[0]?.path).toBe("/v4/account/oauth-clients/0123456789abcdef0123/thumbnail");
  expect(v4.calls[0]?.headers).toMatchObject({ "content-type": "image/png", "content-length": "3000000" });
  expect(v4.calls[0]?.received().equals(file)).toBe(true);
});

test("v4 receives the beginning of a file before the client has sent its end", async () => {
  const call = send("POST", ATTACHMENTS, FORM);
  call.write("--x\r\n");
  await until(() => v4.calls[0]?.received().toString() === "--x\r\n");
  call.end("rest");
  expect(await reported(call)).toEqual({ status: 200, body: {} });
  expect(v4.calls[0]?.headers["content-type"]).toBe(FORM);
  expect(v4.calls[0]?.received().toString()).toBe("--x\r\nrest");
});

test.each([
  ["of another type", "PUT", THUMBNAIL, "image/gif", 10],
  ["that is JSON", "POST", ATTACHMENTS, "application/json", 10],
  ["that says it is too long", "POST", ATTACHMENTS, FORM, 5_308_417],
])("a file %s is rejected without a v4 request", async (_what, method, path, type, length) => {
  const call = send(method, path, type, length);
  call.write("x");
  expect(await reported(call)).toEqual({ status: 400, body: { errors: [{ reason: expect.any(String) }] } });
  expect(v4.calls).toEqual([]);
  call.destroy();
});

test("a file that exceeds the limit during the upload is rejected, and v4 does not receive its end", async () => {
  const call = send("POST", ATTACHMENTS, FORM);
  const response = reported(call);
  call.write(Buffer.alloc(5_400_000));
  expect(await response).toEqual({ status: 400, body: { errors: [{ reason: "The body is too large." }] } });
  await until(() => v4.calls.length > 0);
  expect(await v4.calls[0]?.ended).toBe("broken off");
  call.destroy();
});

test("a client that disconnects during an upload ends v4's request", async () => {
  const call = send("POST", ATTACHMENTS, FORM);
  call.write("--x\r\n");
  await until(() => v4.calls[0]?.received().length === 5);
  call.destroy();
  expect(await v4.calls[0]?.ended).toBe("broken off");
});

describe("a file with a token that v4 has not accepted yet", () => {
  const sendAs = (token: string): ClientRequest =>
    send("POST", ATTACHMENTS, FORM).setHeader("authorization", `token ${token}`);

  test("is sent after v4 has accepted the token for a small read", async () => {
    v4.respondWith(acceptGoodTokens);
    const call = sendAs("good-new");
    call.end("x");
    expect((await reported(call)).status).toBe(200);
    expect(v4.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /v4/profile",
      "POST /v4/support/tickets/7/attachments",
    ]);
    const again = sendAs("good-new");
    again.end("x");
    expect((await reported(again)).status).toBe(200);
    expect(v4.calls).toHaveLength(3);
  });

  test("is sent if v4 knows the token and its scopes permit less than the read", async () => {
    v4.respondWith(json(403, { errors: [{ reason: "Unauthorized" }] }), json(200, {}));
    const call = sendAs("good-narrow");
    call.end("x");
    expect((await reported(call)).status).toBe(200);
  });

  test.each([
    [401, 401],
    [429, 420],
    [500, 500],
  ])("is not sent if v4 responds to the read with %i, and gets %i", async (status, alpha) => {
    v4.respondWith(json(status, { errors: [{ reason: "No" }] }));
    const call = sendAs(`made-up-${status}`);
    call.write("drip");
    expect((await reported(call)).status).toBe(alpha);
    expect(v4.calls.map(({ method }) => method)).toEqual(["GET"]);
    call.destroy();
  });
});

test("a v4 error for a file is translated", async () => {
  v4.respondWith(json(413, { errors: [{ reason: "Too long", field: "file" }] }));
  const call = send("POST", ATTACHMENTS, FORM);
  call.end("x");
  expect(await reported(call)).toEqual({ status: 400, body: { errors: [{ reason: "Too long" }] } });
});

test("a v4 that resets an upload gives a neutral 500", async () => {
  v4.respondWith(raw("", "reset"));
  const call = send("POST", ATTACHMENTS, FORM);
  call.end("x");
  expect((await reported(call)).status).toBe(500);
});

test("a picture is returned unchanged, and the audit has its size", async () => {
  const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 13, 10]);
  v4.respondWith(plain(200, picture, { "content-type": "image/png", "content-length": "8", server: "v4" }));
  const call = send("GET", THUMBNAIL);
  call.end();
  const response = await responseOf(call);
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({ "content-type": "image/png", "content-length": "8" });
  expect(response.headers["server"]).toBeUndefined();
  expect((await buffer(response)).equals(picture)).toBe(true);
  const [record] = await gateway.readAudit();
  expect(record).toMatchObject({
    alpha: { route: "GET /account/clients/:client/thumbnail", status: 200, response: { streamed: 8 } },
    v4: [{ status: 200, response: { streamed: { out: 8 } } }],
    bytes: { out: 8 },
  });
});

test("a gzipped picture keeps its Content-Encoding", async () => {
  const picture = gzipSync(Buffer.alloc(100, 7));
  v4.respondWith(plain(200, picture, { "content-type": "image/png", "content-encoding": "gzip" }));
  const call = send("GET", THUMBNAIL);
  call.end();
  const response = await responseOf(call);
  expect(response.headers["content-encoding"]).toBe("gzip");
  expect((await buffer(response)).equals(picture)).toBe(true);
});

test.each<[string, string, Record<string, string>]>([
  ["with a length", "GET", { "content-length": "8" }],
  ["in chunks", "GET", {}],
  ["to HEAD", "HEAD", { "content-length": "8" }],
])(
  "strict: the record of a picture %s is durable before its response ends",
  async (_how, method, headers) => {
    const strict = await startListeningGateway({ UPSTREAM_URL: v4.url, ...RECORDING });
    v4.respondWith(plain(200, Buffer.alloc(8), { "content-type": "image/png", ...headers }));
    const response = await fetch(strict.url + THUMBNAIL, {
      method,
      headers: { authorization: "token t" },
    });
    await response.arrayBuffer();
    const stored = await fetch(`${strict.adminUrl}/api/audit`);
    expect(await stored.json()).toMatchObject({
      records: [{ alpha: { route: "GET /account/clients/:client/thumbnail", status: 200 } }],
    });
  },
);

test("HEAD of a picture returns only headers", async () => {
  v4.respondWith(plain(200, Buffer.alloc(8), { "content-type": "image/png", "content-length": "8" }));
  const call = send("HEAD", THUMBNAIL);
  call.end();
  const response = await responseOf(call);
  expect(response.headers["content-type"]).toBe("image/png");
  expect((await buffer(response)).length).toBe(0);
});

test("a picture that v4 aborts is aborted for the client", async () => {
  v4.respondWith(raw("HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 100\r\n\r\nabc"));
  const call = send("GET", THUMBNAIL);
  call.end();
  await expect(responseOf(call).then(buffer)).rejects.toThrow("aborted");
  expect((await gateway.readAudit())[0]).toMatchObject({ alpha: { status: 200 } });
});

test("a client that disconnects during a download ends v4's response", async () => {
  v4.respondWith((_call, response) => {
    response.writeHead(200, { "content-type": "image/png" });
    response.write("beginning");
  });
  const call = send("GET", THUMBNAIL);
  call.end();
  const reply = await responseOf(call);
  reply.once("data", () => call.destroy());
  reply.on("error", () => {});
  await until(() => v4.calls.length > 0);
  expect(await v4.calls[0]?.ended).toBe("broken off");
  expect((await gateway.readAudit())[0]).toMatchObject({ alpha: { status: 499 } });
});

test("a response that is not a picture gives an error", async () => {
  v4.respondWith(plain(200, "<script>", { "content-type": "text/html" }));
  const call = send("GET", THUMBNAIL);
  call.end();
  expect(await reported(call)).toEqual({ status: 500, body: { errors: [{ reason: expect.any(String) }] } });
});
