/** The upstream client: its limits, timeouts, retries and circuit breaker. */
import { once } from "node:events";
import { PassThrough, type Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import {
  createUpstream,
  type UpstreamClient,
  type UpstreamOptions,
} from "../../../src/gateway/upstream/client.ts";
import { CircuitBreaker, type CircuitBreakerOptions } from "../../../src/gateway/upstream/circuit-breaker.ts";
import type { UpstreamError } from "../../../src/gateway/upstream/upstream-error.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import {
  json,
  plain,
  raw,
  neverRespond,
  startFakeV4,
  type Responder,
  type FakeV4,
} from "../../support/fake-v4.ts";
import { closeAndKeepPort } from "../../support/free-port.ts";

let v4: FakeV4;
let upstream: UpstreamClient | undefined;
beforeEach(async () => {
  v4 = await startFakeV4();
});
afterEach(async () => {
  await upstream?.close();
  upstream = undefined;
});

interface ConnectOptions extends Partial<Omit<UpstreamOptions, "breaker">> {
  readonly breaker?: CircuitBreakerOptions;
}

function connect({ breaker, ...options }: ConnectOptions = {}): UpstreamClient {
  upstream = createUpstream({
    breaker: new CircuitBreaker(breaker),
    name: "v4",
    origin: new URL(v4.url),
    timeoutMs: 10_000,
    connections: 4,
    ...options,
  });
  return upstream;
}
const GET = { method: "GET", path: "/v4/x", headers: {} };
const POST = { ...GET, method: "POST", body: "{}" };
const faultOf = (call: Promise<unknown>): Promise<UpstreamError> =>
  call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (fault: UpstreamError) => fault,
  );

describe("upstream responses", () => {
  test("have status, headers, body and duration", async () => {
    v4.respondWith(json(201, { a: 1 }, { "x-test": "yes" }));
    expect(await connect().call(POST)).toMatchObject({
      status: 201,
      headers: { "x-test": "yes" },
      bytes: Buffer.from('{"a":1}'),
      ms: expect.any(Number),
    });
    expect(v4.calls[0]).toMatchObject({ method: "POST", path: "/v4/x" });
    expect(v4.calls[0]?.received().toString()).toBe("{}");
  });

  test.each([100, 1000, 10_000])("are limited to %i bytes", async (limit) => {
    const client = connect({ maxResponseBytes: limit });
    v4.respondWith(plain(200, "x".repeat(limit)));
    expect((await client.call(GET)).bytes).toHaveLength(limit);
    v4.respondWith(plain(200, "x".repeat(limit + 1)));
    expect(await faultOf(client.call(GET))).toMatchObject({ kind: "too_large" });
    expect(v4.calls).toHaveLength(1);
  });

  test("may contain invalid UTF-8", async () => {
    v4.respondWith(plain(200, Buffer.from([0xff, 0xfe, 0x00])));
    const { bytes } = await connect().call(GET);
    expect(bytes.toString()).toBe("\ufffd\ufffd\u0000");
  });
});

