/** Which side serves a request: what has returned, who can't return, and what a client has under way. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { CLIENTS_FILE, type ClientDirectory } from "../../../src/clients/client-directory.ts";
import type { Log } from "../../../src/observability/log.ts";
import { parseOperatorFile } from "../../../src/operator-files/operator-file.ts";
import type { Compared, ComparisonResult } from "../../../src/parity/comparison.ts";
import { findJoined } from "../../../src/rollout/forgotten-clients.ts";
import { createRollout, type Rollout } from "../../../src/rollout/rollout.ts";
import { turnBack } from "../../../src/rollout/turn-back.ts";
import { rolloutFile } from "../../../src/rollout/rollout-file.ts";
import type { RolloutPlan } from "../../../src/rollout/rollout-plan.ts";
import { StateUnavailableError, type KeyValueStore } from "../../../src/storage/key-value-store.ts";
import { openSqliteKeyValueStore } from "../../../src/storage/sqlite-store.ts";

const readDirectory = (text: string): ClientDirectory =>
  parseOperatorFile({ file: "clients.yaml", text }, CLIENTS_FILE);

const CLIENTS = "billing: {}\nreports: {}\n";
const DIRECTORY = readDirectory(CLIENTS);
const ROUTES = ["GET /books", "POST /books"];
const PLAIN = { cursor: undefined, hasGatewayToken: false };
const BILLING = { label: "billing" };
const REPORTS = { label: "reports" };
const ANN = { by: "Ann", reason: null, acceptsLostWrites: false, lostWrites: 0 };

let folder: string;
let store: KeyValueStore;
let isDown: boolean;
let lines: { readonly code?: string; readonly [member: string]: unknown }[];
/** Whether the lines of a replica are kept, by its number. */
let isLogged: (replica: number) => boolean;
let started: number;
let now: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rollout-"));
  store = openSqliteKeyValueStore({ directory: folder });
  isDown = false;
  lines = [];
  isLogged = () => true;
  started = 0;
  now = 1_000_000;
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const read = (text: string): RolloutPlan =>
  parseOperatorFile(
    { file: "rollout.yaml", text },
    rolloutFile(() => ({ routes: ROUTES, directory: DIRECTORY })),
  );

/** A store that can be down. */
const fragile = (): Pick<KeyValueStore, "get" | "setIfAbsent" | "replace"> => {
  const guard =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (isDown) throw new StateUnavailableError("The state store failed");
      return call(...args);
    };
  return {
    get: guard(store.get),
    setIfAbsent: guard(store.setIfAbsent),
    replace: guard(store.replace),
  };
};

function createReplica(text: string | (() => string), directory: () => ClientDirectory): Rollout {
  const number = (started += 1);
  const write = (line: string): void => void (isLogged(number) && lines.push(JSON.parse(line)));
  const log = pino({ base: null }, { write }) as unknown as Log;
  const plans = new Map<string, RolloutPlan>();
  const plan = (): RolloutPlan => {
    const current = typeof text === "string" ? text : text();
    const found = plans.get(current) ?? read(current);
    plans.set(current, found);
    return found;
  };
  return createRollout({
    plan,
    directory,
    store: fragile(),
    log,
    clock: () => now,
    elapsed: () => now,
  });
}

async function startReplica(
  text: string | (() => string),
  directory: () => ClientDirectory = () => DIRECTORY,
): Promise<Rollout> {
  const replica = createReplica(text, directory);
  await replica.tick();
  return replica;
}

const sideOf = (replica: Rollout, identity = BILLING, route: string | null = "GET /books") =>
  replica.sideOf(identity, route, PLAIN).side;

const IS_KNOWN = (): boolean => true;

const codes = (): string[] => lines.flatMap(({ code }) => code ?? []);

const compared = (result: ComparisonResult, requestId: string): Compared => ({
  source: "legacy",
  subject: "pack data",
  route: "GET /books",
  client: "billing",
  time: now,
  requestId,
  result,
  key: requestId,
  differences: [],
});

