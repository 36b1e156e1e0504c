/** A candidate that becomes the active pack by command, with processes: replicas, restarts and changed folders. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, expect, test } from "@jest/globals";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { createRedisServer, sharedBy, type RedisServer } from "../../support/redis-server.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { describeWith } from "../../support/services.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { run, serve, type Ended, type Serving } from "./program.ts";

const describe = await describeWith("redis-server");

const LONG_MS = 120_000;

let v4: FakeV4;
let redis: RedisServer;
let active: ReturnType<typeof writeSmallPack>;
let candidate: ReturnType<typeof writeSmallPack>;
beforeEach(async () => {
  v4 = await startFakeV4();
  v4.respondWith(json(200, { id: 7, name: "Emma" }));
  redis = await createRedisServer();
  await redis.start();
  active = writeSmallPack({});
  candidate = writeSmallPack({ book: { fields: { id: "id", heading: "name" } } });
});

type Env = Readonly<Record<string, string>>;

const packs = (): Env => ({ MAPPINGS_DIR: active, CANDIDATE_MAPPINGS_DIR: candidate });

const start = (env: Env, folder = temporaryFolder()): Promise<Serving> =>
  serve(folder, {
    env: {
      UPSTREAM_URL: v4.url,
      ...packs(),
      CLIENTS_FILE: writeOperatorFile("ann: { tester: true }\n", "clients.yaml"),
      CLIENT_HEADER: "x-client",
      TRUST_PROXY: "127.0.0.1",
      RATE_LIMIT: "1000000/120",
      ...env,
    },
  });

const command = (name: "promote" | "rollback", env: Env): Promise<Ended> =>
  run([name], { env: { ...packs(), ...env } }).ended;

/** Asks on a connection of its own, as a proxy that names the client. */
async function ask({ url }: Serving, headers: Env = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/books/7`, {
    headers: { connection: "close", "x-client": "ann", ...headers },
  });
  return { status: response.status, text: await response.text() };
}

async function waitForMember(gateway: Serving, name: string): Promise<void> {
  while (!(await ask(gateway)).text.includes(`"${name}"`)) await wait(10);
}

describe("promote and rollback", () => {
  test(
    "reach each replica within seconds, under load without a failed request, and outlive a restart",
    async () => {
      const shared = sharedBy(redis);
      const folder = temporaryFolder();
      const [one, other] = await Promise.all([start(shared), start(shared, folder)]);
      const end = new AbortController();
      const statuses = new Set<number>();
      const load = [one, other].map(async (gateway) => {
        while (!end.signal.aborted) {
          statuses.add((await ask(gateway)).status);
          await wait(5);
        }
      });
      expect(await command("promote", shared)).toMatchObject({ code: 0 });
      await Promise.all([one, other].map((gateway) => waitForMember(gateway, "heading")));
      expect(await command("rollback", shared)).toMatchObject({ code: 0 });
      await Promise.all([one, other].map((gateway) => waitForMember(gateway, "title")));
      await command("promote", shared);
      await Promise.all([one, other].map((gateway) => waitForMember(gateway, "heading")));
      end.abort();
      await Promise.all(load);
      expect([...statuses]).toEqual([200]);

      other.signal("SIGTERM");
      await other.ended;
      expect((await ask(await start(shared, folder))).text).toContain("heading");
    },
    LONG_MS,
  );

  test(
    "work with one gateway and its folder, and a changed candidate is read without a signal",
    async () => {
      const folder = temporaryFolder();
      const gateway = await start({ LOG_LEVEL: "info" }, folder);
      const [, first = ""] = await gateway.waitForError(/"pack":"([0-9a-f]{16})"/);
      expect((await ask(gateway, { "x-pack": first })).text).toContain("heading");
      const file = join(candidate, "book.yaml");
      writeFileSync(file, readFileSync(file, "utf8").replace("heading:", "caption:"));
      while ((await ask(gateway, { "x-pack": first })).status !== 412) await wait(50);
      const promoted = await command("promote", { DATA_DIR: folder });
      expect(promoted.out).toMatch(/^Promoted [0-9a-f]{16}: /);
      await waitForMember(gateway, "caption");
      // The one that served before can be asked for.
      const [, previous = ""] = /brings back ([0-9a-f]{16})/.exec(promoted.out) ?? [];
      while (!(await ask(gateway, { "x-pack": previous })).text.includes("title")) await wait(50);
      writeFileSync(file, readFileSync(file, "utf8").replace("caption:", "name:"));
      await gateway.waitForError(/AG_PROMOTED_PACK_MISSING/);
      await waitForMember(gateway, "caption");
      gateway.signal("SIGTERM");
      await gateway.ended;
      const second = await start({}, folder);
      await second.waitForError(/AG_PROMOTED_PACK_MISSING/);
      await waitForMember(second, "title");
    },
    LONG_MS,
  );
});