describe("timeouts of upstream requests", () => {
  const dribble: Responder = (_call, response) => {
    const timer = setInterval(() => response.write(" "), 20);
    response.once("close", () => clearInterval(timer));
  };
  test.each<[string, Responder]>([
    ["silence", neverRespond],
    ["one byte now and then, without an end", dribble],
    [
      "informational responses without an end",
      (_call, response) => {
        const timer = setInterval(() => response.writeProcessing(), 20);
        response.once("close", () => clearInterval(timer));
      },
    ],
  ])("%s: the timeout covers the whole request", async (_name, behaviour) => {
    v4.respondWith(behaviour);
    expect(await faultOf(connect({ timeoutMs: 300 }).call(GET))).toMatchObject({ kind: "timed_out" });
    await expect(v4.calls[0]?.ended).resolves.toBe("broken off");
  });

  test("the timeout covers all retries together", async () => {
    v4.respondWith((_call, response) => void setTimeout(() => response.writeHead(503).end(), 150));
    expect(await faultOf(connect({ timeoutMs: 250 }).call(GET))).toMatchObject({ kind: "timed_out" });
    expect(v4.calls.length).toBeLessThan(3);
  });

  test("a connection error is reported", async () => {
    await closeAndKeepPort(v4);
    expect(await faultOf(connect().call(GET))).toMatchObject({ kind: "unreachable" });
    v4 = await startFakeV4();
  });

  test("excess requests that cannot be sent in time are rejected at once", async () => {
    v4.respondWith(neverRespond);
    const client = connect({ connections: 1, timeoutMs: 500 });
    const calls = Array.from({ length: 30 }, () => faultOf(client.call(POST)));
    const faults = await Promise.all(calls);
    const atOnce = faults.filter(
      ({ kind, message }) => kind === "no_connection" && message.endsWith(" 0 ms"),
    );
    expect(atOnce).toHaveLength(30 - 17);
    expect(faults.filter(({ kind }) => kind === "timed_out")).toHaveLength(1);
    v4.respondWith(json(200, {}));
    expect(await client.call(GET)).toMatchObject({ status: 200 });
  });
});

describe("a client that disconnects", () => {
  test("before the request: v4 gets none", async () => {
    expect(await faultOf(connect().call(GET, AbortSignal.abort()))).toMatchObject({ kind: "client_aborted" });
    expect(v4.calls).toEqual([]);
  });

  test("during the request: it is aborted and not retried", async () => {
    v4.respondWith(neverRespond);
    const controller = new AbortController();
    const fault = faultOf(connect().call(GET, controller.signal));
    await waitFor(() => v4.calls[0]);
    controller.abort();
    expect(await fault).toMatchObject({ kind: "client_aborted" });
    await expect(v4.calls[0]?.ended).resolves.toBe("broken off");
    expect(v4.calls).toHaveLength(1);
  });

  test("between two retries: there is no other one", async () => {
    v4.respondWith(plain(503, ""));
    const controller = new AbortController();
    const fault = faultOf(connect().call(GET, controller.signal));
    await v4.calls[0]?.ended;
    await waitFor(() => v4.calls[0]);
    controller.abort();
    expect(await fault).toMatchObject({ kind: "client_aborted" });
    expect(v4.calls.length).toBeLessThan(3);
  });

  test("while it waits for a connection: v4 gets no request", async () => {
    let respond = () => {};
    v4.respondWith((call, response) => {
      respond = () => void json(200, {})(call, response);
    });
    const client = connect({ connections: 1 });
    const controller = new AbortController();
    const first = client.call(GET);
    const second = faultOf(client.call(GET, controller.signal));
    await waitFor(() => v4.calls[0]);
    controller.abort();
    respond();
    expect(await first).toMatchObject({ status: 200 });
    expect(await second).toMatchObject({ kind: "client_aborted" });
    expect(v4.calls).toHaveLength(1);
  });

  test("leaves no listener on its signal", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(signal, args);
    };
    await connect().call(GET, signal);
    expect(listeners).toBe(0);
  });
});

describe("L-28 retries", () => {
  test.each([200, 301, 400, 401, 404, 409, 429, 500, 501])(
    "a GET that got %i is not retried",
    async (status) => {
      v4.respondWith(plain(status, ""));
      expect(await connect().call(GET)).toMatchObject({ status });
      expect(v4.calls).toHaveLength(1);
    },
  );

  test.each(["POST", "PUT", "DELETE", "PATCH"])("a %s is never retried", async (method) => {
    for (const behaviour of [
      plain(503, ""),
      raw(""),
      raw("", "reset"),
      raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"),
    ]) {
      v4.respondWith(behaviour, json(200, {}));
      await connect()
        .call({ ...POST, method })
        .catch(() => {});
      expect(v4.calls).toHaveLength(1);
    }
  });
});

