/** The native proxy between the head of v4's response and its first byte, and the connections that it keeps to v4. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { json, plain, raw, type Responder } from "../../support/fake-v4.ts";
import { startListeningGateway } from "../../support/gateway.ts";
import {
  startListeningGatewayWithFakeV4,
  waitFor,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { openRawClient } from "../../support/raw-client.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const ORIGIN = "https://app.example";
const FAILURE = '{"errors":[{"reason":"The service could not process this request."}]}';

/** A gateway with a short time limit, for a v4 that says nothing more. */
const gateway = startForTests(() =>
  startListeningGatewayWithFakeV4({ UPSTREAM_TIMEOUT_MS: "3000", CORS_ORIGINS: ORIGIN }),
);
const hasty = startForTests(() =>
  startListeningGatewayWithFakeV4({ UPSTREAM_TIMEOUT_MS: "500", CORS_ORIGINS: ORIGIN }),
);
beforeEach(() => gateway.v4.respondWith(json(200, {})));

const request = (method: string, ...lines: string[]): string =>
  [
    `${method} /v4/things HTTP/1.1`,
    "Host: a",
    "Authorization: Bearer good",
    `Origin: ${ORIGIN}`,
    ...lines,
    "",
    "",
  ].join("\r\n");

/** Succeeds often enough that the circuit stays closed. */
async function closeCircuit(of: ListeningGatewayWithFakeV4): Promise<void> {
  of.v4.respondWith(json(200, {}));
  for (let times = 0; times < 4; times += 1)
    await (await fetch(`${of.url}/v4/things`, { headers: { authorization: "Bearer good" } })).text();
}

const V4_HEAD = [
  "Content-Type: text/html",
  "Content-Encoding: gzip",
  "Cache-Control: public",
  "ETag: x",
  "X-V4: yes",
].join("\r\n");

describe("a response that breaks off between v4's head and its first byte", () => {
  const FRAMINGS = ["Transfer-Encoding: chunked", "Content-Length: 100", "Connection: close"];
  const ENDS: [string, string, "end" | "reset" | "leave"][] = [
    ["resets", "", "reset"],
    ["says nothing more", "", "leave"],
    ["sends an invalid chunk", "zz\r\n", "end"],
  ];
  const cases = ["200 Fine", "404 Nowhere", "500 Mine"].flatMap((status) =>
    ENDS.flatMap(([name, rest, end]) =>
      FRAMINGS.filter((framing) => rest === "" || framing.startsWith("T")).map(
        (framing) => [status, framing, name, rest, end] as const,
      ),
    ),
  );

  test.each(cases)(
    "breaks off for the client, who gets nothing: %s with %s, and v4 %s",
    async (status, framing, _name, rest, end) => {
      const before = end === "leave" ? hasty : gateway;
      for (const method of end === "leave" ? ["GET"] : ["GET", "POST", "DELETE"]) {
        before.v4.respondWith(raw(`HTTP/1.1 ${status}\r\n${V4_HEAD}\r\n${framing}\r\n\r\n${rest}`, end));
        const client = await openRawClient(before.url);
        client.send(request(method, "Content-Length: 0"));
        expect(await client.waitForEnd()).toBe("");
        expect(before.v4.calls).toHaveLength(1);
        await closeCircuit(before);
      }
    },
  );

  test("the head waits for v4's first byte, and comes with it", async () => {
    let go = (): void => {};
    gateway.v4.respondWith((_call, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      go = () => void response.write("data: 1\n\n");
    });
    const asked = fetch(`${gateway.url}/v4/events`, { headers: { authorization: "Bearer good" } });
    await waitFor(() => gateway.v4.calls.length === 1);
    go();
    const { body, headers } = await asked;
    expect(headers.get("content-type")).toBe("text/event-stream");
    const reader = body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("data: 1\n\n");
    await reader?.cancel();
  });
});

