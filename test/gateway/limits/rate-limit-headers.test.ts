/** The names of the headers with the status of a rate limit, which each pack has for itself. */
import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { allBut } from "../../support/fake-time.ts";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import type { TestResponse } from "../../support/request.ts";

const NOW = 1_800_000_000;
const READ = "GET /books/7";
const SECONDS = { limit: "RateLimit-Limit", reset: "RateLimit-Reset", reset_unit: "seconds_left" };
const EPOCH = { remaining: "X-Rate-Left", reset: "X-Rate-End" };

afterEach(() => {
  jest.useRealTimers();
});

/** Starts a gateway whose time stands still. Undefined: the side names no headers. */
async function start(client: object | undefined, upstream?: object, settings = {}): Promise<SmallGateway> {
  jest.useFakeTimers({ doNotFake: allBut("Date"), now: NOW * 1000 });
  const gateway = await startSmallGateway(
    {
      ...(client && { client: { rate_limit_headers: client } }),
      ...(upstream && { upstream: { rate_limit_headers: upstream } }),
    },
    settings,
  );
  gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
  return gateway;
}

const limitHeaders = ({ headers }: TestResponse): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => /rate|retry/i.test(name)));

describe("the rate limit of the gateway", () => {
  test("is in no header if the pack names none", async () => {
    const { send } = await start(undefined);
    expect(limitHeaders(await send(READ))).toEqual({});
  });

  test("is in the headers that the pack names, and in no others", async () => {
    const { send } = await start({ remaining: "X-Rate-Left" }, undefined, { RATE_LIMIT: "3/60" });
    expect(limitHeaders(await send(READ))).toEqual({ "x-rate-left": "2" });
    expect(limitHeaders(await send(READ))).toEqual({ "x-rate-left": "1" });
  });

  test("resets at a time, or in a number of seconds", async () => {
    const atTime = await start(EPOCH, undefined, { RATE_LIMIT: "3/60" });
    expect(limitHeaders(await atTime.send(READ))["x-rate-end"]).toBe(String(NOW + 60));
    await atTime.stop();
    const inSeconds = await start(SECONDS, undefined, { RATE_LIMIT: "3/60" });
    expect(limitHeaders(await inSeconds.send(READ))).toEqual({
      "ratelimit-limit": "3",
      "ratelimit-reset": "60",
    });
  });

  test("is always in Retry-After where it rejects a request", async () => {
    const { send } = await start(undefined, undefined, { RATE_LIMIT: "1/60" });
    await send(READ);
    expect(limitHeaders(await send(READ))).toEqual({ "retry-after": "60" });
  });

  test("may be read by browsers", async () => {
    const { send } = await start(EPOCH, undefined, { CORS_ORIGINS: "https://app.example" });
    const { headers } = await send(READ, { headers: { origin: "https://app.example" } });
    expect(headers.get("access-control-expose-headers")).toBe(
      "X-Request-Id, X-Rate-Left, X-Rate-End, Retry-After",
    );
  });
});

describe("the rate limit of the upstream, where it rejects a request", () => {
  test.each([
    [
      "a time becomes seconds",
      SECONDS,
      EPOCH,
      { "x-rate-end": String(NOW + 30) },
      { "ratelimit-reset": "30" },
    ],
    [
      "a time that has passed is 0 seconds",
      SECONDS,
      EPOCH,
      { "x-rate-end": "5" },
      { "ratelimit-reset": "0" },
    ],
    [
      "seconds become a time",
      EPOCH,
      SECONDS,
      { "ratelimit-reset": "30" },
      { "x-rate-end": String(NOW + 30) },
    ],
    ["a time stays the same", EPOCH, EPOCH, { "x-rate-left": "0" }, { "x-rate-left": "0" }],
  ])("%s", async (_what, client, upstream, received, expected) => {
    const { send, service } = await start(client, upstream);
    service.respondWith(json(429, { message: "Too many" }, received));
    const response = await send(READ);
    expect(response.status).toBe(429);
    expect(limitHeaders(response)).toMatchObject(expected);
  });

  test.each([
    ["Fri, 15 Jan 2027 08:00:30 GMT", "30"],
    ["Friday, 15-Jan-27 08:00:30 GMT", "30"],
    ["Fri Jan 15 08:00:30 2027", "30"],
    ["Fri, 15 Jan 2027 07:00:00 GMT", "1"],
    ["Fri, 99 Jan 2027 08:00:30 GMT", expect.stringMatching(/^6[01]$/)],
    ["45", "45"],
    ["0", "1"],
  ])("Retry-After: %s is %s seconds", async (received, expected) => {
    const { send, service } = await start(undefined, undefined, { RATE_LIMIT: "3/60" });
    service.respondWith(json(429, {}, { "retry-after": received }));
    expect(limitHeaders(await send(READ))).toEqual({ "retry-after": expected });
  });

  const ALL = { limit: "X-Rate", remaining: "X-Rate-Left", reset: "X-Rate-End", reset_unit: "epoch_seconds" };
  test.each([
    [{ "retry-after": "17" }, { "retry-after": "17", "x-rate-end": String(NOW + 17) }],
    [{ "x-rate-end": String(NOW + 9) }, { "retry-after": "9", "x-rate-end": String(NOW + 9) }],
    [{}, {}],
  ])("where v4 says %j, the other headers say the same", async (received, expected) => {
    const { send, service } = await start(ALL, ALL, { RATE_LIMIT: "3/60" });
    service.respondWith(json(429, {}, received));
    const headers = limitHeaders(await send(READ));
    expect(headers).toMatchObject({ "x-rate": "3", "x-rate-left": "0", ...expected });
    expect(Number(headers["x-rate-end"]) - NOW).toBe(Number(headers["retry-after"]));
  });

  test("is not read from headers that the pack does not name", async () => {
    const { send, service } = await start(SECONDS, undefined, { RATE_LIMIT: "3/60" });
    service.respondWith(json(429, {}, { "ratelimit-limit": "800", "x-ratelimit-limit": "801" }));
    expect(limitHeaders(await send(READ))["ratelimit-limit"]).toBe("3");
  });
});