describe("a failing v4", () => {
  const breaker = { minAttempts: 10 };
  const times = async (count: number, call: () => Promise<unknown>): Promise<void> => {
    for (let n = 0; n < count; n += 1) await call().catch(() => {});
  };

  test.each<[string, Responder]>([
    ["503", plain(503, "")],
    ["no response", raw("", "reset")],
    ["no HTTP", raw("SSH-2.0-OpenSSH\r\n")],
  ])("opens the circuit after enough of %s, and the next request probes it", async (_name, behaviour) => {
    const client = connect({ breaker: { ...breaker, openMs: 0 } });
    const closed = connect({ breaker: { ...breaker, openMs: 60_000 } });
    v4.respondWith(behaviour);
    await Promise.all([client, closed].map((each) => times(10, () => each.call(POST))));
    const { length } = v4.calls;
    expect(closed.breaker.state()).toBe("open");
    expect(await faultOf(closed.call(GET))).toMatchObject({ kind: "circuit_open" });
    expect(v4.calls).toHaveLength(length);
    v4.respondWith(json(200, {}));
    expect(await client.call(POST)).toMatchObject({ status: 200 });
    expect(client.breaker.state()).toBe("closed");
    await client.close();
  });

  test.each([400, 401, 429, 500])("is one that responds with %i", async (status) => {
    const client = connect({ breaker });
    v4.respondWith(plain(status, ""));
    await times(30, () => client.call(POST));
    expect(client.breaker.state()).toBe("closed");
  });

  test("is not one whose requests cannot be sent, or whose clients disconnect", async () => {
    const client = connect({ breaker });
    await times(30, () => client.call({ ...POST, path: "/v4/x y" }));
    expect(await client.call(POST)).toMatchObject({ status: 200 });
    await times(30, () => client.call(POST, AbortSignal.abort()));
    expect(client.breaker.state()).toBe("closed");
  });
});

describe("requests that wait for a connection", () => {
  test("are not v4's failure: they end as overloaded, and the circuit stays closed", async () => {
    const client = connect({ connections: 1, timeoutMs: 2000, breaker: { minAttempts: 4 } });
    v4.respondWith((call, response) => void setTimeout(() => json(200, {})(call, response), 700));
    for (let round = 0; round < 2; round += 1) {
      const calls = Array.from({ length: 6 }, () =>
        client.call(POST).then(
          () => "completed",
          (fault) => fault.kind,
        ),
      );
      expect(client.shortages()).toEqual([]);
      await waitFor(() => client.shortages()[0] === "all connections to v4 are in use");
      expect(new Set(await Promise.all(calls))).toEqual(new Set(["completed", "no_connection"]));
      expect(client.shortages()).toEqual([]);
      expect(client.breaker.state()).toBe("closed");
    }
  });

  test("leave the queue when they are aborted", async () => {
    v4.respondWith(neverRespond);
    const client = connect({ connections: 1 });
    const leaving = Array.from({ length: 40 }, async () => {
      const controller = new AbortController();
      const fault = faultOf(client.call(POST, controller.signal));
      controller.abort();
      return (await fault).kind;
    });
    const kinds = await Promise.all(leaving);
    expect(new Set(kinds)).toEqual(new Set(["client_aborted"]));
    await waitFor(() =>
      client.call(GET, AbortSignal.timeout(50)).catch(({ kind }) => kind === "client_aborted"),
    );
  });
});

