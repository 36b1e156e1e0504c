/** Tokens that live as alpha's did (lesson L24): v4's end after two hours, alpha's never told a client about an end. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPack } from "../../../src/mapping/load/load-pack.ts";
import type { KeyValueStore } from "../../../src/storage/key-value-store.ts";
import { openSqliteStore, STATE_FILE } from "../../../src/storage/sqlite-store.ts";
import { tokenHash } from "../../../src/auth/token-hash.ts";
import { createTokenRecords } from "../../../src/auth/token-records.ts";
import type { IssuedToken, RefreshCredentials } from "../../../src/auth/stored-token.ts";
import { createTokenStore, TokenUnavailableError, type TokenStore } from "../../../src/auth/token-store.ts";
import { createGatewayTokens } from "../../../src/auth/gateway-tokens.ts";
import { createTokenRefresh } from "../../../src/auth/token-refresh.ts";
import { createEncryptor } from "../../../src/auth/encryption.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";

const { scopes } = loadPack("mappings");
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

  renew = async (credentials: RefreshCredentials): Promise<IssuedToken | undefined> => {
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
/** By how much somebody has set the time of day. */
let setBy: number;
let open: KeyValueStore[];
let books: TokenStore[];
let troubles: unknown[];

/** The book of one process; all of them share the store. */
function process(secret = "secret", wrap = (store: KeyValueStore): KeyValueStore => store): TokenStore {
  const opened = openSqliteStore({ directory });
  open.push(opened);
  const store = wrap(opened);
  const elapsed = () => now;
  const clock = () => now + setBy;
  const own = createGatewayTokens(secret);
  const records = createTokenRecords({ store, encryptor: createEncryptor(secret), own, size: 100, elapsed });
  const renew = createTokenRefresh({ records, store, issuer, scopes, clock });
  return createTokenStore({
    records,
    own,
    refresh: renew,
    scopes,
    clock,
    elapsed,
    onError: (error) => troubles.push(error),
  });
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "grants-"));
  issuer = new Issuer();
  now = Date.parse("2026-05-20T12:00:00Z");
  setBy = 0;
  open = [];
  troubles = [];
  books = [process(), process()];
});
afterEach(async () => {
  for (const store of open) await store.close();
  await rm(directory, { recursive: true });
});

const first = (): TokenStore => books[0] as TokenStore;
const second = (): TokenStore => books[1] as TokenStore;
/** v4's, and the gateway's own that a client has in its place. */
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
  mine = await first().save(issued, { scopes: scope, refresh: refreshing ?? undefined, at: now });
  HASH = tokenHash(mine);
}

/** What v4 is shown for the client's token. */
async function shown(book = first()): Promise<string> {
  const found = await book.find(HASH, mine);
  if (found === undefined || found === "unknown") return String(found);
  return found.isRevoked ? "over" : found.token;
}

describe("a token that was handed out", () => {
  test("is known at every process, with its levels", async () => {
    await handOut();
    for (const book of books) {
      const found = await book.find(HASH, mine);
      expect(found).toMatchObject({
        token: TOKEN,
        hash: `${HASH}.${tokenHash(TOKEN)}`,
        isRevoked: false,
        levels: new Map([["vms", 1]]),
      });
    }
  });

  test("survives a restart", async () => {
    await handOut();
    expect(await shown(process())).toBe(TOKEN);
  });

  test("nothing of it stands in the store in the clear", async () => {
    await handOut();
    for (const store of open) await store.close();
    const bytes = await readFile(join(directory, STATE_FILE), "latin1");
    for (const secret of [mine, TOKEN, refresh.token, refresh.secret, "vms:modify"])
      expect(bytes).not.toContain(secret);
  });

  test("may do nothing where another secret is set", async () => {
    await handOut();
    expect(await shown(process("another secret"))).toBe("over");
  });

  test("is a token of the gateway's own, of the form that alpha's have", async () => {
    await handOut();
    expect(mine).toMatch(/^[0-9a-f]{64}$/);
    expect(createGatewayTokens("secret").isOwn(mine)).toBe(true);
    expect(createGatewayTokens("another secret").isOwn(mine)).toBe(false);
    for (const at of [0, 31, 32, 63]) {
      const digit = mine[at] === "0" ? "1" : "0";
      expect(createGatewayTokens("secret").isOwn(mine.slice(0, at) + digit + mine.slice(at + 1))).toBe(false);
    }
  });

  test("has ended where its record is lost, at a process that never saw it and at one that did", async () => {
    await handOut();
    await open[0]?.delete(`grant:${HASH}`);
    expect(await shown(second())).toBe("over");
    expect(await shown(first())).toBe(TOKEN);
    now += 3001;
    expect(await shown(first())).toBe("over");
  });

  test("of an earlier version is v4's own, and works on until its record is lost where it was seen", async () => {
    const hash = tokenHash("v4's own");
    const key = `grant:${hash}`;
    const sealed = createEncryptor("secret").encrypt(JSON.stringify({ scopes: "vms:modify" }), key);
    await open[0]?.set(key, sealed, 600);
    expect(await first().find(hash, "v4's own")).toMatchObject({
      token: "v4's own",
      levels: new Map([["vms", 1]]),
    });
    await open[0]?.delete(key);
    now += 3001;
    expect(await first().find(hash, "v4's own")).toMatchObject({ isRevoked: true });
  });

  test("a token that was never handed out is none", async () => {
    expect(await first().find(tokenHash("other"), "other")).toBeUndefined();
  });
});