describe("204, 304 and responses to HEAD end at their head, whatever follows (RFC 9112 6.3)", () => {
  const rests = [
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n",
    "Content-Length: 5\r\n\r\nhello",
    "Content-Length: 5\r\n\r\n",
    "\r\nhello",
  ];
  const kinds = [
    ["GET", "204 No Content"],
    ["DELETE", "204 No Content"],
    ["GET", "304 Not Modified"],
    ["HEAD", "200 OK"],
  ] as const;
  test.each(kinds.flatMap(([method, status]) => rests.map((rest) => [method, status, rest] as const)))(
    "%s %s with %j",
    async (method, status, rest) => {
      for (const end of ["end", "leave", "reset"] as const) {
        gateway.v4.respondWith(raw(`HTTP/1.1 ${status}\r\nX-V4: yes\r\nConnection: close\r\n${rest}`, end));
        const response = await fetch(`${gateway.url}/v4/things`, {
          method,
          headers: { authorization: "Bearer good" },
        });
        expect([end, response.status, response.headers.get("x-v4"), await response.text()]).toEqual([
          end,
          Number(status.slice(0, 3)),
          "yes",
          "",
        ]);
        expect(gateway.v4.calls).toHaveLength(1);
      }
    },
  );
});

test("informational responses of v4 are skipped, and a write is sent once (RFC 9110 15.2)", async () => {
  const behaviour: Responder = (call, response) => {
    response.writeContinue();
    response.writeProcessing();
    response.writeContinue();
    json(201, { id: 7 })(call, response);
  };
  gateway.v4.respondWith(behaviour);
  for (const method of ["POST", "PUT", "GET"]) {
    const response = await fetch(`${gateway.url}/v4/things`, {
      method,
      headers: { authorization: "Bearer good" },
    });
    expect([response.status, await response.text()]).toEqual([201, '{"id":7}']);
  }
  expect(gateway.v4.calls).toHaveLength(3);
});

describe("a transfer coding of v4's response", () => {
  const SMUGGLED = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPWNED";

  test("identity is none: the response has the gateway's own framing", async () => {
    gateway.v4.respondWith(raw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n${SMUGGLED}`));
    const response = await fetch(`${gateway.url}/v4/things`, { headers: { authorization: "Bearer good" } });
    expect(response.headers.get("transfer-encoding")).toBe("chunked");
    expect([response.status, await response.text()]).toEqual([200, SMUGGLED]);
  });

  test.each(["gzip", "gzip, chunked", "chunked, identity", "chunked, gzip"])(
    "%s breaks the response off",
    async (coding) => {
      gateway.v4.respondWith(raw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n${SMUGGLED}`));
      const client = await openRawClient(gateway.url);
      client.send(request("GET"));
      expect(await client.waitForEnd()).toBe("");
      await closeCircuit(gateway);
    },
  );
});

test("informational responses without an end are an error", async () => {
  gateway.v4.respondWith(raw("HTTP/1.1 102 Processing\r\n\r\n".repeat(1000), "leave"));
  const response = await fetch(`${gateway.url}/v4/things`, { headers: { authorization: "Bearer good" } });
  expect([response.status, await response.text()]).toEqual([500, FAILURE]);
  await closeCircuit(gateway);
});

test("v4's CORS headers are replaced by those of CORS_ORIGINS", async () => {
  gateway.v4.respondWith(
    json(
      200,
      {},
      {
        "access-control-allow-origin": "*",
        "access-control-allow-credentials": "true",
        "access-control-expose-headers": "X-V4",
        "access-control-max-age": "99",
      },
    ),
  );
  const ask = async (origin: string) => {
    const headers = { authorization: "Bearer good", origin };
    const response = await fetch(`${gateway.url}/v4/things`, { headers });
    return [...response.headers].filter(([name]) => name.startsWith("access-control-"));
  };
  expect(await ask("https://evil.example")).toEqual([]);
  expect(Object.fromEntries(await ask(ORIGIN))).toEqual({
    "access-control-allow-origin": ORIGIN,
    "access-control-expose-headers": expect.stringMatching(/^X-Request-Id/),
  });
});

