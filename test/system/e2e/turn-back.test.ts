/** Three gateways with one Redis, each in a process of its own, and a mistake in their pack: its route returns without a person. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import {
  ask,
  ROLLOUT,
  warmUp,
  watchReturn,
  writeMistakenPack,
  type Seen,
} from "../../../bench/parity/turn-back.ts";
import { neverRespond } from "../../support/fake-v4.ts";
import { startListeningGateway, type ListeningGateway } from "../../support/gateway.ts";
import { proxyTo, startOldService, type TestOldService } from "../../support/old-service.ts";
import { createRedisServer, sharedBy, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";
import { createFolder, removeFolders } from "./folder.ts";
import { killAll, serve, type Serving } from "./program.ts";

const describe = await describeWith("redis-server");

/** The old service: a gateway with the right pack, in front of the sandbox that is the new service of the replicas. */
let old: ListeningGateway;
let inFront: TestOldService;
let redis: RedisServer;
let folder: string;
let replicas: Serving[];
let authorization: string;
beforeEach(async () => {
  redis = await createRedisServer();
  await redis.start();
  old = await startListeningGateway();
  inFront = await startOldService({ inFrontOf: old.url });
  authorization = `token ${old.sandbox.tokens.full}`;
  folder = createFolder();
  mkdirSync(join(folder, "pack"));
  writeMistakenPack(join(folder, "pack"));
  writeFileSync(join(folder, "rollout.yaml"), ROLLOUT);
  replicas = await Promise.all([start(0), start(1), start(2)]);
});
afterEach(async () => {
  await killAll();
  await inFront.close();
  await old.stop();
  await redis.stop();
  removeFolders();
});

const start = (index: number): Promise<Serving> =>
  serve(join(folder, String(index)), {
    env: {
      ...sharedBy(redis),
      UPSTREAM_URL: old.sandbox.url,
      AUTH_URL: old.sandbox.authUrl,
      LEGACY_URL: inFront.url,
      MAPPINGS_DIR: join(folder, "pack"),
      ROLLOUT_FILE: join(folder, "rollout.yaml"),
      UPSTREAM_TIMEOUT_MS: "300000",
    },
  });

async function restart(index: number): Promise<void> {
  replicas[index]?.signal("SIGTERM");
  await replicas[index]?.ended;
  replicas[index] = await start(index);
}

/** Kills a replica while it compares, and starts it again. */
async function kill(index: number): Promise<void> {
  const replica = replicas[index];
  if (!replica) throw new Error(`there is no replica ${index}`);
  inFront.respondWith(neverRespond);
  await Promise.all(Array.from({ length: 5 }, () => ask(replica, authorization)));
  replica.signal("SIGKILL");
  await replica.ended;
  inFront.respondWith(proxyTo(old.url));
  replicas[index] = await start(index);
}

const sides = (): Promise<Seen[]> => Promise.all(replicas.map((replica) => ask(replica, authorization)));

/** The roll-out, as a replica reports it. */
async function rolloutOf({
  admin,
}: Serving): Promise<{ trips: readonly unknown[]; blocked: readonly string[] }> {
  return ((await (await fetch(`${admin}/api/rollout`)).json()) as { rollout: never }).rollout;
}

describe("a mistake in the pack of three gateways", () => {
  test("turns its route back on all of them, also after one was killed, and restarts of one and of all change nothing", async () => {
    expect(await sides()).toEqual(["new", "new", "new"]);
    await warmUp(replicas, authorization);
    await kill(2);
    const { failed, requests } = await watchReturn(replicas, authorization);
    expect({ failed, isAsked: requests > 3 }).toEqual({ failed: 0, isAsked: true });
    const trip = expect.objectContaining({ kind: "route", by: "gateway", reason: "confirmed differences" });
    for (const replica of replicas) expect((await rolloutOf(replica)).trips).toEqual([trip]);

    await restart(2);
    expect(await sides()).toEqual(["old", "old", "old"]);
    await Promise.all([restart(0), restart(1), restart(2)]);
    expect(await sides()).toEqual(["old", "old", "old"]);
  }, 180_000);

  test("does not keep a gateway from ending whose comparisons hang", async () => {
    inFront.respondWith(neverRespond);
    expect(await sides()).toEqual(["new", "new", "new"]);
    for (const replica of replicas) replica.signal("SIGTERM");
    const ends = await Promise.all(replicas.map(({ ended }) => ended));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
  }, 180_000);

  test("turns nothing back while the old service is not well, also if the translation fails", async () => {
    expect(await sides()).toEqual(["new", "new", "new"]);
    // The new service, and what the old one reads.
    await old.sandbox.close();
    for (let count = 0; count < 8; count += 1) expect(new Set(await sides())).toEqual(new Set(["failed"]));
    for (const replica of replicas)
      await waitFor(async () => (await rolloutOf(replica)).blocked.includes("GET /vm/instances"));
    for (const replica of replicas) expect((await rolloutOf(replica)).trips).toEqual([]);
  }, 180_000);
});
