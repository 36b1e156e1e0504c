import { describe, expect, test } from "vitest";
import { fingerprint, tokenHash, createTokenCache } from "../../../src/auth/token-cache.ts";

const options = { size: 3, ttlSeconds: 100, negativeTtlSeconds: 100 };

describe("the token cache", () => {
  test("is empty at first", () => {
    expect(createTokenCache(options).get("a")).toBeUndefined();
  });

  test("has the last scopes that v4 sent for a token", () => {
    const facts = createTokenCache(options);
    facts.setRejected("a");
    expect(facts.get("a")).toEqual({ refused: true });
    facts.setScopes("a", "all");
    expect(facts.get("a")).toEqual({ refused: false, grants: "all" });
    facts.setRejected("a");
    expect(facts.get("a")).toEqual({ refused: true });
  });

  test("L33 evicts the least recently used token above its size", () => {
    const facts = createTokenCache(options);
    for (const hash of ["a", "b", "c"]) facts.setScopes(hash, "all");
    facts.get("a");
    facts.setScopes("d", "all");
    expect(facts.size).toBe(3);
    expect(facts.get("b")).toBeUndefined();
    expect(facts.get("a")).toBeDefined();
  });

  test("L21 has no expired entries: each hit checks the time", async () => {
    const facts = createTokenCache({ size: 3, ttlSeconds: 0.02, negativeTtlSeconds: 100 });
    facts.setScopes("a", "all");
    facts.setRejected("b");
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(facts.get("a")).toBeUndefined();
    expect(facts.get("b")).toEqual({ refused: true });
  });

  test("with a negative TTL of 0 keeps no rejection, and deletes the scopes of a rejected token", () => {
    const facts = createTokenCache({ ...options, negativeTtlSeconds: 0 });
    facts.setScopes("a", "all");
    facts.setRejected("a");
    expect(facts.get("a")).toBeUndefined();
  });

  test("L21 forgets the tokens of one fingerprint, or all", async () => {
    const facts = createTokenCache(options);
    for (const hash of ["aa1", "aa2", "b"]) facts.setScopes(hash, "all");
    await facts.purge("aa");
    expect(facts.get("aa1")).toBeUndefined();
    expect(facts.size).toBe(1);
    await facts.purge();
    expect(facts.size).toBe(0);
  });

  test("keeps the scopes of a token that v4 accepts without a scopes header", () => {
    const facts = createTokenCache(options);
    facts.setScopes("a", undefined);
    expect(facts.get("a")).toEqual({ refused: false, grants: undefined });
    facts.setScopes("a", "all");
    facts.setScopes("a", undefined);
    expect(facts.get("a")).toEqual({ refused: false, grants: "all" });
    facts.setRejected("a");
    facts.setScopes("a", undefined);
    expect(facts.get("a")).toEqual({ refused: false, grants: undefined });
  });
});

test("a token is identified by its SHA-256, and shown by the first 16 digits of it", () => {
  const hash = tokenHash("abc");
  expect(hash).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(fingerprint(hash)).toBe("ba7816bf8f01cfea");
});
