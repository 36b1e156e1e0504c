/** Data that was read for a response is cached for a while, at most until its owner writes. */
import { describe, expect, test } from "@jest/globals";
import { createResponseCache } from "../../../src/gateway/calls/response-cache.ts";

const write = async () => "written";

describe("the response cache", () => {
  test("has responses only for their owner", () => {
    const cache = createResponseCache();
    cache.of("a").set("/x", 1, 10, 60);
    expect([cache.of("a").get("/x"), cache.of("b").get("/x")]).toEqual([1, undefined]);
  });

  test("is invalidated by a write of its owner, and by no other request", async () => {
    const cache = createResponseCache();
    cache.of("a").set("/x", 1, 10, 60);
    await cache.invalidateDuring("b", write);
    expect(cache.of("a").get("/x")).toBe(1);
    await cache.invalidateDuring("a", write);
    expect(cache.of("a").get("/x")).toBeUndefined();
  });

  test("does not store a read during which a write started or ended", async () => {
    const cache = createResponseCache();
    const before = cache.of("a");
    const gate = Promise.withResolvers<string>();
    const writing = cache.invalidateDuring("a", () => gate.promise);
    before.set("/x", "read before the write", 10, 60);
    expect(cache.of("a").get("/x")).toBeUndefined();
    const during = cache.of("a");
    gate.resolve("written");
    await writing;
    during.set("/x", "read during the write", 10, 60);
    expect(cache.of("a").get("/x")).toBeUndefined();
    cache.of("a").set("/x", "read after it", 10, 60);
    expect(cache.of("a").get("/x")).toBe("read after it");
  });

  test("does not store a read during which a write failed: v4 may have executed it", async () => {
    const cache = createResponseCache();
    const before = cache.of("a");
    await cache.invalidateDuring("a", () => Promise.reject(new Error("cut off"))).catch(() => {});
    before.set("/x", 1, 10, 60);
    expect(cache.of("a").get("/x")).toBeUndefined();
  });

  test("is bounded in bytes for any number of owners and paths", () => {
    // Each response counts as 512 bytes more.
    const mostBytes = 10 * (100 + 512);
    const cache = createResponseCache({ mostBytes });
    for (let n = 0; n < 100; n += 1) cache.of(`owner ${n % 10}`).set(`/${n}`, n, 100, 60);
    cache.of("large").set("/x", "x", mostBytes, 60);
    const found = Array.from({ length: 100 }, (_, n) => cache.of(`owner ${n % 10}`).get(`/${n}`));
    expect(found.filter((each) => each !== undefined)).toHaveLength(10);
    expect(cache.of("large").get("/x")).toBeUndefined();
  });
});
