/** Tokens are refreshed transparently (L-24): v4 tokens expire after two hours, alpha tokens never expired. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { STATE_FILE } from "../../../src/gateway/state/sqlite-schema.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import { TokenRecords } from "../../../src/gateway/auth/token-records.ts";
import {
  applicationOwner,
  type IssuedToken,
  type RefreshCredentials,
} from "../../../src/gateway/auth/stored-token.ts";
import { TokenStore, TokenUnavailableError } from "../../../src/gateway/auth/token-store.ts";
import { createEncryptor, createGatewayTokens } from "../../../src/gateway/auth/gateway-secret.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { packIn } from "../../support/packs.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";

const { scopes } = packIn("mappings");
const HOURS_2 = 7_200_000;

/** A login server whose refresh tokens are good for one use; `down` and `refusing` make it fail. */
class Issuer {
  readonly renewed: RefreshCredentials[] = [];
  readonly discarded: IssuedToken[] = [];
  readonly timeoutSeconds = 1;
  valid = "refresh-0";
  state: "up" | "down" | "refusing" = "up";
  gate: Promise<void> = Promise.resolve();
  granted = "vms:read_write";

  refresh = async (credentials: RefreshCredentials): Promise<IssuedToken | undefined> => {
    this.renewed.push(credentials);
    await this.gate;
    if (this.state === "down") throw new Error("the login server is down");
    if (this.state === "refusing" || credentials.token !== this.valid) return undefined;
    const n = this.renewed.length;
    this.valid = `refresh-${n}`;
    return { token: `access-${n}`, scopes: this.granted, expiresInSeconds: 7200, refresh: this.valid };
  };
  discard = async (issued: IssuedToken): Promise<void> => void this.discarded.push(issued);
}

let directory: string;
let issuer: Issuer;
let now: number;
/** Milliseconds by which the system clock was set. */
let setBy: number;
let open: KeyValueStore[];
let tokenStores: TokenStore[];
let troubles: unknown[];
/** Hashes of tokens whose records can't be read. */
let damaged: string[];

/** The token store of one process. All processes share the key-value store. */
function process(secret = "secret", wrap = (store: KeyValueStore): KeyValueStore => store): TokenStore {
  const opened = openSqliteKeyValueStore({ directory });
  open.push(opened);
  const store = wrap(opened);
  const elapsed = () => now;
  const clock = () => now + setBy;
  const gatewayTokens = createGatewayTokens(secret);
  const records = new TokenRecords({
    store,
    encryptor: createEncryptor(secret),
    gatewayTokens: gatewayTokens,
    size: 100,
    elapsed,
    onDamaged: (hash) => damaged.push(hash),
  });
  return new TokenStore({
    records,
    gatewayTokens: gatewayTokens,
    store,
    issuer,
    scopes,
    clock,
    elapsed,
    onError: (error) => troubles.push(error),
  });
}

beforeEach(async () => {
  directory = temporaryFolder();
  issuer = new Issuer();
  now = Date.parse("2026-05-20T12:00:00Z");
  setBy = 0;
  open = [];
  troubles = [];
  damaged = [];
  tokenStores = [process(), process()];
});
afterEach(async () => {
  for (const store of open) await store.close();
});

const first = (): TokenStore => tokenStores[0] as TokenStore;
const second = (): TokenStore => tokenStores[1] as TokenStore;
/** v4's token, and the gateway's token that the client has instead. */
const TOKEN = "access-0";
let mine: string;
let HASH: string;
const refresh: RefreshCredentials = { token: "refresh-0", client: "client", secret: "client-secret" };

async function handOut(scope = "vms:modify", refreshing: RefreshCredentials | null = refresh): Promise<void> {
  const issued = {
    token: TOKEN,
    scopes: "vms:read_write",
    expiresInSeconds: 7200,
    refresh: refreshing?.token,
  };
  const owner = applicationOwner("client");
  mine = await first().save(issued, { scopes: scope, owner, refresh: refreshing ?? undefined, at: now });
  HASH = tokenHash(mine);
}

/** The v4 token behind the client's token. */
async function v4TokenOf(tokenStore = first()): Promise<string> {
  const found = await tokenStore.find(HASH, mine);
  if (found === undefined || found === "unknown") return String(found);
  return found.isRevoked ? "over" : found.token;
}

