/** Which side serves a request: what has returned, who can't return, and what a client has under way. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import pino from "pino";
import { CLIENTS_FILE, type ClientDirectory } from "../../../src/audit/clients/client-directory.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import type { Compared, ComparisonResult } from "../../../src/compare/answers/comparison.ts";
import { createRollout, type Rollout } from "../../../src/migration/rollout/sides.ts";
import { rolloutFile } from "../../../src/migration/rollout/file.ts";
import type { RolloutConfig } from "../../../src/migration/rollout/rules.ts";
import { StateUnavailableError, type KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";

const readDirectory = (text: string): ClientDirectory =>
  parseOperatorFile({ file: "clients.yaml", text }, CLIENTS_FILE);

const CLIENTS = "billing: {}\nreports: {}\n";
const DIRECTORY = readDirectory(CLIENTS);
const ROUTES = ["GET /books", "POST /books"];
const PLAIN = { cursor: undefined, hasGatewayToken: false, findWriter: () => undefined };
const BILLING = { label: "billing" };
const REPORTS = { label: "reports" };
/** The fingerprint of a token that a service has accepted. */
const TOKEN = "3f2a";
const ANN = { by: "Ann", reason: null };

let folder: string;
let store: KeyValueStore;
let isDown: boolean;
let lines: { readonly code?: string; readonly [member: string]: unknown }[];
/** Whether the lines of a replica are kept, by its number. */
let isLogged: (replica: number) => boolean;
let started: number;
let now: number;
beforeEach(() => {
  folder = temporaryFolder();
  store = openSqliteKeyValueStore({ directory: folder });
  isDown = false;
  lines = [];
  isLogged = () => true;
  started = 0;
  now = 1_000_000;
});
afterEach(async () => {
  await store.close();
});

const read = (text: string): RolloutConfig =>
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

/** A rollout, with what a gateway does at intervals: a store that fails changes nothing. */
interface Replica extends Rollout {
  tick(): Promise<void>;
}

function createReplica(text: string | (() => string), directory: () => ClientDirectory): Replica {
  const number = (started += 1);
  const write = (line: string): void => void (isLogged(number) && lines.push(JSON.parse(line)));
  const log = pino({ base: null }, { write }) as unknown as Log;
  const configs = new Map<string, RolloutConfig>();
  const config = (): RolloutConfig => {
    const current = typeof text === "string" ? text : text();
    const found = configs.get(current) ?? read(current);
    configs.set(current, found);
    return found;
  };
  const rollout = createRollout({
    config,
    directory,
    store: fragile(),
    log,
    clock: () => now,
    elapsed: () => now,
  });
  return { ...rollout, tick: () => rollout.sync().catch(() => {}) };
}

async function startReplica(
  text: string | (() => string),
  directory: () => ClientDirectory = () => DIRECTORY,
): Promise<Replica> {
  const replica = createReplica(text, directory);
  await replica.tick();
  return replica;
}

const sideOf = (replica: Rollout, identity = BILLING, route: string | null = "GET /books") =>
  replica.sideOf(identity, route, { ...PLAIN, findWriter: () => TOKEN }).side;

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
function see(replica: Rollout, result: ComparisonResult, requestId: string, client = "billing"): void {
  replica.noteOld("GET /books", false, "reports");
  replica.note(compared(result, requestId), client);
}

