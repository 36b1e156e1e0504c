/** Three gateways with one Redis: a return on one of them is a return on all, without a failed request. */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createDependencies } from "../../../src/app/composition/dependencies.ts";
import { createHandlers } from "../../../src/app/composition/start.ts";
import { createPublicApp } from "../../../src/app/listeners/public-app.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { readEnvironment } from "../../../src/base/settings/settings.ts";
import type { RolloutParts } from "../../../src/migration/rollout/parts.ts";
import type { ComparisonResult } from "../../../src/compare/answers/comparison.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { restoreEnv, setEnv } from "../../support/env.ts";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { startOldService, type TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { createRedisServer, type RedisServer } from "../../support/redis-server.ts";
import { request, type Target } from "../../support/request.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { waitFor } from "../../support/wait-for.ts";

const ROUTE = "GET /books/:id";
/** A client that calls again at once would only load the machine. */
const BETWEEN_READS_MS = 10;

interface Replica {
  readonly app: Target;
  readonly parts: RolloutParts;
  stop(): Promise<void>;
}

captureCommands();

let redis: RedisServer;
let old: TestOldService;
let v4: FakeV4;
let folder: string;
let pack: ReturnType<typeof writeSmallPack>;
let replicas: Replica[];
let rolloutFile: string;

beforeEach(async () => {
  redis = await createRedisServer();
  await redis.start();
  [old, v4] = [await startOldService(), await startFakeV4()];
  old.respondWith(json(200, { from: "old" }));
  v4.respondWith(json(200, { id: 1, name: "new" }));
  folder = temporaryFolder();
  pack = writeSmallPack({});
  rolloutFile = writeOperatorFile("data: shared\nnew: all\ncompare: { share: 0% }", "rollout.yaml");
  replicas = [];
  for (let index = 0; index < 3; index += 1) replicas.push(await startReplica(index));
});
afterEach(async () => {
  restoreEnv();
  for (const { stop } of replicas) await stop();
  await redis.stop();
  await old.close();
  await v4.close();
});

async function startReplica(index: number): Promise<Replica> {
  const settings = readEnvironment({
    UPSTREAM_URL: v4.url,
    LEGACY_URL: old.url,
    MAPPINGS_DIR: pack,
    ROLLOUT_FILE: rolloutFile,
    REDIS_URL: redis.url,
    GATEWAY_SECRET: "a secret of sixteen characters",
    DATA_DIR: join(folder, String(index)),
    ADMIN_PORT: "off",
    LOG_LEVEL: "silent",
    RATE_LIMIT: "100000/120",
  });
  const dependencies = await createDependencies(settings);
  const { router, stop } = createHandlers(settings, dependencies);
  const rollout = dependencies.features.find(({ feature }) => feature.name === "rollout");
  return { app: createPublicApp(router), parts: rollout?.parts as RolloutParts, stop: () => stop() };
}

const read = ({ app }: Replica) => request(app, "GET /books/1");

async function sides(): Promise<string[]> {
  const answers = await Promise.all(replicas.map(read));
  return answers.map(({ body }) => body.from ?? body.title);
}

function note({ parts }: Replica, result: ComparisonResult, requestId: string): void {
  parts.rollout.noteOld(ROUTE, false, "reports");
  const compared = {
    source: "legacy",
    subject: "pack data",
    route: ROUTE,
    client: null,
    time: Date.now(),
    requestId,
    result,
    key: requestId,
    differences: [],
  } as const;
  parts.rollout.note(compared, "billing");
}

test("a fourth confirmed difference turns a route back on all three, no request fails, and a restart changes nothing", async () => {
  expect(await sides()).toEqual(["new", "new", "new"]);
  const end = new AbortController();
  const statuses: number[] = [];
  const traffic = replicas.map(async (replica) => {
    while (!end.signal.aborted) {
      statuses.push((await read(replica)).status);
      await wait(BETWEEN_READS_MS);
    }
  });
  const [first, second, third] = replicas;
  for (const [index, replica] of [first, second, third, first].entries())
    if (replica) note(replica, "different", `request-${index}`);
  await waitFor(async () => (await sides()).every((side) => side === "old"));
  end.abort();
  await Promise.all(traffic);
  expect([...new Set(statuses)]).toEqual([200]);

  await replicas[2]?.stop();
  replicas[2] = await startReplica(2);
  expect(await sides()).toEqual(["old", "old", "old"]);
  const trips = replicas.map(({ parts }) => parts.status().trips);
  expect(trips[0]).toEqual([
    expect.objectContaining({ kind: "route", name: ROUTE, by: "gateway", reason: "confirmed differences" }),
  ]);
  expect(trips[0]?.[0]?.records.toSorted()).toEqual(["request-0", "request-1", "request-2", "request-3"]);
  expect(trips[2]).toEqual(trips[0]);
});

test("the command turns back and resumes on all three", async () => {
  setEnv("GATEWAY_SECRET", "a secret of sixteen characters");
  const flags = [`--rollout-file=${rolloutFile}`, `--mappings-dir=${pack}`, `--redis-url=${redis.url}`];
  const run = (...args: readonly string[]): Promise<number> => runCommandLine(["rollout", ...args, ...flags]);
  expect(await run("turn-back", ROUTE)).toBe(0);
  await waitFor(async () => (await sides()).every((side) => side === "old"));
  expect(await run()).toBe(1);
  expect(await run("resume", ROUTE)).toBe(0);
  await waitFor(async () => (await sides()).every((side) => side === "new"));
});

/** Reads the sides of all replicas until the end. @returns how often one moved from the old service to the translation */
function watchSides(end: AbortSignal): Promise<number> {
  const watch = async (replica: Replica): Promise<number> => {
    let [moves, before] = [0, "new"];
    while (!end.aborted) {
      const { body } = await read(replica);
      const side: string = body.from ?? body.title;
      if (before === "old" && side === "new") moves += 1;
      before = side;
      await wait(BETWEEN_READS_MS);
    }
    return moves;
  };
  return Promise.all(replicas.map(watch)).then((moves) => moves.reduce((sum, count) => sum + count, 0));
}

test.each<[string, () => Promise<void> | void, () => Promise<void> | void]>([
  ["hangs now and then", () => redis.hang(), () => redis.resume()],
  ["comes back empty again and again", () => redis.stop(), () => redis.start()],
])(
  "a Redis that %s moves nobody to the translation, and what returned stays so",
  async (_how, go, comeBack) => {
    const order = { target: ROUTE, by: "Ann", reason: null };
    await replicas[0]?.parts.turnBack(order);
    await waitFor(async () => (await sides()).every((side) => side === "old"));
    const end = new AbortController();
    const moves = watchSides(end.signal);
    for (let time = 0; time < 2; time += 1) {
      await go();
      await wait(600);
      await comeBack();
      await wait(1500);
    }
    end.abort();
    expect(await moves).toBe(0);
    await replicas[2]?.stop();
    replicas[2] = await startReplica(2);
    await waitFor(async () => (await sides()).every((side) => side === "old"));
  },
);