describe("shares of the connections", () => {
  const as = (token: string, known = true, address = "192.0.2.1") => ({
    ...GET,
    client: { token, networks: [address], isKnown: known },
  });
  const hangs: Responder = ({ path }, response) => {
    if (!path.endsWith("/hangs")) json(200, {})({} as never, response);
  };
  const hang = (client: UpstreamClient, count: number, call: ReturnType<typeof as>) =>
    Array.from({ length: count }, () => faultOf(client.call({ ...call, path: "/v4/hangs" })));

  test("hanging requests of one token leave connections and queue slots to others", async () => {
    v4.respondWith(hangs);
    const client = connect({ connections: 8, timeoutMs: 2000 });
    const greedy = hang(client, 200, as("greedy"));
    const kinds = (await Promise.all(greedy.slice(-10))).map((fault) => fault);
    expect(kinds).toEqual(
      kinds.map(() => expect.objectContaining({ kind: "no_connection", isOwnShare: true })),
    );
    expect(await client.call(as("another"))).toMatchObject({ status: 200 });
    expect(v4.calls.filter(({ path }) => path === "/v4/hangs")).toHaveLength(4);
    expect(client.shortages()).toEqual([]);
    const ends = await Promise.all(greedy);
    expect(ends.filter(({ kind }) => kind === "timed_out")).toHaveLength(4);
    expect(await client.call(as("greedy"))).toMatchObject({ status: 200 });
  });

  test("requests with unknown tokens leave half of the connections to others", async () => {
    v4.respondWith(hangs);
    const client = connect({ connections: 8, timeoutMs: 2000 });
    const hanging = Array.from({ length: 50 }, (_, index) =>
      hang(client, 1, as(`made-up ${index}`, false, `198.51.100.${index}`)),
    ).flat();
    await waitFor(() => v4.calls.length === 4);
    expect(await client.call(as("another"))).toMatchObject({ status: 200 });
    await Promise.all(hanging);
  });

  test("a shortage is reported while requests wait", async () => {
    v4.respondWith(hangs);
    const client = connect({ connections: 4, timeoutMs: 3000 });
    const all = ["a", "b", "c", "d", "e"].map((token, index) => hang(client, 1, as(token, true, `${index}`)));
    await waitFor(() => client.shortages()[0] === "all connections to v4 are in use");
    await Promise.all(all.flat());
    expect(client.shortages()).toEqual([]);
  });
});

describe("file requests", () => {
  const file = (token: string, body?: Readable, known = true) => ({
    ...GET,
    ...(body && { method: "POST" }),
    body,
    client: { token, networks: ["192.0.2.1"], isKnown: known },
  });
  const { signal } = new AbortController();

  test("have their own connections, and block no other request", async () => {
    const client = connect({ connections: 1, timeoutMs: 700 });
    const dripping = ["a", "b", "c", "d"].map((token) =>
      client.stream(file(token, new PassThrough()), signal).catch(({ kind }) => kind),
    );
    v4.respondWith(json(200, {}));
    await waitFor(() => v4.calls.length > 0 || v4.countConnections() > 0);
    expect(await client.call(GET)).toMatchObject({ status: 200 });
    expect(v4.countConnections()).toBeLessThanOrEqual(1 + 2);
    expect(new Set(await Promise.all(dripping))).toEqual(new Set(["no_connection", "slow_client"]));
    expect(client.breaker.state()).toBe("closed");
  });

  test("time out after four times the request timeout", async () => {
    const client = connect({ timeoutMs: 100, breaker: { minAttempts: 1 } });
    const body = new PassThrough();
    const timer = setInterval(() => body.write("a"), 20);
    const slow = await faultOf(client.stream(file("a", body), signal));
    clearInterval(timer);
    expect([slow.kind, client.breaker.state()]).toEqual(["slow_client", "closed"]);
    v4.respondWith((_call, response) => void response.write(Buffer.alloc(4_000_000)));
    const { body: unread } = await client.stream(file("a"), signal);
    unread.pause();
    await expect(once(unread, "close")).rejects.toMatchObject({ kind: "slow_client" });
  });

  test("on a connection that v4 closes at the moment when it is used again say nothing about v4", async () => {
    const client = connect();
    const outcomes = jest.spyOn(client.breaker, "record");
    v4.respondWith(json(200, {}), raw(""), json(200, {}), raw("", "reset"), raw(""));
    let faults = 0;
    for (let times = 0; times < 5; times += 1)
      await client.stream(file("a"), signal).then(
        ({ body }) => once(body.resume(), "close"),
        () => (faults += 1),
      );
    expect(faults).toBe(3);
    // The last one is sent on a new connection.
    expect(outcomes.mock.calls.map(([outcome]) => outcome)).toEqual([
      "succeeded",
      "ignored",
      "succeeded",
      "ignored",
      "failed",
    ]);
  });

  test("of one token and of unknown tokens leave connections to others", async () => {
    const client = connect({ connections: 64, timeoutMs: 10_000 });
    v4.respondWith((_call, response) => void response.write("a"));
    const open: Readable[] = [];
    const take = async (token: string, known: boolean, address = "192.0.2.1"): Promise<void> => {
      const { body } = await client.stream(
        { ...file(token), client: { token, networks: [address], isKnown: known } },
        signal,
      );
      open.push(body.on("error", () => {}));
    };
    const attempts = Array.from({ length: 20 }, (_, index) => [
      take("greedy", true, "192.0.2.2"),
      take(`made-up ${index}`, false, `198.51.100.${index}`),
    ]).flat();
    for (const attempt of attempts) attempt.catch(() => {});
    await waitFor(() => open.length >= 6);
    await take("another", true, "192.0.2.3");
    expect(open).toHaveLength(2 + 4 + 1);
    for (const body of open) body.destroy();
  });

  test("of one token leave places in the queue to others", async () => {
    const client = connect({ connections: 64, timeoutMs: 2000 });
    v4.respondWith((_call, response) => void response.write("a"));
    const gone = new AbortController();
    const refused: unknown[] = [];
    const open = Array.from({ length: 160 }, () =>
      client.stream(file("greedy"), gone.signal).catch((fault: unknown) => void refused.push(fault)),
    );
    await waitFor(() => refused.length > 0);
    v4.respondWith(json(200, {}));
    const others = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const { status, body } = await client.stream(file("another"), signal);
        body.resume();
        return status;
      }),
    );
    expect(new Set(others)).toEqual(new Set([200]));
    gone.abort();
    for (const taken of await Promise.all(open)) taken?.body.on("error", () => {}).destroy();
  });
});

