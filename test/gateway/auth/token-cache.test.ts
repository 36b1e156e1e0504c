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
});

test("a token is identified by its SHA-256, and shown by the first 16 digits of it", () => {
  const hash = tokenHash("abc");
  expect(hash).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(fingerprint(hash)).toBe("ba7816bf8f01cfea");
});
