/** Guessing the admin token: by the form and by the header, from an address and from others. */
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { adminApp } from "../../support/admin-app.ts";
import { createMetrics } from "../../../src/base/metrics/metrics.ts";

const TOKEN = "an-admin-token";
const metrics = createMetrics();
afterAll(() => metrics.close());

let server: Server;
/** On both families, where IPv4 clients look like IPv6 ones. */
beforeEach(async () => {
  const app = adminApp({ token: TOKEN, trustProxy: ["127.0.0.1"], metrics });
  server = createServer(app).listen(0, "::");
  await once(server, "listening");
});
afterEach(() => void server.close());

interface AdminResponse {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly cookie: string;
  readonly setCookie: string;
  readonly body: string;
}

interface AdminRequest {
  readonly path?: string;
  /** Of the client, on this machine. */
  readonly from?: string;
  readonly bearer?: string;
  readonly form?: string;
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request from an address that is not a trusted proxy. */
const FROM_ELSEWHERE = { path: "/login", form: `token=${TOKEN}`, from: "127.0.0.2" };

async function send({
  path = "/api",
  from = "127.0.0.1",
  bearer,
  form,
  cookie,
  headers,
}: AdminRequest): Promise<AdminResponse> {
  const { port } = server.address() as AddressInfo;
  const call = request({
    host: "127.0.0.1",
    port,
    path,
    agent: false,
    localAddress: from,
    method: form === undefined ? "GET" : "POST",
    headers: {
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      ...(cookie !== undefined && { cookie }),
      ...headers,
    },
  }).end(form);
  const [response] = await once(call, "response");
  const { "retry-after": retryAfter, "set-cookie": cookies = [] } = response.headers;
  const stored = String(cookies[0] ?? "").split(";")[0] ?? "";
  return {
    status: response.statusCode,
    retryAfter,
    cookie: stored,
    setCookie: String(cookies[0] ?? ""),
    body: await text(response),
  };
}

const signIn = (token: string, from?: string): Promise<AdminResponse> =>
  send({ path: "/login", form: `token=${token}`, ...(from !== undefined && { from }) });

const guess = async (times: number, one: () => Promise<AdminResponse>): Promise<(number | undefined)[]> => {
  const statuses: (number | undefined)[] = [];
  for (let n = 0; n < times; n += 1) statuses.push((await one()).status);
  return statuses;
};

const TEN = Array.from({ length: 10 }, () => 401);

describe("an address that sent ten wrong admin tokens", () => {
  test("gets 429 with Retry-After and a message in the form", async () => {
    expect(await guess(10, () => signIn("wrong"))).toEqual(TEN);
    const { status, retryAfter, body } = await signIn("wrong");
    expect(status).toBe(429);
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(Number(retryAfter)).toBeLessThanOrEqual(60);
    expect(body).toMatch(/role="alert">\s+Too many wrong tokens came from this address/);
  });

  test("gets 429 with Retry-After as JSON for the header", async () => {
    expect(await guess(10, () => send({ bearer: "wrong" }))).toEqual(TEN);
    const { status, retryAfter, body } = await send({ bearer: "wrong" });
    expect([status, JSON.parse(body)]).toEqual([
      429,
      { errors: [{ reason: expect.stringContaining("Too many") }] },
    ]);
    expect(retryAfter).toMatch(/^[1-9]/);
  });

  test("gets 429 for the right token too", async () => {
    await guess(5, () => send({ bearer: "wrong" }));
    await guess(5, () => signIn("wrong"));
    expect(await signIn(TOKEN)).toMatchObject({ status: 429, cookie: "" });
    expect((await send({ bearer: TOKEN })).status).toBe(429);
  });

  test("keeps its sessions and health endpoints", async () => {
    const { cookie } = await signIn(TOKEN);
    await guess(11, () => signIn("wrong"));
    expect((await send({ cookie })).status).toBe(200);
    expect((await send({ path: "/healthz" })).status).toBe(200);
  });

  test("does not block other addresses", async () => {
    await guess(11, () => signIn("wrong"));
    expect((await signIn(TOKEN, "127.0.0.2")).status).toBe(303);
    expect((await send({ bearer: TOKEN, from: "127.0.0.2" })).status).toBe(200);
  });
});

test("twenty pipelined requests with the right token get 200 and block no client", async () => {
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  const head = `GET /api HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`;
  socket.end(`${head}\r\n`.repeat(19) + `${head}Connection: close\r\n\r\n`);
  expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(
    Array.from({ length: 20 }, () => "HTTP/1.1 200"),
  );
  expect((await send({ bearer: TOKEN })).status).toBe(200);
});

test("only ten of many simultaneous wrong tokens are checked", async () => {
  const statuses = await Promise.all(
    Array.from({ length: 30 }, async () => (await send({ bearer: "wrong" })).status),
  );
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
});

describe("behind a trusted proxy", () => {
  const behind = (headers: Readonly<Record<string, string>>, bearer?: string) =>
    send({
      headers,
      ...(bearer !== undefined && { bearer }),
      ...(bearer === undefined && { path: "/login", form: `token=${TOKEN}` }),
    });

  test("the session cookie is Secure if the client used https", async () => {
    expect((await behind({ "x-forwarded-proto": "https" })).setCookie).toMatch(/; Secure/);
    expect((await behind({ "x-forwarded-proto": "http" })).setCookie).not.toMatch(/; Secure/);
    expect(
      (await send({ ...FROM_ELSEWHERE, headers: { "x-forwarded-proto": "https" } })).setCookie,
    ).not.toMatch(/; Secure/);
  });

  test("wrong tokens count against the client's address, not the proxy's", async () => {
    await guess(11, () => behind({ "x-forwarded-for": "192.0.2.1" }, "wrong"));
    expect((await behind({ "x-forwarded-for": "192.0.2.1" }, TOKEN)).status).toBe(429);
    expect((await behind({ "x-forwarded-for": "192.0.2.2" }, TOKEN)).status).toBe(200);
  });
});

test("right tokens never count as attempts", async () => {
  expect(await guess(30, () => send({ bearer: TOKEN }))).toEqual(Array.from({ length: 30 }, () => 200));
  expect(
    await Promise.all(Array.from({ length: 30 }, async () => (await send({ bearer: TOKEN })).status)),
  ).toEqual(Array.from({ length: 30 }, () => 200));
  expect((await signIn("wrong")).status).toBe(401);
});

test.each(["http://[::1", "http://a:b:c/api", "*"])(
  "a target that cannot be parsed, %s, needs the admin token like all others",
  async (path) => {
    expect(await send({ path })).toMatchObject({ status: 401, body: expect.stringMatching(/^\{"errors"/) });
    expect(await send({ path, bearer: TOKEN })).toMatchObject({
      status: 404,
      body: '{"errors":[{"reason":"There is nothing here."}]}',
    });
  },
);