/** Notes a comparison, for which the old service has answered. */
function see(replica: Rollout, result: ComparisonResult, requestId: string): void {
  replica.noteOld("GET /books", false, "reports");
  replica.note(compared(result, requestId));
}

const noteAll = (replica: Rollout, result: ComparisonResult, count: number): void => {
  for (let index = 1; index <= count; index += 1) see(replica, result, `${result}-${index}`);
};

const SHARED = "data: shared\nnew: all";

describe("confirmed differences", () => {
  test("turn a route back at the fourth within about 80 comparisons, on each replica, with the requests that showed it", async () => {
    const [one, other] = [await startReplica(SHARED), await startReplica(SHARED)];
    for (const id of ["a", "b", "c"]) {
      see(one, "different", id);
      noteAll(one, "equal", 20);
    }
    expect(sideOf(one)).toBe("new");
    see(one, "different", "d");
    expect(sideOf(one)).toBe("old");
    expect(sideOf(one, BILLING, "POST /books")).toBe("new");
    await one.tick();
    await other.tick();
    expect(sideOf(other)).toBe("old");
    expect(other.returns.trips()).toEqual([
      expect.objectContaining({
        kind: "route",
        name: "GET /books",
        by: "gateway",
        reason: "confirmed differences",
        records: ["a", "b", "c", "d"],
      }),
    ]);
    expect(codes()).toEqual(["AG_ROLLOUT_TURNED_BACK", "AG_ROLLOUT_TURNED_BACK"]);
  });

  test("of several replicas add up", async () => {
    const replicas = await Promise.all([SHARED, SHARED, SHARED, SHARED].map((text) => startReplica(text)));
    for (const [index, replica] of replicas.entries()) see(replica, "different", String(index));
    for (const replica of replicas) await replica.tick();
    for (const replica of replicas) await replica.tick();
    expect(replicas.map((replica) => sideOf(replica))).toEqual(["old", "old", "old", "old"]);
  });

  test("far from each other turn nothing back", async () => {
    const replica = await startReplica(SHARED);
    for (let index = 0; index < 20; index += 1) {
      see(replica, "different", String(index));
      noteAll(replica, "equal", 130);
      await replica.tick();
    }
    expect(sideOf(replica)).toBe("new");
  });

  test("of a route that nobody gets from the translation don't count", async () => {
    const replica = await startReplica("data: shared\nnew: [{ routes: [POST /books] }]");
    noteAll(replica, "different", 10);
    await replica.tick();
    expect(replica.returns.trips()).toEqual([]);
  });

  test("count by the numbers of the file", async () => {
    const replica = await startReplica(`${SHARED}\nturn_back: { differences: 2, within: 10 }`);
    see(replica, "different", "a");
    expect(sideOf(replica)).toBe("new");
    see(replica, "different", "b");
    expect(sideOf(replica)).toBe("old");
  });

  test.each(["unstable", "not_comparable", "accepted", "equal"] as const)("are not %s", async (result) => {
    const replica = await startReplica(SHARED);
    noteAll(replica, result, 10);
    expect(sideOf(replica)).toBe("new");
  });
});

