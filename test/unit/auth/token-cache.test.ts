import { describe, expect, test } from "vitest";
import { fingerprint, tokenHash } from "../../../src/auth/token-hash.ts";
import { createTokenCache } from "../../../src/auth/token-cache.ts";

const options = { size: 3, ttlSeconds: 100, negativeTtlSeconds: 100 };

describe("what is remembered of tokens", () => {
  test("nothing, at first", () => {
    expect(createTokenCache(options).get("a")).toBeUndefined();
  });

  test("the last that v4 said", () => {
    const facts = createTokenCache(options);
    facts.setRejected("a");
    expect(facts.get("a")).toEqual({ refused: true });
    facts.setScopes("a", "all");
    expect(facts.get("a")).toEqual({ refused: false, grants: "all" });
    facts.setRejected("a");
    expect(facts.get("a")).toEqual({ refused: true });
  });

  test("L33 no more tokens than allowed; the one unused longest is forgotten", () => {
    const facts = createTokenCache(options);
    for (const hash of ["a", "b", "c"]) facts.setScopes(hash, "all");
    facts.get("a");
    facts.setScopes("d", "all");
    expect(facts.size).toBe(3);
    expect(facts.get("b")).toBeUndefined();
    expect(facts.get("a")).toBeDefined();
  });

  test("L21 nothing beyond its time, which is looked at on every hit", async () => {
    const facts = createTokenCache({ size: 3, ttlSeconds: 0.02, negativeTtlSeconds: 100 });
    facts.setScopes("a", "all");
    facts.setRejected("b");
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(facts.get("a")).toBeUndefined();
    expect(facts.get("b")).toEqual({ refused: true });
  });

  test("a negative time of 0 remembers no refusal, and forgets what was granted", () => {
    const facts = createTokenCache({ ...options, negativeTtlSeconds: 0 });
    facts.setScopes("a", "all");
    facts.setRejected("a");
    expect(facts.get("a")).toBeUndefined();
  });

  test("L21 the tokens of a fingerprint are forgotten, or all", async () => {
    const facts = createTokenCache(options);
    for (const hash of ["aa1", "aa2", "b"]) facts.setScopes(hash, "all");
    await facts.purge("aa");
    expect(facts.get("aa1")).toBeUndefined();
    expect(facts.size).toBe(1);
    await facts.purge();
    expect(facts.size).toBe(0);
  });

  test("a token that v4 took without a word on its scopes is known, and no scope of it is forgotten", () => {
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

test("a token is known by its SHA-256, and shown by the first 16 digits of that", () => {
  const hash = tokenHash("abc");
  expect(hash).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(fingerprint(hash)).toBe("ba7816bf8f01cfea");
});