describe("a token that the gateway issued", () => {
  test("is known in every process, with its levels", async () => {
    await handOut();
    for (const tokenStore of tokenStores) {
      const found = await tokenStore.find(HASH, mine);
      expect(found).toMatchObject({
        token: TOKEN,
        hash: `${HASH}.${tokenHash(TOKEN)}`,
        isRevoked: false,
        grants: new Map([["vms", 1]]),
      });
    }
  });

  test("survives a restart", async () => {
    await handOut();
    expect(await v4TokenOf(process())).toBe(TOKEN);
  });

  test("R-15 is not in the store in plain text", async () => {
    await handOut();
    for (const store of open) await store.close();
    const bytes = await readFile(join(directory, STATE_FILE), "latin1");
    for (const secret of [mine, TOKEN, refresh.token, refresh.secret, "vms:modify"])
      expect(bytes).not.toContain(secret);
  });

  test("permits nothing with another secret", async () => {
    await handOut();
    expect(await v4TokenOf(process("another secret"))).toBe("over");
  });

  test.each([
    ["no JSON", "scopes"],
    ["a record of another form", '{"scopes":["vms:modify"],"token":"access-0"}'],
    ["no record", "null"],
  ])("permits nothing if its record is %s, which is reported", async (_, text) => {
    await handOut();
    const [store] = open;
    const key = `grant:${HASH}`;
    await store?.set(key, createEncryptor("secret").encrypt(text, key), 600);
    expect(await v4TokenOf(process())).toBe("over");
    expect(damaged).toEqual([HASH]);
  });

  test("has the form of alpha's tokens, and is recognized as the gateway's own", async () => {
    await handOut();
    expect(mine).toMatch(/^[0-9a-f]{64}$/);
    expect(createGatewayTokens("secret").isGatewayToken(mine)).toBe(true);
    expect(createGatewayTokens("another secret").isGatewayToken(mine)).toBe(false);
    for (const at of [0, 31, 32, 63]) {
      const digit = mine[at] === "0" ? "1" : "0";
      expect(
        createGatewayTokens("secret").isGatewayToken(mine.slice(0, at) + digit + mine.slice(at + 1)),
      ).toBe(false);
    }
  });

  test("is invalid if its record is lost, in a process that knew it and in another", async () => {
    await handOut();
    await open[0]?.delete(`grant:${HASH}`);
    expect(await v4TokenOf(second())).toBe("over");
    expect(await v4TokenOf(first())).toBe(TOKEN);
    now += 3001;
    expect(await v4TokenOf(first())).toBe("over");
  });

  test("has a cache key of its own after its record is lost, and after another one's is", async () => {
    const tokenStore = process();
    const lost = [createGatewayTokens("secret").create(), createGatewayTokens("secret").create()];
    const found = await Promise.all(lost.map(async (token) => tokenStore.find(tokenHash(token), token)));
    expect(found).toEqual(
      lost.map((token) => expect.objectContaining({ isRevoked: true, token, hash: tokenHash(token) })),
    );
  });

  test("of an earlier version works as v4's token until its record is lost", async () => {
    const hash = tokenHash("v4's own");
    const key = `grant:${hash}`;
    const encrypted = createEncryptor("secret").encrypt(JSON.stringify({ scopes: "vms:modify" }), key);
    await open[0]?.set(key, encrypted, 600);
    expect(await first().find(hash, "v4's own")).toMatchObject({
      token: "v4's own",
      grants: new Map([["vms", 1]]),
    });
    await open[0]?.delete(key);
    now += 3001;
    expect(await first().find(hash, "v4's own")).toMatchObject({ isRevoked: true });
  });

  test("is distinguished from tokens that the gateway did not issue", async () => {
    expect(await first().find(tokenHash("other"), "other")).toBeUndefined();
  });
});

