/** Issue 14.19: what is read for a response may be kept a while, and no longer than until its owner writes. */
import { describe, expect, test } from "vitest";
import { createResponseCache } from "../../../src/pipeline/response-cache.ts";

const write = async () => "written";

describe("the response cache", () => {
  test("has responses only for their owner", () => {
    const kept = createResponseCache();
    kept.of("a").set("/x", 1, 10, 60);
    expect([kept.of("a").get("/x"), kept.of("b").get("/x")]).toEqual([1, undefined]);
  });

  test("is invalidated by a write of its owner, and by no other request", async () => {
    const kept = createResponseCache();
    kept.of("a").set("/x", 1, 10, 60);
    await kept.invalidateDuring("b", write);
    expect(kept.of("a").get("/x")).toBe(1);
    await kept.invalidateDuring("a", write);
    expect(kept.of("a").get("/x")).toBeUndefined();
  });

  test("does not store a read during which a write started or ended", async () => {
    const kept = createResponseCache();
    const before = kept.of("a");
    const gate = Promise.withResolvers<string>();
    const writing = kept.invalidateDuring("a", () => gate.promise);
    before.set("/x", "read before the write", 10, 60);
    expect(kept.of("a").get("/x")).toBeUndefined();
    const during = kept.of("a");
    gate.resolve("written");
    await writing;
    during.set("/x", "read while it was under way", 10, 60);
    expect(kept.of("a").get("/x")).toBeUndefined();
    kept.of("a").set("/x", "read after it", 10, 60);
    expect(kept.of("a").get("/x")).toBe("read after it");
  });

  test("does not store a read during which a write failed: v4 may have executed it", async () => {
    const kept = createResponseCache();
    const before = kept.of("a");
    await kept.invalidateDuring("a", () => Promise.reject(new Error("cut off"))).catch(() => {});
    before.set("/x", 1, 10, 60);
    expect(kept.of("a").get("/x")).toBeUndefined();
  });

  test("is bounded in bytes for any number of owners and paths", () => {
    const kept = createResponseCache({ mostBytes: 1000 });
    for (let n = 0; n < 100; n += 1) kept.of(`owner ${n % 10}`).set(`/${n}`, n, 100, 60);
    kept.of("large").set("/x", "x", 1001, 60);
    const found = Array.from({ length: 100 }, (_, n) => kept.of(`owner ${n % 10}`).get(`/${n}`));
    expect(found.filter((each) => each !== undefined)).toHaveLength(10);
    expect(kept.of("large").get("/x")).toBeUndefined();
  });
});
