import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Limiter, RateLimit } from "../../../src/gateway/limits/limiter.ts";
import type { TokenCache, TokenCacheOptions } from "../../../src/gateway/auth/token-cache.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Where limits and tokens are kept. Everything that one place creates shares its state. */
export interface BackendPlace {
  createLimiter(limit: RateLimit): Limiter;
  createTokenCache(options: TokenCacheOptions): TokenCache;
  remove(): Promise<void>;
}

const LONG = 600;

/** The contract of the limiters and token caches of a place. */
export function testBackend(name: string, makePlace: () => Promise<BackendPlace>): void {
  let place: BackendPlace;
  const openPlace = async (): Promise<void> => {
    place = await makePlace();
  };
  const removePlace = (): Promise<void> => place.remove();

  describe(`a limiter in ${name}`, () => {
    beforeEach(openPlace);
    afterEach(removePlace);

    test("allows as many requests as the limit, and rejects the next ones", async () => {
      const limiter = place.createLimiter({ points: 2, seconds: LONG });
      expect(await limiter.consume("mine")).toMatchObject({ isAllowed: true, limit: 2, remaining: 1 });
      expect(await limiter.consume("mine")).toMatchObject({ isAllowed: true, limit: 2, remaining: 0 });
      for (let n = 0; n < 3; n += 1)
        expect(await limiter.consume("mine")).toMatchObject({ isAllowed: false, limit: 2, remaining: 0 });
    });

    test("counts each key apart", async () => {
      const limiter = place.createLimiter({ points: 1, seconds: LONG });
      for (const key of ["mine", "Mine", "mine ", "*", "address 192.0.2.1"])
        expect([key, (await limiter.consume(key)).isAllowed]).toEqual([key, true]);
      expect((await limiter.consume("mine")).isAllowed).toBe(false);
    });

    test("allows no more than the limit of requests at the same time", async () => {
      const limiter = place.createLimiter({ points: 10, seconds: LONG });
      const statuses = await Promise.all(Array.from({ length: 30 }, async () => limiter.consume("mine")));
      expect(statuses.filter(({ isAllowed }) => isAllowed)).toHaveLength(10);
    });

    test("starts a window with the first request, which rejected requests do not prolong", async () => {
      const limiter = place.createLimiter({ points: 1, seconds: 1 });
      expect(await limiter.consume("mine")).toMatchObject({ isAllowed: true });
      await waitFor(async () => (await limiter.consume("mine")).isAllowed);
    });

    test("says how long the window lasts, and when it ends", async () => {
      const limiter = place.createLimiter({ points: 1, seconds: LONG });
      const now = Date.now() / 1000;
      await limiter.consume("mine");
      const { retryAfter, resetAt, msLeft } = await limiter.consume("mine");
      expect([retryAfter, Math.ceil(msLeft / 1000)].every((left) => left > LONG - 60 && left <= LONG)).toBe(
        true,
      );
      expect(Math.abs(resetAt - (now + LONG))).toBeLessThan(60);
    });

    test("refunds only the consumed amount", async () => {
      const limiter = place.createLimiter({ points: 2, seconds: LONG });
      await limiter.refund("mine");
      expect(await limiter.consume("mine")).toMatchObject({ isAllowed: true, remaining: 1 });
      for (let n = 0; n < 5; n += 1) await limiter.refund("mine");
      expect(await limiter.consume("mine")).toMatchObject({ isAllowed: true, remaining: 1 });
      expect(await limiter.consume("mine")).toMatchObject({ isAllowed: true, remaining: 0 });
      expect(await limiter.consume("mine")).toMatchObject({ isAllowed: false });
    });
  });

  describe(`a token cache in ${name}`, () => {
    beforeEach(openPlace);
    afterEach(removePlace);

    const options = { size: 100, ttlSeconds: LONG, negativeTtlSeconds: LONG };
    const accepted = (grants: "all" | undefined) => ({ refused: false, grants });

    /** A cache that has written all that it was told: another process would read it. */
    async function cacheWith(
      tokens: Record<string, "all" | "refused">,
      given = options,
    ): Promise<TokenCache> {
      const cache = place.createTokenCache(given);
      for (const [hash, grants] of Object.entries(tokens))
        if (grants === "refused") cache.setRejected(hash);
        else cache.setScopes(hash, grants);
      return cache;
    }

    test("knows nothing of a token at first", async () => {
      const cache = place.createTokenCache(options);
      expect(await cache.get("a")).toBeUndefined();
      expect([cache.wasAccepted("a"), cache.size]).toEqual([false, 0]);
    });

    test("has what v4 said last of a token", async () => {
      const cache = await cacheWith({ a: "refused" });
      expect(await cache.get("a")).toEqual({ refused: true });
      cache.setScopes("a", "all");
      expect(await cache.get("a")).toEqual(accepted("all"));
      expect(cache.wasAccepted("a")).toBe(true);
      cache.setRejected("a");
      expect(await cache.get("a")).toEqual({ refused: true });
      expect(cache.wasAccepted("a")).toBe(false);
    });

    test("keeps the scopes of a token that v4 accepts without a scopes header, until v4 rejects it", async () => {
      const cache = place.createTokenCache(options);
      cache.setScopes("a", undefined);
      expect(await cache.get("a")).toEqual(accepted(undefined));
      cache.setScopes("a", "all");
      cache.setScopes("a", undefined);
      expect(await cache.get("a")).toEqual(accepted("all"));
      cache.setRejected("a");
      cache.setScopes("a", undefined);
      expect(await cache.get("a")).toEqual(accepted(undefined));
    });

    test("L-21 has no expired entries", async () => {
      const cache = await cacheWith({ a: "all", b: "refused" }, { ...options, ttlSeconds: 1 });
      await wait(1200);
      expect([await cache.get("a"), await cache.get("b")]).toEqual([undefined, { refused: true }]);
    });

    test("with a negative TTL of 0 keeps no rejection, and deletes the scopes of a rejected token", async () => {
      const cache = await cacheWith({ a: "all" }, { ...options, negativeTtlSeconds: 0 });
      cache.setRejected("a");
      await waitFor(async () => (await cache.get("a")) === undefined);
      expect(cache.wasAccepted("a")).toBe(false);
    });

    test("L-21 forgets the tokens of one fingerprint, or all", async () => {
      const cache = await cacheWith({ aa1: "all", aa2: "refused", b: "all" });
      await cache.purge("aa");
      expect([await cache.get("aa1"), await cache.get("aa2")]).toEqual([undefined, undefined]);
      expect(await cache.get("b")).toEqual(accepted("all"));
      await cache.purge();
      expect([await cache.get("b"), cache.size]).toEqual([undefined, 0]);
    });
  });
}