describe("failures of the translation", () => {
  const fail = (replica: Rollout, count: number): void => {
    for (let index = 0; index < count; index += 1) replica.noteNew("GET /books", true, `f${index}`);
  };

  test("turn a route back to a service that is well", async () => {
    const replica = await startReplica(SHARED);
    replica.noteOld("GET /books", false, "reports");
    fail(replica, 4);
    expect(sideOf(replica)).toBe("old");
    expect(replica.returns.trips()).toEqual([
      expect.objectContaining({ reason: "failures of the translation", records: ["f0", "f1", "f2", "f3"] }),
    ]);
  });

  test("are tolerated at the old service's own rate", async () => {
    const replica = await startReplica(SHARED);
    for (let index = 0; index < 1000; index += 1) replica.noteOld("GET /books", index % 20 === 0, "reports");
    for (let index = 0; index < 2000; index += 1) replica.noteNew("GET /books", index % 20 === 0, "f");
    expect(sideOf(replica)).toBe("new");
    fail(replica, 40);
    expect(sideOf(replica)).toBe("old");
  });

  test("raise an alarm and turn nothing back while the old service is not well; later they do", async () => {
    const replica = await startReplica(SHARED);
    for (let index = 0; index < 5; index += 1) replica.noteOld("GET /books", true, "reports");
    fail(replica, 8);
    await replica.tick();
    expect([sideOf(replica), replica.returns.blocked()]).toEqual(["new", ["GET /books"]]);
    expect(codes()).toEqual(["AG_ROLLOUT_NOT_TURNED_BACK"]);
    now += 31_000;
    replica.noteOld("GET /books", false, "reports");
    await replica.tick();
    expect([sideOf(replica), replica.returns.blocked()]).toEqual(["old", []]);
  });

  /** Notes what each of these has seen of the old service: five answers. */
  const noteOld = (replica: Rollout, route: string, haveFailed: Readonly<Record<string, boolean>>): void => {
    for (const [sender, hasFailed] of Object.entries(haveFailed))
      for (let index = 0; index < 5; index += 1) replica.noteOld(route, hasFailed, sender);
  };

  /** Two senders that see the old service fail, and others that don't. */
  const amongOthers = (others: number): Readonly<Record<string, boolean>> => ({
    billing: true,
    shop: true,
    ...Object.fromEntries(Array.from({ length: others }, (_, index) => [`other ${index}`, false])),
  });

  test.each<[string, Readonly<Record<string, boolean>>, string]>([
    ["one sender sees the old service fail", { billing: true, reports: false }, "old"],
    ["several senders see the old service fail", { billing: true, shop: true, reports: false }, "new"],
    ["the only sender sees the old service fail", { billing: true }, "new"],
    ["two of eleven senders see the old service fail", amongOthers(9), "new"],
    ["two of twelve senders see the old service fail", amongOthers(10), "old"],
  ])("where %s", async (_what, haveFailed, side) => {
    const replica = await startReplica(SHARED);
    noteOld(replica, "GET /books", haveFailed);
    fail(replica, 8);
    expect(sideOf(replica)).toBe(side);
  });

  test("turn a route back on which the old service answers, though it fails on others", async () => {
    const replica = await startReplica(SHARED);
    noteOld(replica, "POST /books", { billing: true, shop: true, reports: true });
    noteOld(replica, "GET /books", { billing: false });
    fail(replica, 8);
    expect(sideOf(replica)).toBe("old");
  });

  test("turn nothing back to a service that nobody has called on the route, and that fails on others", async () => {
    const replica = await startReplica(SHARED);
    noteOld(replica, "POST /books", { billing: true, shop: true, reports: false });
    fail(replica, 8);
    expect(sideOf(replica)).toBe("new");
  });

  test("turn nothing back to a service that nobody has called for 30 s", async () => {
    const replica = await startReplica(SHARED);
    replica.noteOld("GET /books", false, "reports");
    now += 31_000;
    fail(replica, 8);
    await replica.tick();
    expect(sideOf(replica)).toBe("new");
  });
});

test("differences that one process has counted count on after it was killed", async () => {
  const killed = await startReplica(SHARED);
  noteAll(killed, "different", 3);
  await killed.tick();
  const restarted = await startReplica(SHARED);
  expect(sideOf(restarted)).toBe("new");
  see(restarted, "different", "the fourth");
  expect(sideOf(restarted)).toBe("old");
});