describe("a token near its expiry", () => {
  test("is not refreshed before the last ten minutes", async () => {
    await handOut();
    now += HOURS_2 - 601_000;
    expect(await v4TokenOf()).toBe(TOKEN);
    expect(issuer.renewed).toEqual([]);
  });

  test("is refreshed in the background while v4's token is valid", async () => {
    await handOut();
    const gate = Promise.withResolvers<void>();
    issuer.gate = gate.promise;
    now += HOURS_2 - 300_000;
    expect(await v4TokenOf()).toBe(TOKEN);
    gate.resolve();
    await waitFor(async () => (await v4TokenOf()) === "access-1");
    expect(issuer.renewed).toEqual([refresh]);
    expect(await v4TokenOf()).toBe("access-1");
  });

  test("is refreshed once for many concurrent requests in many processes", async () => {
    await handOut();
    now += HOURS_2 + 1000;
    const asked = Array.from({ length: 40 }, (_, n) => v4TokenOf(n % 2 ? first() : second()));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["access-1"]));
    expect(issuer.renewed).toHaveLength(1);
  });

  test("costs one write for many lookups while another process refreshes it", async () => {
    let writes = 0;
    const counting = process("secret", (store) => ({
      ...store,
      setIfAbsent(...entry) {
        writes += 1;
        return store.setIfAbsent(...entry);
      },
    }));
    await handOut();
    const lock = `renewing:${HASH}`;
    await open[0]?.set(lock, "another's", 60);
    now += HOURS_2 - 300_000;
    for (let n = 0; n < 20; n += 1) {
      expect(await v4TokenOf(counting)).toBe(TOKEN);
      await nextTurn();
    }
    expect(writes).toBe(1);
    await open[0]?.delete(lock);
    now += 1001;
    await waitFor(async () => (await v4TokenOf(counting)) === "access-1");
    expect(writes).toBe(2);
  });

  test("never gains levels, and loses those that are no longer granted", async () => {
    await handOut("vms:modify");
    issuer.granted = "*";
    now += HOURS_2;
    expect(await first().find(HASH, mine)).toMatchObject({ grants: new Map([["vms", 1]]) });
    issuer.granted = "vms:read_only";
    now += HOURS_2;
    expect(await first().find(HASH, mine)).toMatchObject({ grants: new Map([["vms", 0]]) });
  });
});

describe("failed refreshes", () => {
  test("revoke the token in all processes if the login server rejects", async () => {
    await handOut();
    issuer.state = "refusing";
    now += HOURS_2;
    expect(await v4TokenOf()).toBe("over");
    issuer.state = "up";
    now += 60_000;
    expect(await v4TokenOf(second())).toBe("over");
    expect(issuer.renewed).toHaveLength(1);
  });

  test("keep the old token while it is valid and the login server is down, and retry", async () => {
    await handOut();
    issuer.state = "down";
    now += HOURS_2 - 300_000;
    expect(await v4TokenOf()).toBe(TOKEN);
    await waitFor(() => troubles.length === 1);
    expect(await v4TokenOf()).toBe(TOKEN);
    expect(issuer.renewed).toHaveLength(1);
    issuer.state = "up";
    now += 10_000;
    expect(await v4TokenOf()).toBe(TOKEN);
    await waitFor(async () => (await v4TokenOf()) === "access-2");
  });

  test("by a process that dies block others only until the lock expires", async () => {
    await handOut();
    await open[0]?.setIfAbsent(`renewing:${HASH}`, "", 1);
    now += HOURS_2 - 300_000;
    expect(await v4TokenOf()).toBe(TOKEN);
    await waitFor(async () => {
      now += 6000;
      return (await v4TokenOf()) !== TOKEN;
    });
  });

  test("revoke the token if a new refresh token was lost", async () => {
    await handOut();
    // The login server has given the next token, and the process died before the store had it.
    await issuer.refresh(refresh);
    now += HOURS_2 - 300_000;
    expect(await v4TokenOf()).toBe(TOKEN);
    await waitFor(async () => (await v4TokenOf()) === "over");
  });
});

describe("a token that v4 rejects before its expiry", () => {
  const other = () => first().findReplacement(HASH, mine, `${HASH}.${tokenHash(TOKEN)}`);

  test("is refreshed once for many concurrent requests", async () => {
    await handOut();
    const found = await Promise.all(Array.from({ length: 20 }, other));
    expect(new Set(found.map((each) => each?.token))).toEqual(new Set(["access-1"]));
    expect(issuer.renewed).toEqual([refresh]);
  });

  test("is not refreshed if another process has refreshed it", async () => {
    await handOut();
    await second().findReplacement(HASH, mine, `${HASH}.${tokenHash(TOKEN)}`);
    expect(await other()).toMatchObject({ token: "access-1" });
    expect(issuer.renewed).toHaveLength(1);
  });

  test("is not refreshed again for 30 seconds", async () => {
    await handOut();
    await other();
    const next = () => first().findReplacement(HASH, mine, `${HASH}.${tokenHash("access-1")}`);
    expect(await next()).toBeUndefined();
    now += 29_000;
    expect(await next()).toBeUndefined();
    now += 2000;
    expect(await next()).toMatchObject({ token: "access-2" });
  });

  test("is not refreshed at once if a refresh has failed just before", async () => {
    await handOut();
    issuer.state = "down";
    now += HOURS_2 - 300_000;
    expect(await v4TokenOf()).toBe(TOKEN);
    await waitFor(() => troubles.length === 1);
    expect(await other()).toBeUndefined();
    expect(issuer.renewed).toHaveLength(1);
    issuer.state = "up";
    now += 10_000;
    expect(await other()).toMatchObject({ token: "access-2" });
  });

  test("is not refreshed without a refresh token", async () => {
    await handOut("vms:modify", null);
    expect(await other()).toBeUndefined();
    expect(issuer.renewed).toEqual([]);
  });
});