describe("a connection that v4 closes at the moment when it is used again", () => {
  async function sendOnUsedConnection(first: Responder, method: string, body?: string) {
    const alone = await startListeningGatewayWithFakeV4({ UPSTREAM_CONNECTIONS: "1" });
    const ask = async (how: RequestInit) => {
      const response = await fetch(`${alone.url}/v4/things`, {
        ...how,
        headers: { authorization: "Bearer good" },
      });
      await response.text();
      return response.status;
    };
    await ask({});
    alone.v4.respondWith(first, json(200, {}));
    const status = await ask({ method, ...(body !== undefined && { body }) });
    return { status, calls: alone.v4.calls.length };
  }

  test.each(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])("%s is sent once more", async (method) => {
    for (const end of ["end", "reset"] as const)
      expect(await sendOnUsedConnection(raw("", end), method)).toEqual({ status: 200, calls: 2 });
  });

  test.each([
    ["POST", "", undefined],
    ["PATCH", "", undefined],
    ["PUT", "", "body"],
    ["GET", "H", undefined],
    ["DELETE", "HTTP/1.1 200 OK\r\n", undefined],
  ])("%s after %j, with the body %j, is sent once", async (method, bytes, body) => {
    expect(await sendOnUsedConnection(raw(bytes), method, body)).toEqual({ status: 500, calls: 1 });
  });
});

/** A v4 that counts its open connections, and responds at a signal. */
async function startCountingV4(headers = "") {
  const open = new Set<Socket>();
  let connections = 0;
  let held: (() => void)[] | undefined;
  const server = createServer((socket) => {
    open.add(socket);
    connections += 1;
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    socket.on("data", (data) => {
      const isNative = data.toString("latin1").includes("Bearer");
      const body = '{"data":[],"page":1,"pages":1,"results":0}';
      const answer = () =>
        void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`);
      if (isNative && held) held.push(answer);
      else answer();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open,
    hold: () => (held = []),
    held: () => held?.length ?? 0,
    release: () => {
      for (const answer of held ?? []) answer();
      held = undefined;
    },
    countConnections: () => connections,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("connections of the native proxy to v4", () => {
  const ask = async (url: string, token: string): Promise<number> => {
    const response = await fetch(`${url}/v4/x`, { headers: { authorization: `Bearer ${token}` } });
    await response.text();
    return response.status;
  };

  test("are as many as UPSTREAM_CONNECTIONS allows, also above 256, and `stop` closes them", async () => {
    const v4 = await startCountingV4("X-OAuth-Scopes: *\r\n");
    const alone = await startListeningGateway({
      UPSTREAM_URL: v4.url,
      UPSTREAM_CONNECTIONS: "600",
      UPSTREAM_TIMEOUT_MS: "60000",
      RATE_LIMIT: "10000/100",
    });
    await ask(alone.url, "accepted");
    v4.hold();
    const asked = Array.from({ length: 290 }, () => ask(alone.url, "accepted"));
    await waitFor(() => v4.held() === 290);
    v4.release();
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
    expect(v4.open.size).toBeGreaterThanOrEqual(290);
    await waitFor(() => v4.open.size === 0);
    await v4.close();
  });

  test("of two gateways in one program are not shared", async () => {
    const v4 = await startCountingV4();
    const settings = { UPSTREAM_URL: v4.url, UPSTREAM_TIMEOUT_MS: "60000" };
    const [first, second] = await Promise.all([
      startListeningGateway(settings),
      startListeningGateway(settings),
    ]);
    await ask(first.url, "t");
    await first.stop();
    const before = new Set(v4.open);
    await ask(second.url, "t");
    expect([...v4.open].filter((socket) => !before.has(socket))).toHaveLength(1);
    await second.stop();
    await v4.close();
  });

  test.each(["", "Keep-Alive: timeout=2\r\n", "Keep-Alive: timeout=1\r\n"])(
    "are closed when they are idle, before v4 closes them (%j)",
    async (headers) => {
      const v4 = await startCountingV4(headers);
      const alone = await startListeningGateway({ UPSTREAM_URL: v4.url, UPSTREAM_TIMEOUT_MS: "60000" });
      try {
        const before = new Set(v4.open);
        await ask(alone.url, "t");
        await waitFor(() => [...v4.open].every((socket) => before.has(socket)));
        expect(v4.countConnections()).toBeGreaterThan(before.size);
      } finally {
        await alone.stop();
        await v4.close();
      }
    },
  );
});

test("a plain response passes with its own headers", async () => {
  gateway.v4.respondWith(plain(200, "hello", { "x-v4": "yes", "cache-control": "public" }));
  const response = await fetch(`${gateway.url}/v4/x`, { headers: { authorization: "Bearer good" } });
  expect([response.headers.get("x-v4"), response.headers.get("cache-control")]).toEqual(["yes", "public"]);
  expect(await response.text()).toBe("hello");
});