describe("upstream connections", () => {
  test("are reused, and never exceed the limit", async () => {
    const client = connect({ connections: 3 });
    v4.respondWith((call, response) => void setTimeout(() => json(200, {})(call, response), 5));
    await Promise.all(Array.from({ length: 30 }, () => client.call(GET)));
    await Promise.all(Array.from({ length: 30 }, () => client.call(POST)));
    expect(v4.calls).toHaveLength(60);
    expect(v4.countConnections()).toBeLessThanOrEqual(3);
  });

  test("end after a response with excess bytes, which do not reach another request", async () => {
    const client = connect({ connections: 1 });
    const two =
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmineHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    for (let round = 0; round < 10; round += 1) {
      v4.respondWith(raw(two, "leave"), plain(200, "theirs"));
      const texts = await Promise.all(
        [client.call(POST), client.call(POST)].map((call) =>
          call.then(
            ({ bytes }) => bytes.toString(),
            () => "fault",
          ),
        ),
      );
      expect(texts).not.toContain("poison");
    }
  });
});

describe("L-18 invalid header values and paths are not sent", () => {
  test.each([
    ["a line break in a header", { ...GET, headers: { "x-filter": "a\r\nX-Evil: 1" } }],
    ["a NUL in a header", { ...GET, headers: { "x-filter": "a\u0000" } }],
    ["a header beyond latin-1", { ...GET, headers: { "x-filter": "\u{1f600}" } }],
    ["a header name with a space", { ...GET, headers: { "x filter": "a" } }],
    ["a line break in a path", { ...GET, path: "/v4/x\r\nX-Evil: 1" }],
    ["a space in a path", { ...GET, path: "/v4/x y" }],
  ])("%s", async (_name, call) => {
    expect(await faultOf(connect().call(call))).toMatchObject({ name: "UpstreamError" });
    expect(v4.calls).toEqual([]);
  });
});
