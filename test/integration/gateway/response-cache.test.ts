/** Issue 14.19: what is read for an answer may be kept a while, and no longer than until its owner writes. */
import { describe, expect, test } from "vitest";
import type { CallUpstream, UpstreamResponse } from "../../../src/pipeline/stages/call-upstream.ts";
import { createResponseCache } from "../../../src/pipeline/response-cache.ts";

const call: CallUpstream = async () => ({}) as UpstreamResponse;
const write = { method: "PUT", path: "/x" };

describe("kept reads", () => {
  test("are found by their owner alone", () => {
    const kept = createResponseCache();
    kept.of("a").keep("/x", 1, 10, 60);
    expect([kept.of("a").get("/x"), kept.of("b").get("/x")]).toEqual([1, undefined]);
  });

  test("end with a write of their owner, and with no other call", async () => {
    const kept = createResponseCache();
    kept.of("a").keep("/x", 1, 10, 60);
    await kept.invalidateOnWrite("b", call)(write);
    await kept.invalidateOnWrite("a", call)({ method: "GET", path: "/x" });
    expect(kept.of("a").get("/x")).toBe(1);
    await kept.invalidateOnWrite("a", call)(write);
    expect(kept.of("a").get("/x")).toBeUndefined();
  });

  test("are not kept where a write began or ended while they were read", async () => {
    const kept = createResponseCache();
    const before = kept.of("a");
    const gate = Promise.withResolvers<UpstreamResponse>();
    const writing = kept.invalidateOnWrite("a", () => gate.promise)(write);
    before.keep("/x", "read before the write", 10, 60);
    expect(kept.of("a").get("/x")).toBeUndefined();
    const during = kept.of("a");
    gate.resolve({} as UpstreamResponse);
    await writing;
    during.keep("/x", "read while it was under way", 10, 60);
    expect(kept.of("a").get("/x")).toBeUndefined();
    kept.of("a").keep("/x", "read after it", 10, 60);
    expect(kept.of("a").get("/x")).toBe("read after it");
  });

  test("nor where the write failed: v4 may have done it", async () => {
    const kept = createResponseCache();
    const before = kept.of("a");
    await kept
      .invalidateOnWrite("a", () => Promise.reject(new Error("cut off")))(write)
      .catch(() => {});
    before.keep("/x", 1, 10, 60);
    expect(kept.of("a").get("/x")).toBeUndefined();
  });

  test("are bounded in bytes, however many owners and paths there are", () => {
    const kept = createResponseCache({ mostBytes: 1000 });
    for (let n = 0; n < 100; n += 1) kept.of(`owner ${n % 10}`).keep(`/${n}`, n, 100, 60);
    kept.of("large").keep("/x", "x", 1001, 60);
    const found = Array.from({ length: 100 }, (_, n) => kept.of(`owner ${n % 10}`).get(`/${n}`));
    expect(found.filter((each) => each !== undefined)).toHaveLength(10);
    expect(kept.of("large").get("/x")).toBeUndefined();
  });
});