const noteAll = (replica: Rollout, result: ComparisonResult, count: number, client = "billing"): void => {
  for (let index = 1; index <= count; index += 1) see(replica, result, `${result}-${index}`, client);
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

  test("count by the file's limits", async () => {
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

const fail = (replica: Rollout, count = 4): void => {
  for (let index = 0; index < count; index += 1) replica.noteNew("GET /books", true, `f${index}`, "billing");
};

describe("failures of the translation", () => {
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
    for (let index = 0; index < 1000; index += 1) replica.noteOld("GET /books", index % 20 === 0, "billing");
    for (let index = 0; index < 2000; index += 1)
      replica.noteNew("GET /books", index % 20 === 0, "f", "billing");
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

  type Seen = Readonly<Record<string, boolean>>;
  test.each<[string, Seen, "old" | "new", Seen?]>([
    ["one sender sees the old service fail", { billing: true, reports: false }, "old"],
    ["several senders see the old service fail", { billing: true, shop: true, reports: false }, "new"],
    ["the only sender sees the old service fail", { billing: true }, "new"],
    ["two of eleven senders see the old service fail", amongOthers(9), "new"],
    ["two of twelve senders see the old service fail", amongOthers(10), "old"],
    ["the only sender sees it fail, and another route answers", { shop: true }, "old", { reports: false }],
    [
      "it answers, and fails on others",
      { billing: false },
      "old",
      { billing: true, shop: true, reports: true },
    ],
    [
      "nobody has called it, and it fails on others",
      {},
      "new",
      { billing: true, shop: true, reports: false },
    ],
  ])("where %s", async (_what, haveFailed, side, onAnotherRoute = {}) => {
    const replica = await startReplica(SHARED);
    noteOld(replica, "GET /books", haveFailed);
    noteOld(replica, "POST /books", onAnotherRoute);
    fail(replica, 8);
    expect(sideOf(replica)).toBe(side);
  });

  test("return nothing to a service that no client has called for 30 s", async () => {
    const replica = await startReplica(SHARED);
    replica.noteOld("GET /books", false, "reports");
    now += 31_000;
    fail(replica, 8);
    await replica.tick();
    expect(sideOf(replica)).toBe("new");
  });
});

describe("clients count, not requests", () => {
  const hasReturned = (replica: Rollout): boolean => sideOf(replica) === "old";

  /** Notes requests of clients in turns, as often as the numbers say: above 0 they fail, below 0 they succeed. */
  function noteTurns(replica: Rollout, turns: number, clients: Readonly<Record<string, number>>): void {
    for (let turn = 0; turn < turns; turn += 1) {
      replica.noteOld("GET /books", false, "somebody");
      for (const [client, count] of Object.entries(clients))
        for (let index = 0; index < Math.abs(count); index += 1)
          replica.noteNew("GET /books", count > 0, `${client}-${turn}`, client);
    }
  }

  test.each<[string, Readonly<Record<string, number>>, number, boolean]>([
    ["the only client fails", { a: 1 }, 3, false],
    ["the only client fails once more", { a: 1 }, 4, true],
    ["one of two fails", { b: -1, a: 1 }, 100, false],
    ["one of two fails a hundred times as often", { b: -1, a: 100 }, 20, false],
    ["both of two fail", { a: 1, b: 1 }, 2, true],
    ["one of three fails", { b: -1, c: -1, a: 100 }, 20, false],
    ["two of three fail", { c: -1, a: 1, b: 1 }, 4, true],
    ["two of three fail, and the third succeeds a hundred times as often", { c: -100, a: 1, b: 1 }, 4, true],
    ["all of four fail", { a: 1, b: 1, c: 1, d: 1 }, 1, true],
    [
      "half of ten fail, and others succeed a hundred times as often",
      { a: 1, b: 1, c: 1, d: 1, e: 1, f: -100, g: -100, h: -1, i: -1, j: -1 },
      6,
      true,
    ],
  ])("where %s", async (_what, clients, turns, expected) => {
    const replica = await startReplica(SHARED);
    noteTurns(replica, turns, clients);
    expect(hasReturned(replica)).toBe(expected);
  });

  test.each<[number, number, boolean]>([
    [2, 2, true],
    [2, 3, false],
    [3, 6, true],
    [3, 7, false],
    [3, 200, false],
    [6, 200, false],
    [7, 200, true],
  ])("where %i fail and %i have succeeded once", async (failing, succeeding, expected) => {
    const replica = await startReplica(SHARED);
    for (let index = 0; index < succeeding; index += 1) noteTurns(replica, 1, { [`served ${index}`]: -1 });
    for (let index = 0; index < 20; index += 1)
      for (let client = 0; client < failing; client += 1) noteTurns(replica, 1, { [`failing ${client}`]: 1 });
    expect(hasReturned(replica)).toBe(expected);
  });

  test("also for differences, and on all replicas together", async () => {
    const replicas = await Promise.all([SHARED, SHARED].map((text) => startReplica(text)));
    const [one, other] = replicas;
    see(one!, "equal", "equal", "reports");
    await one!.tick();
    await other!.tick();
    noteAll(other!, "different", 20, "billing");
    await other!.tick();
    expect(hasReturned(other!)).toBe(false);
    noteAll(one!, "different", 4, "reports");
    await one!.tick();
    await other!.tick();
    expect(replicas.map(hasReturned)).toEqual([true, true]);
  });

  test("unknown senders prove nothing", async () => {
    const replica = await startReplica(SHARED);
    replica.noteOld("GET /books", false, "somebody");
    for (let index = 0; index < 50; index += 1) {
      replica.noteNew("GET /books", true, "x", undefined);
      replica.note(compared("different", "x"), undefined);
    }
    expect(replica.returns.state().scores).toEqual({});
    noteTurns(replica, 3, { a: 1 });
    for (let index = 0; index < 500; index += 1) replica.noteNew("GET /books", false, "x", undefined);
    noteTurns(replica, 1, { a: 1 });
    expect(hasReturned(replica)).toBe(true);
  });

  test("a client that has not called for half an hour can't keep a route", async () => {
    const replica = await startReplica(SHARED);
    noteTurns(replica, 20, { b: -1, a: 1 });
    await replica.tick();
    expect(hasReturned(replica)).toBe(false);
    now += 1_801_000;
    noteTurns(replica, 1, { a: 1 });
    await replica.tick();
    expect(hasReturned(replica)).toBe(true);
  });

  test("failures hours apart add up", async () => {
    const replica = await startReplica(SHARED);
    for (let hour = 0; hour < 4; hour += 1) {
      now += 3_600_000;
      noteTurns(replica, 1, { a: 1 });
      await replica.tick();
    }
    expect(hasReturned(replica)).toBe(true);
  });

  test("after a person has resumed a route, one client of several still can't turn it back", async () => {
    const replica = await startReplica(SHARED);
    noteTurns(replica, 4, { a: 1, b: 1 });
    await replica.tick();
    expect(hasReturned(replica)).toBe(true);
    await replica.resume({ kind: "route", name: "GET /books", by: "Ann", reason: null });
    noteTurns(replica, 10, { a: 1 });
    expect(hasReturned(replica)).toBe(false);
  });

  test.each([1, 100])(
    "what is stored of a route stays small as one client makes %i times more names",
    async (growth) => {
      const replica = await startReplica(SHARED);
      for (let index = 0; index < 5 * growth; index += 1) noteTurns(replica, 1, { [`healthy ${index}`]: -1 });
      await replica.tick();
      expect(replica.returns.state().scores["GET /books"]?.failures).toHaveLength(Math.min(20, 5 * growth));
      for (let index = 0; index < 5 * growth; index += 1)
        replica.noteNew("GET /books", true, "x", `${index}`);
      await replica.tick();
      const { failures = [] } = replica.returns.state().scores["GET /books"] ?? {};
      expect(failures.length).toBeLessThanOrEqual(50);
    },
  );

  test.each<[string, Readonly<Record<string, number>>, string, boolean]>([
    ["one of three clients of the old service", { a: 20, b: 0, c: 0 }, "b", true],
    ["two of three clients of the old service", { a: 20, b: 10, c: 0 }, "b", false],
    ["another client, which alone calls the old service", { a: 20 }, "b", true],
    ["the same client, which alone calls the old service", { a: 10 }, "a", false],
  ])("a rate of failures that %s has seen", async (_who, failed, client, isIntolerable) => {
    const replica = await startReplica(SHARED);
    for (const [sender, count] of Object.entries(failed))
      for (let index = 0; index < 20; index += 1) replica.noteOld("GET /books", index < count, sender);
    now += 31_000;
    for (let index = 0; index < 20; index += 1) {
      replica.noteOld("POST /books", false, "somebody");
      replica.noteNew("GET /books", index % 2 === 0, "x", client);
    }
    expect(hasReturned(replica)).toBe(isIntolerable);
  });
});

describe("an old service that hangs", () => {
  /** All of these were answered within the last seconds. */
  async function startAnswered(clients: readonly string[]): Promise<Replica> {
    const replica = await startReplica(SHARED);
    for (const client of clients)
      for (let index = 0; index < 100; index += 1) replica.noteOld("GET /books", false, client);
    now += 1000;
    return replica;
  }

  test.each([1, 40])("gets nothing back two seconds after it answered %i clients", async (count) => {
    const clients = Array.from({ length: count }, (_, index) => `client ${index}`);
    const replica = await startAnswered(clients);
    const end = replica.beginOld("GET /books", () => "client 0");
    now += 2000;
    fail(replica);
    await replica.tick();
    expect([sideOf(replica), replica.returns.blocked()]).toEqual(["new", ["GET /books"]]);
    end();
    await replica.tick();
    expect([sideOf(replica), replica.returns.blocked()]).toEqual(["old", []]);
  });

  test("is not well for other routes either", async () => {
    const replica = await startAnswered(["billing", "reports"]);
    replica.beginOld("POST /books", () => "billing");
    now += 2000;
    fail(replica);
    expect(sideOf(replica)).toBe("new");
  });

  test.each<[string, () => string | undefined]>([
    ["of one client", () => "shop"],
    ["of a stranger", () => undefined],
  ])("with a call %s, and answers others meanwhile, is well", async (_whose, client) => {
    const replica = await startAnswered(["billing", "reports"]);
    replica.beginOld("GET /books", client);
    now += 2000;
    if (client() !== undefined) replica.noteOld("GET /books", false, "reports");
    fail(replica);
    expect(sideOf(replica)).toBe("old");
  });

  test.each([1, 100])("is well for a route where %i calls of only one client wait", async (count) => {
    const replica = await startReplica(SHARED);
    for (let index = 0; index < count; index += 1) replica.beginOld("GET /books", () => "shop");
    now += 2000;
    replica.noteOld("POST /books", false, "reports");
    fail(replica);
    expect(sideOf(replica)).toBe("old");
  });

  test("is well where one client begins further calls, and others were answered since it waits", async () => {
    const replica = await startAnswered(["billing", "reports"]);
    replica.beginOld("GET /books", () => "shop");
    now += 1000;
    replica.noteOld("GET /books", false, "reports");
    for (let index = 0; index < 100; index += 1) replica.beginOld("GET /books", () => "shop");
    now += 2000;
    fail(replica);
    expect(sideOf(replica)).toBe("old");
  });

  test("for two clients of a route, and answers one on another route, is not well", async () => {
    const replica = await startReplica(SHARED);
    for (const client of ["billing", "shop"]) replica.beginOld("GET /books", () => client);
    now += 2000;
    replica.noteOld("POST /books", false, "reports");
    fail(replica);
    expect(sideOf(replica)).toBe("new");
  });

  test("for all but one client is not well", async () => {
    const replica = await startAnswered(["billing", "reports", "shop"]);
    for (const client of ["billing", "reports"]) replica.beginOld("GET /books", () => client);
    now += 2000;
    replica.noteOld("GET /books", false, "shop");
    fail(replica);
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

  test("stays where the store has scores of another form", async () => {
    const trip = { kind: "client", name: "billing", by: "Ann", at: "2026-11-01T08:00:00Z", reason: null };
    const trips = [{ ...trip, records: [], acceptsLostWrites: false, lostWrites: 0 }];
    const scores = { "GET /books": { differences: 6.2, failures: 0, records: [] } };
    await store.setIfAbsent(
      "rollout:trips",
      JSON.stringify({ change: 1, value: { trips, scores, events: [] } }),
      1000,
    );
    const replica = await startReplica(SHARED);
    expect([sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["old", "new"]);
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
    lines.map(({ code = "resumed", kind, name, by, reason }) => [
      code === "AG_ROLLOUT_TURNED_BACK" ? "returned" : code,
      kind,
      name,
      by,
      reason,
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
});

describe("while the state store is down", () => {
  test("a gateway that is starting serves no client from the translation", async () => {
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

  test("a returned client is not moved to the translation at any moment", async () => {
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
    await replica.tokenClients.exchange();
    expect(replica.tokenClients.all()).toEqual(["billing"]);
  });
});

describe("data: replicated", () => {
  const REPLICATED = "data: { replicated: 2s }\nnew: all";

  const beginWrite = (replica: Rollout, side: "old" | "new") =>
    replica.beginWrite({ client: "billing", findWriter: () => TOKEN }, side);

  function write(replica: Rollout, side: "old" | "new"): void {
    const begun = beginWrite(replica, side);
    begun?.accept();
    begun?.end();
  }

  const turnBack = (replica: Rollout) => replica.turnBack({ kind: "all", name: "all", ...ANN });

  test("a returned route returns all clients: a client is on one side", async () => {
    const replica = await startReplica(REPLICATED);
    noteAll(replica, "different", 4);
    expect(sideOf(replica, BILLING, "POST /books")).toBe("old");
  });

  test("a client changes once its last write is older than the lag", async () => {
    const replica = await startReplica(REPLICATED);
    const begun = beginWrite(replica, "new");
    await turnBack(replica);
    now += 5000;
    expect([sideOf(replica), sideOf(replica, REPORTS)]).toEqual(["new", "old"]);
    begun?.accept();
    begun?.end();
    now += 1999;
    expect(sideOf(replica)).toBe("new");
    now += 1;
    expect(sideOf(replica)).toBe("old");
  });

  test("a client that never stops to write changes nevertheless", async () => {
    let text = REPLICATED;
    const replica = await startReplica(() => text);
    write(replica, "new");
    text = "data: { replicated: 2s }";
    for (let second = 0; second < 10; second += 1) {
      expect(sideOf(replica)).toBe("new");
      write(replica, sideOf(replica, BILLING, null));
      now += 1000;
    }
    expect(sideOf(replica)).toBe("old");
  });

  test("what a client writes after its return does not put that off", async () => {
    const replica = await startReplica(REPLICATED);
    write(replica, "new");
    await turnBack(replica);
    for (let turn = 0; turn < 2; turn += 1) {
      expect(sideOf(replica)).toBe("new");
      write(replica, sideOf(replica));
      now += 1000;
    }
    expect(sideOf(replica)).toBe("old");
  });

  test("a write that is refused keeps its client only while it is in flight", async () => {
    const replica = await startReplica(REPLICATED);
    const begun = beginWrite(replica, "new");
    await turnBack(replica);
    expect(sideOf(replica)).toBe("new");
    begun?.end();
    expect(sideOf(replica)).toBe("old");
  });

  test("a write of an unknown sender keeps it on its side after its token is accepted", async () => {
    const replica = await startReplica(REPLICATED);
    let known: string | undefined;
    const begun = replica.beginWrite({ client: "billing", findWriter: () => known }, "new");
    await turnBack(replica);
    expect(sideOf(replica)).toBe("old");
    begun?.end();
    known = TOKEN;
    begun?.accept();
    expect(sideOf(replica)).toBe("new");
  });
});