describe("near its end", () => {
  test("is not renewed before the last ten minutes", async () => {
    await handOut();
    now += HOURS_2 - 601_000;
    expect(await shown()).toBe(TOKEN);
    expect(issuer.renewed).toEqual([]);
  });

  test("is renewed in the background: nobody waits while the old one works", async () => {
    await handOut();
    const gate = Promise.withResolvers<void>();
    issuer.gate = gate.promise;
    now += HOURS_2 - 300_000;
    expect(await shown()).toBe(TOKEN);
    gate.resolve();
    await waitFor(async () => (await shown()) === "access-1");
    expect(issuer.renewed).toEqual([refresh]);
    expect(await shown()).toBe("access-1");
  });

  test("one flight renews it, however many ask at how many processes", async () => {
    await handOut();
    now += HOURS_2 + 1000;
    const asked = Array.from({ length: 40 }, (_, n) => shown(n % 2 ? first() : second()));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["access-1"]));
    expect(issuer.renewed).toHaveLength(1);
  });

  test("lives on, end after end, long after the first", async () => {
    await handOut();
    for (let n = 1; n <= 5; n += 1) {
      now += HOURS_2 + 1000;
      expect(await shown(n % 2 ? first() : second())).toBe(`access-${n}`);
    }
  });

  test("its levels never rise, and fall with what is granted", async () => {
    await handOut("vms:modify");
    issuer.granted = "*";
    now += HOURS_2;
    expect(await first().find(HASH, mine)).toMatchObject({ levels: new Map([["vms", 1]]) });
    issuer.granted = "vms:read_only";
    now += HOURS_2;
    expect(await first().find(HASH, mine)).toMatchObject({ levels: new Map([["vms", 0]]) });
  });

  test("without a refresh token it ends with v4's, and v4 says so", async () => {
    await handOut("vms:modify", null);
    now += 2 * HOURS_2;
    expect(await shown()).toBe(TOKEN);
    expect(issuer.renewed).toEqual([]);
  });
});

describe("when renewing fails", () => {
  test("a refusal ends the token, everywhere and for good", async () => {
    await handOut();
    issuer.state = "refusing";
    now += HOURS_2;
    expect(await shown()).toBe("over");
    issuer.state = "up";
    now += 60_000;
    expect(await shown(second())).toBe("over");
    expect(issuer.renewed).toHaveLength(1);
  });

  test("while the login server is down the old token is used as long as it works, and renewing tried again", async () => {
    await handOut();
    issuer.state = "down";
    now += HOURS_2 - 300_000;
    expect(await shown()).toBe(TOKEN);
    await waitFor(() => troubles.length === 1);
    expect(await shown()).toBe(TOKEN);
    expect(issuer.renewed).toHaveLength(1);
    issuer.state = "up";
    now += 10_000;
    expect(await shown()).toBe(TOKEN);
    await waitFor(async () => (await shown()) === "access-2");
  });

  test("an end in that time is no refusal of the token", async () => {
    await handOut();
    issuer.state = "down";
    now += HOURS_2;
    await expect(shown()).rejects.toThrow(TokenUnavailableError);
    issuer.state = "up";
    now += 10_000;
    expect(await shown()).toBe("access-2");
  });

  test("a process that dies at it holds nobody up for longer than its lock", async () => {
    await handOut();
    await open[0]?.setIfAbsent(`renewing:${HASH}`, "", 1);
    now += HOURS_2 - 300_000;
    expect(await shown()).toBe(TOKEN);
    await waitFor(async () => {
      now += 6000;
      return (await shown()) !== TOKEN;
    });
  });

  test("what was lost between the login server and the store ends the token at its next renewal", async () => {
    await handOut();
    // The login server has given the next token, and the process died before the store had it.
    await issuer.renew(refresh);
    now += HOURS_2 - 300_000;
    expect(await shown()).toBe(TOKEN);
    await waitFor(async () => (await shown()) === "over");
  });
});