describe("what has returned", () => {
  test("stays over a restart, until a person resumes it", async () => {
    const replica = await startReplica(SHARED);
    noteAll(replica, "different", 4);
    await replica.tick();
    const restarted = await startReplica(SHARED);
    expect(restarted.sideOf(BILLING, "GET /books", PLAIN)).toEqual({
      client: "billing",
      side: "old",
      why: "turned back by gateway: confirmed differences",
    });
    await restarted.resume({ kind: "route", name: "GET /books", by: "Ann", reason: "fixed" });
    await replica.tick();
    expect([sideOf(restarted), sideOf(replica)]).toEqual(["new", "new"]);
    expect(replica.returns.state().events.map(({ action, by }) => [action, by])).toEqual([
      ["resume", "Ann"],
      ["turn_back", "gateway"],
    ]);
    see(replica, "different", "one more");
    expect(sideOf(replica)).toBe("new");
  });

  test("is a client, or everything, where a person says so", async () => {
    const replica = await startReplica(SHARED);
    await replica.turnBack({ kind: "client", name: "billing", ...ANN });
    expect([sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["old", "new"]);
    await replica.turnBack({ kind: "all", name: "all", ...ANN });
    expect([sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["old", "old"]);
  });
});

describe("the log of each replica", () => {
  const inLog = (): unknown[] =>
    lines.map(({ code = "resumed", kind, name, by, reason, lostWrites }) => [
      code === "AG_ROLLOUT_TURNED_BACK" ? "returned" : code,
      kind,
      name,
      by,
      reason,
      ...(lostWrites ? [lostWrites] : []),
    ]);

  test("names what a person turned back and resumed, once each, and nothing from before its start", async () => {
    const before = await startReplica(SHARED);
    await before.turnBack({ kind: "client", name: "reports", ...ANN });
    await before.resume({ kind: "client", name: "reports", by: "Ann", reason: null });
    lines = [];
    const other = await startReplica(SHARED);
    await before.turnBack({ kind: "client", name: "billing", ...ANN, reason: "wrong totals" });
    await other.tick();
    await before.resume({ kind: "client", name: "billing", by: "Ben", reason: "corrected" });
    await other.tick();
    await other.tick();
    const [returned, resumed] = [
      ["returned", "client", "billing", "Ann", "wrong totals"],
      ["resumed", "client", "billing", "Ben", "corrected"],
    ];
    expect(inLog()).toEqual([returned, returned, resumed, resumed]);
  });

  test("names both of a resume and a return that come between two looks", async () => {
    const [one, other] = [await startReplica(SHARED), await startReplica(SHARED)];
    await one.turnBack({ kind: "all", name: "all", ...ANN });
    await other.tick();
    lines = [];
    isLogged = (replica) => replica === 2;
    await one.resume({ kind: "all", name: "all", by: "Ben", reason: null });
    await one.turnBack({ kind: "all", name: "all", ...ANN, by: "Cleo" });
    await other.tick();
    expect(inLog()).toEqual([
      ["resumed", "all", "all", "Ben", null],
      ["returned", "all", "all", "Cleo", null],
    ]);
  });

  test("names a return that is repeated to accept that writes are lost", async () => {
    const replica = await startReplica(SHARED);
    await replica.turnBack({ kind: "all", name: "all", ...ANN });
    await replica.turnBack({ kind: "all", name: "all", ...ANN, acceptsLostWrites: true, lostWrites: 3 });
    expect(inLog()).toEqual([
      ["returned", "all", "all", "Ann", null],
      ["returned", "all", "all", "Ann", null, 3],
    ]);
  });
});

describe("while the state store is down", () => {
  test("a gateway that starts serves nobody from the translation", async () => {
    isDown = true;
    const replica = await startReplica(SHARED);
    expect(replica.sideOf(BILLING, "GET /books", PLAIN).side).toBe("old");
    isDown = false;
    await replica.tick();
    expect(sideOf(replica)).toBe("new");
  });

  test("what was read before counts, and a route still returns", async () => {
    const replica = await startReplica(SHARED);
    isDown = true;
    await replica.tick();
    expect(sideOf(replica)).toBe("new");
    noteAll(replica, "different", 4);
    expect(sideOf(replica)).toBe("old");
    isDown = false;
    await replica.tick();
    expect(sideOf(await startReplica(SHARED))).toBe("old");
  });

  test("a file that turns more clients waits, and one that turns fewer does not", async () => {
    let text = "data: shared\nnew: [{ clients: [billing] }]";
    const replica = await startReplica(() => text);
    isDown = true;
    await replica.tick();
    text = "data: shared\nnew: [{ clients: [reports] }]";
    expect([sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["old", "old"]);
    isDown = false;
    await replica.tick();
    expect([sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["old", "new"]);
  });

  test("each second moment, nobody moves towards the translation who has returned", async () => {
    const [replica, other] = [await startReplica(SHARED), await startReplica(SHARED)];
    const seen: string[] = [];
    for (let moment = 0; moment < 12; moment += 1) {
      isDown = moment % 2 === 1;
      if (moment === 4) await other.turnBack({ kind: "route", name: "GET /books", ...ANN });
      await replica.tick();
      seen.push(sideOf(replica));
    }
    expect(seen.join(" ")).toBe("new new new new old old old old old old old old");
  });

  test("one line of the log says it, and one that it is over", async () => {
    const replica = await startReplica(SHARED);
    isDown = true;
    await replica.tick();
    await replica.tick();
    expect(codes()).toEqual(["AG_ROLLOUT_STATE_UNKNOWN"]);
    isDown = false;
    await replica.tick();
    await replica.tick();
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringContaining("can't be read"),
      "the shared state of the rollout can be read again",
    ]);
  });
});

describe("what a client has under way", () => {
  test("a cursor goes where it came from for ten minutes after a change", async () => {
    const replica = await startReplica(SHARED);
    now += 600_000;
    const withCursor = (cursor: "old" | "new") =>
      replica.sideOf(BILLING, "GET /books", { ...PLAIN, cursor }).side;
    expect([withCursor("old"), withCursor("new")]).toEqual(["new", "new"]);
    await replica.turnBack({ kind: "all", name: "all", ...ANN });
    now += 599_000;
    expect([withCursor("old"), withCursor("new")]).toEqual(["old", "new"]);
    now += 1000;
    expect(withCursor("new")).toBe("old");
  });

  test("a token of the gateway is served by the translation, whatever has returned", async () => {
    const replica = await startReplica("data: shared");
    await replica.turnBack({ kind: "all", name: "all", ...ANN });
    const decision = replica.sideOf(BILLING, "GET /books", { ...PLAIN, hasGatewayToken: true });
    expect(decision).toEqual({ client: "billing", side: "new", why: "the gateway has issued its token" });
    await replica.noWayBack.flush();
    expect(replica.noWayBack.tokenClients()).toEqual(["billing"]);
  });
});

describe("data: replicated", () => {
  const REPLICATED = "data: { replicated: 2s }\nnew: all";

  test("a returned route takes everybody with it: a client is on one side", async () => {
    const replica = await startReplica(REPLICATED);
    noteAll(replica, "different", 4);
    expect(sideOf(replica, BILLING, "POST /books")).toBe("old");
  });

  test("a client changes once its last write is older than the lag", async () => {
    const replica = await startReplica(REPLICATED);
    const write = replica.beginWrite("billing", "new", IS_KNOWN);
    await replica.turnBack({ kind: "all", name: "all", ...ANN });
    now += 5000;
    expect([sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["new", "old"]);
    write?.end();
    now += 1999;
    expect(sideOf(replica)).toBe("new");
    now += 1;
    expect(sideOf(replica)).toBe("old");
  });

  test("a client that never stops to write changes nevertheless", async () => {
    const replica = await startReplica(REPLICATED);
    await replica.turnBack({ kind: "all", name: "all", ...ANN });
    replica.beginWrite("billing", "new", IS_KNOWN)?.end();
    for (let second = 0; second < 10; second += 1) {
      replica.beginWrite("billing", replica.sideOf(BILLING, null, PLAIN).side, IS_KNOWN)?.end();
      now += 1000;
    }
    expect(sideOf(replica)).toBe("old");
  });
});

describe("data: separate", () => {
  const SEPARATE = "data: separate\nnew: [{ clients: [billing, reports] }]";

  test("a client that has written stays, also on other replicas and over a restart; an alarm says so", async () => {
    let text = SEPARATE;
    const [one, other] = [await startReplica(() => text), await startReplica(() => text)];
    await one.beginWrite("billing", "new", IS_KNOWN)?.ready;
    await other.tick();
    noteAll(other, "different", 4);
    await other.tick();
    await one.tick();
    for (const replica of [one, other, await startReplica(SEPARATE)]) {
      expect([sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["new", "old"]);
      expect(replica.sideOf(BILLING, null, PLAIN).why).toBe("it has written to the new service");
    }
    expect(codes()).toContain("AG_ROLLOUT_NO_WAY_BACK");
    text = "data: separate";
    expect(sideOf(one)).toBe("new");
  });

  test("the first write is stored before it is sent, and all are counted", async () => {
    const replica = await startReplica(SEPARATE);
    await replica.beginWrite("billing", "new", IS_KNOWN)?.ready;
    expect((await startReplica(SEPARATE)).noWayBack.writesOf("billing")?.count).toBe(1);
    expect(replica.beginWrite("billing", "new", IS_KNOWN)?.ready).toBeUndefined();
    expect(replica.beginWrite("billing", "old", IS_KNOWN)).toBeUndefined();
    await replica.tick();
    expect((await startReplica(SEPARATE)).noWayBack.writesOf("billing")?.count).toBe(2);
  });

  test("who accepts that writes are lost turns a client back", async () => {
    const replica = await startReplica(SEPARATE);
    await replica.beginWrite("billing", "new", IS_KNOWN)?.ready;
    await replica.turnBack({ kind: "client", name: "billing", ...ANN });
    expect(sideOf(replica)).toBe("new");
    await replica.turnBack({ kind: "client", name: "billing", ...ANN, acceptsLostWrites: true });
    await replica.noWayBack.forgetWrites("billing");
    expect(sideOf(replica)).toBe("old");
    expect(replica.noWayBack.writesOf("billing")).toBeUndefined();
  });

  test("a first write is sent, and remembered, while the store is down", async () => {
    const replica = await startReplica(SEPARATE);
    isDown = true;
    await replica.beginWrite("billing", "new", IS_KNOWN)?.ready;
    expect(replica.noWayBack.writesOf("billing")?.count).toBe(1);
    isDown = false;
    await replica.tick();
    expect((await startReplica(SEPARATE)).noWayBack.writesOf("billing")?.count).toBe(1);
  });
});

describe("data: separate, and clients that get a name", () => {
  const SEPARATE = "data: separate\nnew: all";
  const NOBODY = "data: separate";
  const SHOP = { label: "shop" };
  const WITH_SHOP = readDirectory(`${CLIENTS}shop: {}\n`);
  const EVERYTHING = { kind: "all", name: "all", ...ANN } as const;

  const write = (replica: Rollout, client: string | undefined): Promise<void> | undefined =>
    replica.beginWrite(client, "new", IS_KNOWN)?.ready;

  test("after clients without one have written: it stays like them, also over a restart; one that had its name before returns", async () => {
    let [text, directory] = [SEPARATE, DIRECTORY];
    const replica = await startReplica(
      () => text,
      () => directory,
    );
    await write(replica, undefined);
    directory = WITH_SHOP;
    await replica.turnBack(EVERYTHING);
    const restarted = await startReplica(
      () => text,
      () => WITH_SHOP,
    );
    for (const each of [replica, restarted]) {
      expect([sideOf(each, SHOP), sideOf(each), sideOf(each, { label: "" })]).toEqual(["new", "old", "new"]);
      expect(each.sideOf(SHOP, null, PLAIN).why).toBe(
        "it may have written to the new service before CLIENTS_FILE had it like this",
      );
    }
    expect(lines.filter(({ code }) => code === "AG_ROLLOUT_NO_WAY_BACK")).toEqual([
      expect.objectContaining({ clients: 2, names: ["?", "shop"], writes: 1 }),
      expect.objectContaining({ clients: 2, names: ["?", "shop"], writes: 1 }),
    ]);
    await replica.resume({ kind: "all", name: "all", by: "Ann", reason: null });
    text = NOBODY;
    expect([sideOf(replica, SHOP), sideOf(replica)]).toEqual(["new", "old"]);
  });

  test("before clients without one have written: it returns", async () => {
    const replica = await startReplica(SEPARATE, () => WITH_SHOP);
    await write(replica, undefined);
    await write(replica, "billing");
    await replica.turnBack(EVERYTHING);
    expect([sideOf(replica, SHOP), sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["old", "new", "old"]);
  });

  test("the name counts once all replicas have it on which clients without one write", async () => {
    const ahead = await startReplica(SEPARATE, () => WITH_SHOP);
    const behind = await startReplica(SEPARATE);
    await write(ahead, undefined);
    await ahead.turnBack(EVERYTHING);
    expect(sideOf(ahead, SHOP)).toBe("old");
    void write(behind, undefined);
    await behind.tick();
    await ahead.tick();
    expect([sideOf(ahead, SHOP), sideOf(ahead)]).toEqual(["new", "old"]);
  });

  test("while the store is down: it stays as well", async () => {
    let directory = DIRECTORY;
    const replica = await startReplica(SEPARATE, () => directory);
    isDown = true;
    await write(replica, undefined);
    directory = WITH_SHOP;
    isDown = false;
    await replica.turnBack(EVERYTHING);
    expect([sideOf(replica, SHOP), sideOf(replica)]).toEqual(["new", "old"]);
  });

  test("a write that the new service has not done does not count", async () => {
    let directory = DIRECTORY;
    const replica = await startReplica(SEPARATE, () => directory);
    const begun = replica.beginWrite(undefined, "new", IS_KNOWN);
    await begun?.ready;
    directory = WITH_SHOP;
    begun?.settle(false);
    await replica.turnBack(EVERYTHING);
    expect(sideOf(replica, SHOP)).toBe("old");
  });

  test("who accepts lost writes of such a client turns it back for good, and no other one", async () => {
    let directory = DIRECTORY;
    const replica = await startReplica(SEPARATE, () => directory);
    await write(replica, undefined);
    directory = readDirectory(`${CLIENTS}shop: {}\nsums: {}\n`);
    const order = { kind: "client", name: "shop", by: "Ann", reason: null } as const;
    await expect(turnBack(replica, directory, order, false)).rejects.toThrow(
      "shop may be one of the clients without a name that have written 1 times to the new service",
    );
    await turnBack(replica, directory, order, true);
    await replica.turnBack(EVERYTHING);
    expect(["shop", "sums", "billing"].map((label) => sideOf(replica, { label }))).toEqual([
      "old",
      "new",
      "old",
    ]);
    await replica.resume({ ...order, reason: null });
    expect(sideOf(replica, SHOP)).toBe("old");
    expect(replica.noWayBack.writers()).toEqual({ "?": expect.objectContaining({ count: 1 }) });
  });

  test("a client that gets a token later stays where the file has it: at the new service whatever returns, else at the old one", async () => {
    let [text, directory] = [SEPARATE, DIRECTORY];
    const replica = await startReplica(
      () => text,
      () => directory,
    );
    await write(replica, undefined);
    directory = readDirectory(`billing: { tokens: [0123456789abcdef] }\nreports: { note: new }\n`);
    await replica.turnBack(EVERYTHING);
    expect([sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["new", "old"]);
    expect(findJoined(replica, directory)).toEqual([]);
    text = NOBODY;
    expect(sideOf(replica)).toBe("old");
    expect(findJoined(replica, directory).map(({ client }) => client)).toEqual(["billing"]);
  });

  test("an application that gets one keeps its writes and its return", async () => {
    let [text, directory] = [SEPARATE, DIRECTORY];
    const replica = await startReplica(
      () => text,
      () => directory,
    );
    await write(replica, "application:app-1");
    await replica.turnBack({ kind: "client", name: "application:app-2", ...ANN });
    directory = readDirectory(`${CLIENTS}shop: { applications: [app-1] }\nsums: { applications: [app-2] }\n`);
    expect(sideOf(replica, { label: "sums" })).toBe("old");
    text = NOBODY;
    expect(sideOf(replica, SHOP)).toBe("new");
    const order = { kind: "client", name: "shop", by: "Ann", reason: null } as const;
    await expect(turnBack(replica, directory, order, false)).rejects.toThrow("shop has written 1 times");
    await turnBack(replica, directory, order, true);
    expect(sideOf(replica, SHOP)).toBe("old");
    expect(replica.noWayBack.writers()).toEqual({});
  });
});
