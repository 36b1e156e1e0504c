/** Invalid HTTP, unusual HTTP and pipelined requests: neither the connection nor others break. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startListeningGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, neverRespond } from "../../support/fake-v4.ts";
import { openRawClient, type RawClient } from "../../support/raw-client.ts";
import { startForTests } from "../../support/start-for-tests.ts";

let client: RawClient;
const gateway = startForTests(() =>
  startListeningGatewayWithFakeV4({
    ...RECORDING,
    BODY_LIMIT: "1kb",
    UPSTREAM_TIMEOUT_MS: "60000",
  }),
);
beforeEach(async () => {
  gateway.v4.respondWith(json(200, envelope([{ id: 7, label: "web-one" }])));
  client = await openRawClient(gateway.url);
});

const HOST = "Host: gateway\r\nAuthorization: token t\r\n";
const GET = `GET /v4/vm/instances HTTP/1.1\r\n${HOST}\r\n`;

/** Messages that the server has rejected itself so far. */
async function rejections(): Promise<string[] | null> {
  const { text } = await gateway.requestAdmin("GET /metrics");
  return text.match(/^alpha_gateway_refusals_total\{reason="malformed".*$/gm);
}

describe("invalid HTTP (further cases: test/system/hostile/scripts)", () => {
  test("garbage after a request in progress does not appear before or inside its response", async () => {
    client.send(`${GET}\u0016\u0003garbage\r\n\r\n`);
    const text = await client.waitForEnd();
    // Breaking off is allowed; the words of the rejection as the response to the good request are not.
    expect(text).not.toContain("This is not an HTTP request");
  });

  test("the connection ends after garbage even if the client keeps its side open", async () => {
    client.send("garbage\r\n\r\n");
    await client.waitForEnd();
    client.socket.on("error", () => {});
    // The client's side is still open, so only a closed connection makes a write fail.
    await waitFor(() => {
      if (!client.socket.destroyed) client.socket.write("more");
      return client.socket.destroyed;
    });
    expect(client.socket.destroyed).toBe(true);
  });
});

describe("a Host that servers read in different ways (RFC 9110 7.2) is invalid", () => {
  test.each(["a/b@c", "a b", "evil#x", "[::1", "a,b", ":80", "a:99999999", "a?b", "a\\b"])(
    "%s",
    async (host) => {
      client.send(`GET /v4/vm/instances HTTP/1.1\r\nHost: ${host}\r\nAuthorization: token t\r\n\r\n`);
      expect(await client.waitForResponses(1)).toMatchObject([{ status: 400 }]);
      expect(gateway.v4.calls).toEqual([]);
    },
  );

  test.each(["gateway", "gateway:8080", "[::1]:80", "a.example.", "under_score", ""])(
    "%j is valid",
    async (host) => {
      client.send(`GET /v4/vm/instances HTTP/1.1\r\nHost: ${host}\r\nAuthorization: token t\r\n\r\n`);
      expect(await client.waitForResponses(1)).toMatchObject([{ status: 200 }]);
    },
  );
});

describe("unusual but valid requests", () => {
  test("an unknown Expect is ignored", async () => {
    client.send(`GET /v4/vm/instances HTTP/1.1\r\n${HOST}Expect: tea\r\n\r\n`);
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 200 }]);
  });

  describe("Expect: 100-continue (RFC 9110 10.1.1)", () => {
    const body = '{"datacenter":"newark","type":"g6-standard-1","label":"web-one"}';
    const post = (path: string, credentials: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\n${credentials}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;

    test.each([
      ["/v4/vm/instances", ""],
      ["/v4/vm/instances", "Authorization: nonsense\r\n"],
      ["/v4/nowhere", "Authorization: token t\r\n"],
    ])("POST %s with %j gets its final status at once", async (path, credentials) => {
      client.send(post(path, credentials));
      const [response] = await client.waitForResponses(1);
      expect(response?.status).toBeGreaterThanOrEqual(400);
      expect(client.text()).not.toContain("100 Continue");
      expect(gateway.v4.calls).toEqual([]);
    });

    test.each(["token", "Bearer"])("with %s the body is asked for when it is needed", async (scheme) => {
      gateway.v4.respondWith(json(200, { id: 7, label: "web-one" }));
      client.send(post("/v4/vm/instances", `Authorization: ${scheme} t\r\n`));
      expect(await client.waitForResponses(1)).toMatchObject([{ status: 100 }]);
      client.send(body);
      expect(await client.waitForResponses(2)).toMatchObject([{ status: 100 }, { status: 200 }]);
      expect(gateway.v4.calls).toHaveLength(1);
      expect(gateway.v4.calls[0]?.headers.expect).toBeUndefined();
      expect(client.text().match(/100 Continue/g)).toHaveLength(1);
    });
  });

  test.each([
    ["http://gateway/v4/vm/instances?page=2", "/v4/vm/instances?page=2"],
    ["HTTP://other.example:80/v4/vm/instances?page=2", "/v4/vm/instances?page=2"],
    ["https://gateway/v4/vm/instances?page=2", "/v4/vm/instances?page=2"],
  ])("a target in absolute form, %s, is served with both schemes (RFC 9112 3.2.2)", async (target, path) => {
    const ask = (scheme: string) =>
      `GET ${target} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${scheme} t\r\n\r\n`;
    client.send(ask("token"));
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 200 }]);
    client.send(ask("Bearer"));
    expect(await client.waitForResponses(2)).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(gateway.v4.calls.map((call) => call.path)).toEqual([expect.stringContaining("page=2"), path]);
  });

  test("an upgrade is not performed", async () => {
    client.send(`GET /v4/vm/instances HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 200 }]);
    expect(gateway.v4.calls[0]?.headers.upgrade).toBeUndefined();
  });

  test("pipelined requests get responses in order", async () => {
    let first = true;
    gateway.v4.respondWith(async (call, response) => {
      const mine = first;
      first = false;
      // The first request to arrive gets its response last.
      if (mine) await waitFor(() => gateway.v4.calls.length === 3);
      json(200, envelope([{ id: Number(/page=(\d+)/.exec(call.path)?.[1]), label: "x" }]))(call, response);
    });
    for (const page of [1, 2, 3]) client.send(GET.replace("instances", `instances?page=${page}`));
    const responses = await client.waitForResponses(3);
    expect(responses.map(({ body }) => JSON.parse(body).vms[0].id)).toEqual([1, 2, 3]);
  });

  test("the first 8 of 2000 pipelined requests get responses, and the connection ends", async () => {
    client.send(GET.repeat(2000));
    const text = await client.waitForEnd();
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(8);
    expect(text.match(/^connection: close/gim)).toHaveLength(1);
  });

  test("a client that reads no response starts 8 v4 calls at most", async () => {
    const large = json(200, envelope([{ id: 1, label: "x".repeat(1_000_000) }]));
    gateway.v4.respondWith(large);
    client.socket.pause();
    client.send(GET.repeat(30));
    await waitFor(() => gateway.v4.calls.length >= 8);
    client.send(GET.repeat(30));
    const other = await openRawClient(gateway.url);
    other.send(GET);
    await other.waitForResponses(1);
    other.close();
    expect(gateway.v4.calls).toHaveLength(8 + 1);
  });

  test("HEAD has the headers of GET and no body (L-3)", async () => {
    client.send(GET.replace("GET", "HEAD") + GET);
    await waitFor(() => /HTTP.*HTTP.*\}$/s.test(client.text()));
    const text = client.text();
    const [head = "", get = ""] = text.split(/(?=HTTP\/1\.1)/);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s);
    expect(head).toMatch(new RegExp(`content-length: ${get.split("\r\n\r\n")[1]?.length}\r\n`, "i"));
    expect(gateway.v4.calls.map(({ method }) => method)).toEqual(["GET", "GET"]);
  });
});

describe("a request whose connection ends with its response gets it, and what follows is ignored (RFC 9112 9.6)", () => {
  const CLOSE = GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");

  test.each([
    ["a second request", CLOSE, GET],
    ["bytes that are no request", CLOSE, "garbage\r\n\r\n"],
    ["a second request after one of HTTP/1.0", GET.replace("HTTP/1.1", "HTTP/1.0"), GET],
    ["a second request in the old dialect after a native one", CLOSE.replace("token", "Bearer"), GET],
  ])("%s", async (_what, last, rest) => {
    let answer = (): void => {};
    gateway.v4.respondWith((call, response) => {
      answer = () => void json(200, envelope([{ id: 7, label: "web-one" }]))(call, response);
    });
    const before = await rejections();
    client.send(last + rest);
    await waitFor(() => gateway.v4.calls.length === 1);
    client.send(rest);
    // The gateway reads what was sent before.
    await gateway.request("GET /nothing", { as: null });
    expect(client.isEnded()).toBe(false);
    answer();
    const text = await client.waitForEnd();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
    expect(text).toContain("web-one");
    expect(gateway.v4.calls).toHaveLength(1);
    expect(await rejections()).toEqual(before);
  });

  test("a request before it gets its response, too", async () => {
    client.send(GET + CLOSE + GET);
    const text = await client.waitForEnd();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
    expect(gateway.v4.calls).toHaveLength(2);
  });
});

describe("bodies above BODY_LIMIT", () => {
  const big = "x".repeat(3000);
  const head = `POST /v4/vm/instances HTTP/1.1\r\n${HOST}`;
  test("get 400 before an endless upload has ended", async () => {
    client.send(`${head}Content-Length: 300000000\r\n\r\n${big}`);
    expect(await client.waitForResponses(1)).toMatchObject([
      { status: 400, headers: { connection: "close" } },
    ]);
  });

  test("get 400 before endless chunks have ended", async () => {
    client.send(`${head}Transfer-Encoding: chunked\r\n\r\n${(3000).toString(16)}\r\n${big}\r\n`);
    expect(await client.waitForResponses(1)).toMatchObject([
      { status: 400, headers: { connection: "close" } },
    ]);
  });
});

describe("clients that disconnect", () => {
  test("during head or body leave nothing open", async () => {
    client.send("POST /v4/vm/instances HTTP/1.1\r\nHo");
    client.close();
    const other = await openRawClient(gateway.url);
    other.send(`POST /v4/vm/instances HTTP/1.1\r\n${HOST}Content-Length: 100\r\n\r\n{"da`);
    other.socket.resetAndDestroy();
    await waitFor(async () => (await gateway.readLastRecord())?.alpha.body === undefined);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("while v4 works end the v4 request", async () => {
    gateway.v4.respondWith(neverRespond);
    client.send(GET);
    await waitFor(() => gateway.v4.calls.length > 0);
    client.close();
    await expect(gateway.v4.calls[0]?.ended).resolves.toBe("broken off");
    const record = await waitFor(async () => {
      const newest = await gateway.readLastRecord();
      return newest.warnings.length > 0 && newest;
    });
    expect(record.warnings.join()).toMatch(/the client disconnected/);
  });

  test.each(["token", "Bearer"])(
    "with %s pipelined requests end and record every v4 request",
    async (scheme) => {
      gateway.v4.respondWith(neverRespond);
      for (const id of ["first", "second", "third"]) {
        const head = `Host: a\r\nX-Request-Id: ${scheme}-${id}\r\nAuthorization: ${scheme} t\r\n\r\n`;
        client.send(`GET /v4/vm/instances HTTP/1.1\r\n${head}`);
      }
      await waitFor(() => gateway.v4.calls.length === 3);
      client.close();
      for (const { ended: over } of gateway.v4.calls) await expect(over).resolves.toBe("broken off");
      const ids = await waitFor(async () => {
        const page = await fetch(`${gateway.adminUrl}/api/audit?limit=10`);
        const { records } = (await page.json()) as { records: { requestId: string; warnings: string[] }[] };
        const mine = records.filter(({ requestId }) => requestId.startsWith(`${scheme}-`));
        return mine.length === 3 && mine.map(({ warnings }) => warnings.length > 0);
      });
      expect(ids).toEqual([true, true, true]);
    },
  );

  test("cause no retry", async () => {
    gateway.v4.respondWith((_call, response) => void (client.close(), response.socket?.destroy()));
    client.send(GET.replace("\r\n\r\n", "\r\nX-Request-Id: not-again\r\n\r\n"));
    await waitFor(async () => (await gateway.readLastRecord()).requestId === "not-again");
    expect(gateway.v4.calls).toHaveLength(1);
  });
});

test("the gateway serves after all of these", async () => {
  expect(await gateway.request("GET /vm/instances")).toMatchObject({ status: 200 });
});
