/** A file from v4 that breaks off before anything of it was sent, or whose record cannot be written. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json, plain, raw } from "../../support/fake-v4.ts";
import {
  startListeningGatewayWithFakeV4,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { openRawClient } from "../../support/raw-client.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const THUMBNAIL = "/v4/account/clients/0123456789abcdef0123/thumbnail";
const ORIGIN = "https://app.example";

/** A gateway with a short time limit, for a v4 that says nothing more. */
/** A gateway whose records cannot be written, although they must be durable. */
const gateway = startForTests(() => startListeningGatewayWithFakeV4({ ...RECORDING, CORS_ORIGINS: ORIGIN }));
const hasty = startForTests(() =>
  startListeningGatewayWithFakeV4({
    ...RECORDING,
    CORS_ORIGINS: ORIGIN,
    UPSTREAM_TIMEOUT_MS: "500",
  }),
);
const unrecorded = startForTests(() =>
  startListeningGatewayWithFakeV4({
    CORS_ORIGINS: ORIGIN,
    ...RECORDING,
    DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
  }),
);

/** Asks for the picture on a connection that must stay usable. */
async function download(from: ListeningGatewayWithFakeV4, method: string) {
  const client = await openRawClient(from.url);
  const lines = ["Host: a", "Authorization: token t", `Origin: ${ORIGIN}`, "X-Request-Id: mine"];
  client.send([`${method} ${THUMBNAIL} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  if (method === "HEAD") {
    client.send([`GET /v4/nowhere HTTP/1.1`, "Host: a", "Connection: close", "", ""].join("\r\n"));
    await client.waitForEnd();
    return { head: client.text().split("\r\n\r\n", 1)[0], responses: [] };
  }
  const responses = await client.waitForResponses(1);
  const isEnded = client.isEnded();
  client.close();
  return { responses, isEnded };
}

const FAILURE = {
  status: 500,
  headers: {
    "content-type": "application/json",
    "x-request-id": "mine",
    "access-control-allow-origin": ORIGIN,
    "cache-control": "no-store",
  },
};

/** Expects one error on a connection that stays open. */
function expectFailure({ responses, isEnded }: Awaited<ReturnType<typeof download>>): void {
  const [response, ...others] = responses;
  expect(response).toMatchObject(FAILURE);
  expect(JSON.parse(response?.body ?? "")).toEqual({
    errors: [{ reason: "The service could not process this request (mine)." }],
  });
  expect(response?.headers).not.toHaveProperty("content-encoding");
  expect({ others, isEnded }).toEqual({ others: [], isEnded: false });
}

const V4_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Encoding: gzip";

describe("a file that breaks off before its first byte is alpha's own error", () => {
  const FRAMINGS = ["Transfer-Encoding: chunked", "Content-Length: 100"];
  test.each(
    FRAMINGS.flatMap((framing) => (["end", "reset", "leave"] as const).map((end) => [framing, end] as const)),
  )("with %s, and v4 then does this: %s", async (framing, end) => {
    const from = end === "leave" ? hasty : gateway;
    from.v4.respondWith(raw(`${V4_HEAD}\r\n${framing}\r\n\r\n`, end));
    expectFailure(await download(from, "GET"));
    const record = await from.readLastRecord();
    expect(record).toMatchObject({ requestId: "mine", alpha: { status: 500 }, v4: [{ status: null }] });
    expect(record.warnings).toHaveLength(1);
  });

  test("an empty file is not an error", async () => {
    gateway.v4.respondWith(plain(200, "", { "content-type": "image/png", "content-length": "0" }));
    const { responses } = await download(gateway, "GET");
    expect(responses).toMatchObject([{ status: 200, body: "", headers: { "content-type": "image/png" } }]);
  });
});

describe("a file whose record must be durable and cannot be written", () => {
  test("is alpha's own error while nothing was sent", async () => {
    const headers = { "content-type": "image/png", "content-encoding": "gzip", "content-length": "8" };
    unrecorded.v4.respondWith(plain(200, Buffer.alloc(8), headers));
    const result = await download(unrecorded, "GET");
    expect(result.responses).toHaveLength(1);
    expectFailure(result);
  });

  test("has an error to HEAD", async () => {
    unrecorded.v4.respondWith(
      plain(200, Buffer.alloc(8), { "content-type": "image/png", "content-length": "8" }),
    );
    const { head } = await download(unrecorded, "HEAD");
    expect(head).toMatch(/^HTTP\/1\.1 500 /);
    expect(head).toMatch(/^x-request-id: mine$/im);
    expect(head).toMatch(/^content-type: application\/json/im);
  });
});

test("another request is served after these", async () => {
  gateway.v4.respondWith(json(200, { username: "me" }));
  expect((await gateway.request("GET /account/profile", { as: "t" })).status).toBe(200);
});