describe("a token that v4 refuses before its end", () => {
  const other = () => first().findReplacement(HASH, mine, `${HASH}.${tokenHash(TOKEN)}`);

  test("is renewed once, however many ask", async () => {
    await handOut();
    const found = await Promise.all(Array.from({ length: 20 }, other));
    expect(new Set(found.map((each) => each?.token))).toEqual(new Set(["access-1"]));
    expect(issuer.renewed).toEqual([refresh]);
  });

  test("is not renewed where another process has done so", async () => {
    await handOut();
    await second().findReplacement(HASH, mine, `${HASH}.${tokenHash(TOKEN)}`);
    expect(await other()).toMatchObject({ token: "access-1" });
    expect(issuer.renewed).toHaveLength(1);
  });

  test("is not renewed again for half a minute, whatever v4 says to the next one", async () => {
    await handOut();
    await other();
    const next = () => first().findReplacement(HASH, mine, `${HASH}.${tokenHash("access-1")}`);
    expect(await next()).toBeUndefined();
    now += 29_000;
    expect(await next()).toBeUndefined();
    now += 2000;
    expect(await next()).toMatchObject({ token: "access-2" });
  });

  test("is not renewed without a refresh token", async () => {
    await handOut("vms:modify", null);
    expect(await other()).toBeUndefined();
    expect(issuer.renewed).toEqual([]);
  });
});

describe("the lock of a renewal", () => {
  test("that took longer than its lock lasts releases none that is another's by then", async () => {
    await handOut();
    const gate = Promise.withResolvers<void>();
    issuer.gate = gate.promise;
    now += HOURS_2;
    const renewing = shown();
    await waitFor(() => issuer.renewed.length === 1);
    const lock = `renewing:${HASH}`;
    const holder = (await open[0]?.get(lock)) ?? "";
    expect(holder).not.toBe("");
    await open[0]?.set(lock, "another's", 60);
    gate.resolve();
    await renewing;
    expect(await open[0]?.get(lock)).toBe("another's");
  });

  test("is released when it is over", async () => {
    await handOut();
    now += HOURS_2;
    expect(await shown()).toBe("access-1");
    expect(await open[0]?.get(`renewing:${HASH}`)).toBeUndefined();
  });
});

describe("an expired token", () => {
  test("is refused here at once, and elsewhere within seconds", async () => {
    await handOut();
    expect(await shown(second())).toBe(TOKEN);
    await first().revoke(HASH);
    expect(await shown(first())).toBe("over");
    now += 3001;
    expect(await shown(second())).toBe("over");
  });

  test("stays expired when a renewal was under way, and the new token is given back", async () => {
    await handOut();
    const gate = Promise.withResolvers<void>();
    issuer.gate = gate.promise;
    now += HOURS_2;
    const renewing = shown(first());
    await waitFor(() => issuer.renewed.length === 1);
    await second().revoke(HASH);
    gate.resolve();
    expect(await renewing).toBe("over");
    expect(issuer.discarded.map(({ token }) => token)).toEqual(["access-1"]);
    now += 60_000;
    for (const book of books) expect(await shown(book)).toBe("over");
  });
});

describe("the copy in a process", () => {
  const counting = (): { book: TokenStore; reads: () => number; fail: () => void } => {
    let reads = 0;
    let failing = false;
    const book = process("secret", (store) => ({
      ...store,
      get: (key) => {
        reads += 1;
        return failing ? Promise.reject(new Error("the store is down")) : store.get(key);
      },
    }));
    return { book, reads: () => reads, fail: () => (failing = true) };
  };

  test("answers without a wait, and asks the store again after seconds", async () => {
    await handOut();
    const { book, reads } = counting();
    await book.find(HASH, mine);
    for (let n = 0; n < 100; n += 1) expect(book.find(HASH, mine)).not.toBeInstanceOf(Promise);
    expect(reads()).toBe(1);
    now += 3001;
    await book.find(HASH, mine);
    expect(reads()).toBe(2);
  });

  test("so it does when the time of day was set back by hours", async () => {
    await handOut();
    const { book, reads } = counting();
    await book.find(HASH, mine);
    setBy = -HOURS_2;
    now += 3001;
    await book.find(HASH, mine);
    expect(reads()).toBe(2);
  });

  test("so it does for tokens that were never handed out, for a minute", async () => {
    const { book, reads } = counting();
    await book.find("hash", "token");
    now += 50_000;
    expect(book.find("hash", "token")).toBeUndefined();
    expect(reads()).toBe(1);
  });

  test("is used on while the store is down; what nobody can tell is not guessed", async () => {
    await handOut();
    const { book, fail } = counting();
    await book.find(HASH, mine);
    fail();
    now += 60_000;
    expect(await shown(book)).toBe(TOKEN);
    expect(await book.find("never seen", "x")).toBe("unknown");
    await expect(async () =>
      book.find("never seen either", createGatewayTokens("secret").make()),
    ).rejects.toThrow(TokenUnavailableError);
  });
});
