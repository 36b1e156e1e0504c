/** What comes over the wire and is no request, or not quite one, or two: the connection and its neighbours stay sound. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { beforeFake, eventually, type Pair } from "../support/before-fake.ts";
import { envelope, json, silence } from "../support/fake-v4.ts";
import { rawClient, type RawClient } from "../support/raw-client.ts";

let gateway: Pair;
let client: RawClient;
beforeAll(async () => {
  gateway = await beforeFake({ BODY_LIMIT: "1kb", UPSTREAM_TIMEOUT_MS: "60000" });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  gateway.v4.answers(json(200, envelope([{ id: 7, label: "web-one" }])));
  client = await rawClient(gateway.service.url);
});
afterEach(() => client.close());

const HOST = "Host: gateway\r\nAuthorization: token t\r\n";
const GET = `GET /v4/vm/instances HTTP/1.1\r\n${HOST}\r\n`;
const errors = { errors: [{ reason: expect.any(String) }] };

describe("what the parser refuses is answered 400 in JSON, and the connection ends", () => {
  test.each([
    ["garbage", "\u0016\u0003\u0001\u0000 hello\r\n\r\n"],
    ["a version of its own", "GET /v4/vm/instances HTTP/9.9\r\nHost: a\r\n\r\n"],
    ["a method of its own", `FROB /v4/vm/instances HTTP/1.1\r\n${HOST}\r\n`],
    ["a space before a colon", `GET / HTTP/1.1\r\n${HOST}X-Filter : {}\r\n\r\n`],
    ["a folded header", `GET / HTTP/1.1\r\n${HOST}X-A: a\r\n b\r\n\r\n`],
    ["a NUL in a header", `GET / HTTP/1.1\r\n${HOST}X-A: a\u0000b\r\n\r\n`],
    ["a control character in a header", `GET / HTTP/1.1\r\n${HOST}X-A: a\u0001b\r\n\r\n`],
    ["a bare CR in a header", `GET / HTTP/1.1\r\n${HOST}X-A: a\rX-B: b\r\n\r\n`],
    ["a NUL in the path", `GET /v4/\u0000 HTTP/1.1\r\n${HOST}\r\n`],
    ["a head above 16 KB", `GET / HTTP/1.1\r\n${HOST}X-A: ${"a".repeat(20_000)}\r\n\r\n`],
    ["a path above 16 KB", `GET /${"a".repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`],
    ["no Host", "GET /v4/vm/instances HTTP/1.1\r\nAuthorization: token t\r\n\r\n"],
    [
      "both lengths (smuggling)",
      `POST / HTTP/1.1\r\n${HOST}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG`,
    ],
    [
      "two different lengths",
      `POST / HTTP/1.1\r\n${HOST}Content-Length: 6\r\nContent-Length: 7\r\n\r\nabcdef`,
    ],
    ["two equal lengths", `POST / HTTP/1.1\r\n${HOST}Content-Length: 6\r\nContent-Length: 6\r\n\r\nabcdef`],
    ["a list of lengths", `POST / HTTP/1.1\r\n${HOST}Content-Length: 6, 6\r\n\r\nabcdef`],
    ["a negative length", `POST / HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`],
    ["a length in hex", `POST / HTTP/1.1\r\n${HOST}Content-Length: 0x6\r\n\r\nabcdef`],
    [
      "a coding that hides chunked",
      `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    ],
    [
      "a coding that is not chunked",
      `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    ],
  ])("%s", async (_name, bytes) => {
    client.send(bytes);
    const text = await client.ended();
    const [answer] = await client.answers(1);
    expect(answer).toMatchObject({
      status: 400,
      headers: { "content-type": "application/json", connection: "close" },
    });
    expect(JSON.parse(answer?.body ?? "")).toEqual(errors);
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("a body whose chunks break off into garbage is refused, and what follows is no request", async () => {
    client.send(
      `POST /v4/vm/instances HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\nzz\r\n${GET}`,
    );
    await client.ended();
    const answers = await client.answers(1);
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("garbage after a request under way does not stand before or inside its answer", async () => {
    client.send(`${GET}\u0016\u0003garbage\r\n\r\n`);
    const text = await client.ended();
    // Breaking off is allowed; the words of the refusal as the answer to the good request are not.
    expect(text).not.toContain("This is not an HTTP request");
  });

  test("a client that keeps its side open after garbage does not keep the connection", async () => {
    client.send("garbage\r\n\r\n");
    await client.ended();
    client.socket.on("error", () => {});
    // Its own side is still open; only a connection that is gone makes a write fail.
    await eventually(() => {
      if (!client.socket.destroyed) client.socket.write("more");
      return client.socket.destroyed;
    });
    expect(client.socket.destroyed).toBe(true);
  });
});

describe("requests that are unusual and whole", () => {
  test("an Expect that nobody knows is passed over", async () => {
    client.send(`GET /v4/vm/instances HTTP/1.1\r\n${HOST}Expect: tea\r\n\r\n`);
    expect(await client.answers(1)).toMatchObject([{ status: 200 }]);
  });

  test("Expect: 100-continue is answered before the body is asked for", async () => {
    client.send(`POST /v4/vm/instances HTTP/1.1\r\n${HOST}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`);
    await client.answers(1);
    client.send("{}");
    expect(await client.answers(2)).toMatchObject([{ status: 100 }, { status: 400 }]);
  });

  test("HTTP/1.0 without a Host is served and the connection ends", async () => {
    client.send("GET /v4/vm/instances HTTP/1.0\r\nAuthorization: token t\r\n\r\n");
    await client.ended();
    expect(await client.answers(1)).toMatchObject([{ status: 200, headers: { connection: "close" } }]);
  });

  test("an upgrade is not made", async () => {
    client.send(`GET /v4/vm/instances HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    expect(await client.answers(1)).toMatchObject([{ status: 200 }]);
    expect(gateway.v4.calls[0]?.headers.upgrade).toBeUndefined();
  });

  test("CONNECT opens no tunnel", async () => {
    client.send("CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\nAuthorization: token t\r\n\r\n");
    expect(await client.ended()).not.toMatch(/^HTTP\/1\.1 2/);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("pipelined requests are answered in order", async () => {
    let first = true;
    gateway.v4.answers(async (call, response) => {
      const mine = first;
      first = false;
      // The first to arrive is the last to be answered.
      if (mine) await eventually(() => gateway.v4.calls.length === 3);
      json(200, envelope([{ id: Number(/page=(\d+)/.exec(call.path)?.[1]), label: "x" }]))(call, response);
    });
    for (const page of [1, 2, 3]) client.send(GET.replace("instances", `instances?page=${page}`));
    const answers = await client.answers(3);
    expect(answers.map(({ body }) => JSON.parse(body).vms[0].id)).toEqual([1, 2, 3]);
  });

  test("HEAD has the head of GET and no body (lesson L3)", async () => {
    client.send(GET.replace("GET", "HEAD") + GET);
    await eventually(() => /HTTP.*HTTP.*\}$/s.test(client.text()));
    const text = client.text();
    const [head = "", get = ""] = text.split(/(?=HTTP\/1\.1)/);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s);
    expect(head).toMatch(new RegExp(`content-length: ${get.split("\r\n\r\n")[1]?.length}\r\n`, "i"));
    expect(gateway.v4.calls.map(({ method }) => method)).toEqual(["GET", "GET"]);
  });

  test("absolute-form targets are no way to another host (lesson L16)", async () => {
    client.send(`GET http://127.0.0.1:22/v4/vm/instances HTTP/1.1\r\n${HOST}\r\n`);
    client.send(`GET http://127.0.0.1:22/v4/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n`);
    client.send(`GET //127.0.0.1:22/v4/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n`);
    const answers = await client.answers(3);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(gateway.v4.calls).toEqual([]);
  });
});

describe("oversize bodies", () => {
  const big = "x".repeat(3000);
  const head = `POST /v4/vm/instances HTTP/1.1\r\n${HOST}`;
  test.each([
    ["with a length", `Content-Length: 3000\r\n\r\n${big}`],
    [
      "in chunks without a length",
      `Transfer-Encoding: chunked\r\n\r\n${(3000).toString(16)}\r\n${big}\r\n0\r\n\r\n`,
    ],
  ])("L7 %s are refused, and the connection ends", async (_name, rest) => {
    client.send(head + rest + GET);
    await client.ended();
    const answers = await client.answers(1);
    expect(answers).toMatchObject([{ status: 400, headers: { connection: "close" } }]);
    expect(JSON.parse(answers[0]?.body ?? "")).toEqual({ errors: [{ reason: "The body is too large." }] });
    expect(gateway.v4.calls.filter(({ method }) => method === "POST")).toEqual([]);
  });

  test("are refused before they have come: an upload without an end gets its answer", async () => {
    client.send(`${head}Content-Length: 300000000\r\n\r\n${big}`);
    expect(await client.answers(1)).toMatchObject([{ status: 400, headers: { connection: "close" } }]);
  });

  test("are refused before they have come: chunks without an end get their answer", async () => {
    client.send(`${head}Transfer-Encoding: chunked\r\n\r\n${(3000).toString(16)}\r\n${big}\r\n`);
    expect(await client.answers(1)).toMatchObject([{ status: 400, headers: { connection: "close" } }]);
  });
});

describe("clients that go away", () => {
  test("in mid-head and in mid-body leave nothing behind", async () => {
    client.send("POST /v4/vm/instances HTTP/1.1\r\nHo");
    client.close();
    const other = await rawClient(gateway.service.url);
    other.send(`POST /v4/vm/instances HTTP/1.1\r\n${HOST}Content-Length: 100\r\n\r\n{"da`);
    other.socket.resetAndDestroy();
    await eventually(async () => (await gateway.record())?.alpha.body === undefined);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("while v4 works: its call is broken off", async () => {
    gateway.v4.answers(silence);
    client.send(GET);
    await eventually(() => gateway.v4.calls.length > 0);
    client.close();
    await expect(gateway.v4.calls[0]?.over).resolves.toBe("broken off");
    const record = await eventually(async () => {
      const newest = await gateway.record();
      return newest.warnings.length > 0 && newest;
    });
    expect(record.warnings.join()).toMatch(/gone/);
  });

  test.each(["token", "Bearer"])(
    "with %s requests in a row: every call is broken off and recorded",
    async (scheme) => {
      gateway.v4.answers(silence);
      for (const id of ["first", "second", "third"]) {
        const head = `Host: a\r\nX-Request-Id: ${scheme}-${id}\r\nAuthorization: ${scheme} t\r\n\r\n`;
        client.send(`GET /v4/vm/instances HTTP/1.1\r\n${head}`);
      }
      await eventually(() => gateway.v4.calls.length === 3);
      client.close();
      for (const { over } of gateway.v4.calls) await expect(over).resolves.toBe("broken off");
      const ids = await eventually(async () => {
        const page = await fetch(`${gateway.service.adminUrl}/api/audit?limit=10`);
        const { records } = (await page.json()) as { records: { requestId: string; warnings: string[] }[] };
        const mine = records.filter(({ requestId }) => requestId.startsWith(`${scheme}-`));
        return mine.length === 3 && mine.map(({ warnings }) => warnings.length > 0);
      });
      expect(ids).toEqual([true, true, true]);
    },
  );

  test("are not tried again for", async () => {
    gateway.v4.answers((_call, response) => void (client.close(), response.socket?.destroy()));
    client.send(GET.replace("\r\n\r\n", "\r\nX-Request-Id: not-again\r\n\r\n"));
    await eventually(async () => (await gateway.record()).requestId === "not-again");
    expect(gateway.v4.calls).toHaveLength(1);
  });
});

test("after all of this the gateway serves", async () => {
  expect(await gateway.ask("GET /vm/instances")).toMatchObject({ status: 200 });
});
