import { describe, expect, test } from "@jest/globals";
import { AcceptedTokens, createTokenCache } from "../../../src/gateway/auth/token-cache.ts";

const DAY_MS = 86_400_000;

describe("the memory of accepted tokens", () => {
  test("has a token for a day after its last acceptance", () => {
    let now = 0;
    const tokens = new AcceptedTokens(undefined, () => now);
    tokens.add("a");
    now = DAY_MS - 1;
    expect(tokens.has("a")).toBe(true);
    tokens.add("a");
    now = 2 * DAY_MS - 2;
    expect(tokens.has("a")).toBe(true);
    now = 2 * DAY_MS;
    expect(tokens.has("a")).toBe(false);
  });

  test("L-33 remembers no further token when it is full, and removes none for it", () => {
    let now = 0;
    const tokens = new AcceptedTokens(3, () => now);
    for (const hash of ["a", "b", "c"]) tokens.add(hash);
    now = 1;
    for (const hash of ["d", "a", "e"]) tokens.add(hash);
    expect(["a", "b", "c", "d", "e"].filter((hash) => tokens.has(hash))).toEqual(["a", "b", "c"]);
    now = DAY_MS;
    tokens.add("d");
    expect(["a", "b", "c", "d"].filter((hash) => tokens.has(hash))).toEqual(["a", "d"]);
    expect(tokens.size).toBe(2);
  });
});

describe("the token cache", () => {
  const create = () => createTokenCache({ size: 1, ttlSeconds: 100, negativeTtlSeconds: 0 });

  test("knows a token as accepted that it has evicted", () => {
    const tokens = create();
    for (const hash of ["a", "b"]) tokens.setScopes(hash, "all");
    expect([tokens.get("a"), tokens.wasAccepted("a"), tokens.wasAccepted("c")]).toEqual([
      undefined,
      true,
      false,
    ]);
  });

  test("removes an accepted token when v4 rejects it", () => {
    const tokens = create();
    tokens.setScopes("a", "all");
    tokens.setRejected("a");
    expect(tokens.wasAccepted("a")).toBe(false);
  });

  test("removes it with one fingerprint, but not when all information is deleted", async () => {
    const tokens = create();
    for (const hash of ["aa1", "b"]) tokens.setScopes(hash, "all");
    await tokens.purge("aa");
    await tokens.purge();
    expect([tokens.wasAccepted("aa1"), tokens.wasAccepted("b")]).toEqual([false, true]);
  });

  test("adds it from an entry that other processes share", () => {
    const tokens = create();
    tokens.setEntry("a", { info: { refused: false, grants: "all" }, ttlMs: 100 });
    expect(tokens.wasAccepted("a")).toBe(true);
    tokens.setEntry("a", { info: { refused: true }, ttlMs: 100 });
    expect(tokens.wasAccepted("a")).toBe(false);
  });
});
