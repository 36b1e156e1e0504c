import { describe, expect, test } from "@jest/globals";
import {
  createSharedTokenCache,
  createTokenCache,
  fingerprint,
  tokenHash,
  type TokenCacheBackend,
  type TokenCacheEntry,
} from "../../../src/gateway/auth/token-cache.ts";

const options = { size: 3, ttlSeconds: 100, negativeTtlSeconds: 100 };

describe("a token cache in front of a shared one", () => {
  test("L-21 does not use what was read before a purge", async () => {
    const { promise, resolve } = Promise.withResolvers<TokenCacheEntry | undefined>();
    const backend: TokenCacheBackend = {
      get: () => promise,
      set: async () => {},
      purge: async () => {},
      onPurge: () => {},
    };
    const cache = createSharedTokenCache(createTokenCache(options), backend);
    const read = cache.get("a");
    await cache.purge("a");
    resolve({ info: { refused: false, grants: "all" }, ttlMs: 50_000 });
    expect(await read).toBeUndefined();
    expect(cache.size).toBe(0);
  });
});

describe.each(["of this process", "of another process"])("a purge %s", (where) => {
  test("L-21 also deletes what is on its way to the shared cache", async () => {
    const stored = new Map<string, unknown>();
    let arrive = (): void => {};
    let notify = (_fingerprint: string): void => {};
    const backend: TokenCacheBackend = {
      get: async () => undefined,
      async set(hash, info) {
        if (info !== undefined) await new Promise<void>((resolve) => (arrive = resolve));
        if (info === undefined) stored.delete(hash);
        else stored.set(hash, info);
      },
      purge: async () => stored.clear(),
      onPurge: (listener) => (notify = listener),
    };
    const cache = createSharedTokenCache(createTokenCache(options), backend);
    cache.setScopes("a", "all");
    if (where === "of this process") await cache.purge("a");
    else notify("a");
    arrive();
    await new Promise(setImmediate);
    expect([stored.size, cache.size]).toEqual([0, 0]);

    cache.setScopes("a", "all");
    arrive();
    await new Promise(setImmediate);
    expect(stored.size).toBe(1);
  });
});

describe("the token cache", () => {
  test("stores what v4 confirms again once half of its time is over", () => {
    const cache = createTokenCache(options);
    expect(cache.setScopes("a", "all")).toBe(true);
    expect(cache.setScopes("a", "all")).toBe(false);
    cache.setEntry("a", { info: { refused: false, grants: "all" }, ttlMs: 40_000 });
    expect(cache.setScopes("a", "all")).toBe(true);
    expect(cache.setScopes("a", "all")).toBe(false);
  });

  test("is empty at first", () => {
    expect(createTokenCache(options).get("a")).toBeUndefined();
  });

  test("has the last scopes that v4 sent for a token", () => {
    const info = createTokenCache(options);
    info.setRejected("a");
    expect(info.get("a")).toEqual({ refused: true });
    info.setScopes("a", "all");
    expect(info.get("a")).toEqual({ refused: false, grants: "all" });
    info.setRejected("a");
    expect(info.get("a")).toEqual({ refused: true });
  });

  test("L-33 evicts the least recently used token above its size", () => {
    const info = createTokenCache(options);
    for (const hash of ["a", "b", "c"]) info.setScopes(hash, "all");
    info.get("a");
    info.setScopes("d", "all");
    expect(info.size).toBe(3);
    expect(info.get("b")).toBeUndefined();
    expect(info.get("a")).toBeDefined();
  });

  test("L-33 keeps what v4 has accepted, however many tokens it rejects", () => {
    const info = createTokenCache(options);
    info.setScopes("a", "all");
    for (const hash of ["b", "c", "d", "e"]) info.setRejected(hash);
    expect(["a", "b", "c", "d", "e"].map((hash) => info.get(hash)?.refused)).toEqual([
      false,
      undefined,
      true,
      true,
      true,
    ]);
    expect(info.size).toBe(4);
    info.setScopes("e", "all");
    info.setRejected("a");
    expect(["a", "e"].map((hash) => info.get(hash)?.refused)).toEqual([true, false]);
  });

  test("L-21 has no expired entries: each hit checks the time", async () => {
    const info = createTokenCache({ size: 3, ttlSeconds: 0.02, negativeTtlSeconds: 100 });
    info.setScopes("a", "all");
    info.setRejected("b");
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(info.get("a")).toBeUndefined();
    expect(info.get("b")).toEqual({ refused: true });
  });

  test("with a negative TTL of 0 keeps no rejection, and deletes the scopes of a rejected token", () => {
    const info = createTokenCache({ ...options, negativeTtlSeconds: 0 });
    info.setScopes("a", "all");
    info.setRejected("a");
    expect(info.get("a")).toBeUndefined();
  });

  test("L-21 forgets the tokens of one fingerprint, or all", async () => {
    const info = createTokenCache(options);
    for (const hash of ["aa1", "aa2", "b"]) info.setScopes(hash, "all");
    await info.purge("aa");
    expect(info.get("aa1")).toBeUndefined();
    expect(info.size).toBe(1);
    await info.purge();
    expect(info.size).toBe(0);
  });

  test("keeps the scopes of a token that v4 accepts without a scopes header", () => {
    const info = createTokenCache(options);
    info.setScopes("a", undefined);
    expect(info.get("a")).toEqual({ refused: false, grants: undefined });
    info.setScopes("a", "all");
    info.setScopes("a", undefined);
    expect(info.get("a")).toEqual({ refused: false, grants: "all" });
    info.setRejected("a");
    info.setScopes("a", undefined);
    expect(info.get("a")).toEqual({ refused: false, grants: undefined });
  });
});

test("a token is identified by its SHA-256, and shown by the first 16 digits of it", () => {
  const hash = tokenHash("abc");
  expect(hash).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(fingerprint(hash)).toBe("ba7816bf8f01cfea");
});