/** The contract of a place that processes share. */
export function testSharedBackend(name: string, makePlace: () => Promise<BackendPlace>): void {
  describe(`processes that share ${name}`, () => {
    let place: BackendPlace;
    beforeEach(async () => {
      place = await makePlace();
    });
    afterEach(() => place.remove());

    test("share the limit of a key", async () => {
      const limit = { points: 3, seconds: LONG };
      const processes = [place.createLimiter(limit), place.createLimiter(limit)];
      const allowed: boolean[] = [];
      for (let n = 0; n < 6; n += 1) allowed.push((await processes[n % 2]!.consume("mine")).isAllowed);
      expect(allowed).toEqual([true, true, true, false, false, false]);
      for (let n = 0; n < 4; n += 1) await processes[0]!.refund("mine");
      expect(await processes[1]!.consume("mine")).toMatchObject({ isAllowed: true, remaining: 0 });
    });

    test("L-21 tell each other of a token, and of a purge", async () => {
      const options = { size: 100, ttlSeconds: LONG, negativeTtlSeconds: LONG };
      const one = place.createTokenCache(options);
      const other = place.createTokenCache(options);
      const grants = new Map([["vms", 2]]);
      one.setScopes("a", grants);
      one.setRejected("b");
      await waitFor(async () => (await other.get("a")) && (await other.get("b")));
      expect([await other.get("a"), await other.get("b")]).toEqual([
        { refused: false, grants },
        { refused: true },
      ]);
      await one.purge("a");
      await waitFor(async () => (await other.get("a")) === undefined);
      expect(await other.get("b")).toEqual({ refused: true });
    });
  });
}