describe("the lock of a refresh", () => {
  test("is not released after it expired and another process took it", async () => {
    await handOut();
    const gate = Promise.withResolvers<void>();
    issuer.gate = gate.promise;
    now += HOURS_2;
    const renewing = v4TokenOf();
    await waitFor(() => issuer.renewed.length === 1);
    const lock = `renewing:${HASH}`;
    const holder = (await open[0]?.get(lock)) ?? "";
    expect(holder).not.toBe("");
    await open[0]?.set(lock, "another's", 60);
    gate.resolve();
    await renewing;
    expect(await open[0]?.get(lock)).toBe("another's");
  });

  test("is released at the end", async () => {
    await handOut();
    now += HOURS_2;
    expect(await v4TokenOf()).toBe("access-1");
    expect(await open[0]?.get(`renewing:${HASH}`)).toBeUndefined();
  });
});

describe("a token that the client expired", () => {
  test("is rejected immediately in this process, and within seconds in other processes", async () => {
    await handOut();
    expect(await v4TokenOf(second())).toBe(TOKEN);
    await first().revoke(HASH);
    expect(await v4TokenOf(first())).toBe("over");
    now += 3001;
    expect(await v4TokenOf(second())).toBe("over");
  });

  test("stays expired if a refresh was in progress, and the new token is revoked", async () => {
    await handOut();
    const gate = Promise.withResolvers<void>();
    issuer.gate = gate.promise;
    now += HOURS_2;
    const renewing = v4TokenOf(first());
    await waitFor(() => issuer.renewed.length === 1);
    await second().revoke(HASH);
    gate.resolve();
    expect(await renewing).toBe("over");
    expect(issuer.discarded.map(({ token }) => token)).toEqual(["access-1"]);
    now += 60_000;
    for (const tokenStore of tokenStores) expect(await v4TokenOf(tokenStore)).toBe("over");
  });
});

describe("the copy of a token in a process", () => {
  const counting = (): { tokenStore: TokenStore; reads: () => number; fail: () => void } => {
    let reads = 0;
    let failing = false;
    const tokenStore = process("secret", (store) => ({
      ...store,
      get: (key) => {
        reads += 1;
        return failing ? Promise.reject(new Error("the store is down")) : store.get(key);
      },
    }));
    return { tokenStore, reads: () => reads, fail: () => (failing = true) };
  };

  test("is used without waiting, and refreshed from the store after seconds", async () => {
    await handOut();
    const { tokenStore, reads } = counting();
    await tokenStore.find(HASH, mine);
    for (let n = 0; n < 100; n += 1) expect(tokenStore.find(HASH, mine)).not.toBeInstanceOf(Promise);
    expect(reads()).toBe(1);
    now += 3001;
    await tokenStore.find(HASH, mine);
    expect(reads()).toBe(2);
  });

  test("is refreshed from the store although the system clock was set back", async () => {
    await handOut();
    const { tokenStore, reads } = counting();
    await tokenStore.find(HASH, mine);
    setBy = -HOURS_2;
    now += 3001;
    await tokenStore.find(HASH, mine);
    expect(reads()).toBe(2);
  });

  test("has unknown tokens for a minute", async () => {
    const { tokenStore, reads } = counting();
    await tokenStore.find("hash", "token");
    now += 50_000;
    expect(tokenStore.find("hash", "token")).toBeUndefined();
    expect(reads()).toBe(1);
  });

  test("is used while the store is down, and unknown tokens are not guessed", async () => {
    await handOut();
    const { tokenStore, fail } = counting();
    await tokenStore.find(HASH, mine);
    fail();
    now += 60_000;
    expect(await v4TokenOf(tokenStore)).toBe(TOKEN);
    expect(await tokenStore.find("never seen", "x")).toBe("unknown");
    await expect(async () =>
      tokenStore.find("never seen either", createGatewayTokens("secret").create()),
    ).rejects.toThrow(TokenUnavailableError);
  });
});
