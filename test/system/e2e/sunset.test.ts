/** The plan by which alpha ends, with processes: changed files, replicas, restarts and the commands. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, expect, test } from "@jest/globals";
import { acceptGoodTokens, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { createRedisServer, sharedBy, type RedisServer } from "../../support/redis-server.ts";
import { createSettableClock } from "../../support/set-clock.ts";
import { describeWith } from "../../support/services.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { run, serve, type Ended, type ServeOptions, type Serving } from "./program.ts";

const LONG_MS = 120_000;
/** A window is open at each moment. */
const BROWN_OUT = `announced: 2026-01-01
stages: [{ name: first, brown_out: "* * * * *", for: 15m, from: 2026-01-01 }]
`;

const describe = await describeWith("redis-server");
const describeClocks = await describeWith("redis-server", "faketime");

let v4: FakeV4;
let redis: RedisServer;
let folder: string;
let file: string;
beforeEach(async () => {
  v4 = await startFakeV4();
  v4.respondWith(acceptGoodTokens);
  redis = await createRedisServer();
  await redis.start();
  folder = temporaryFolder();
  file = join(folder, "plan.yaml");
});

/** As editors and mounted files change: by another file in its place. */
function writePlan(text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

type Env = Readonly<Record<string, string>>;

const start = (env: Env = {}, options: Omit<ServeOptions, "env"> = {}): Promise<Serving> =>
  serve(folder, { ...options, env: { UPSTREAM_URL: v4.url, SUNSET_FILE: file, LOG_LEVEL: "error", ...env } });

const command = (args: readonly string[], env: Env = {}): Promise<Ended> =>
  run(args, { env: { DATA_DIR: folder, SUNSET_FILE: file, ...env } }).ended;

const ask = ({ url }: Serving): Promise<Response> =>
  fetch(`${url}/v4/vm/instances`, { headers: { authorization: "token good", connection: "close" } });

async function waitForStatus(gateway: Serving, status: number): Promise<void> {
  while ((await ask(gateway)).status !== status) await wait(10);
}

async function waitForEnd(gateway: Serving, day: string): Promise<void> {
  const end = new Date(`${day}T00:00:00Z`).toUTCString();
  while ((await ask(gateway)).headers.get("sunset") !== end) await wait(10);
}

const act = async ({ admin }: Serving, action: "pause" | "resume"): Promise<number> => {
  const response = await fetch(`${admin}/api/sunset/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ by: "Ann" }),
  });
  return response.status;
};

const endingOn = (day: string): string => `announced: 2026-01-01\nend: ${day}\n`;

describe("a changed plan", () => {
  test(
    "is read without a signal; a faulty one, and one that shortens a date, is not",
    async () => {
      writePlan(endingOn("2098-01-01"));
      const gateway = await start();
      await waitForEnd(gateway, "2098-01-01");
      writePlan(endingOn("2099-01-01"));
      await waitForEnd(gateway, "2099-01-01");
      writePlan("announced: 2026-01-01\nends: 2099-06-01\n");
      expect(await gateway.waitForError(/AG_FILE_INVALID.*unknown key/)).toBeTruthy();
      writePlan(endingOn("2098-06-01"));
      expect(await gateway.waitForError(/AG_SUNSET_SHORTENED.*published as 2099-01-01/)).toBeTruthy();
      await waitForEnd(gateway, "2099-01-01");
    },
    LONG_MS,
  );

  test(
    "that shortens a date prevents the start, unless it is announced with it",
    async () => {
      writePlan(endingOn("2099-01-01"));
      const first = await start();
      first.signal("SIGTERM");
      await first.ended;
      writePlan(endingOn("2098-01-01"));
      const refused = await run(["serve"], {
        env: { UPSTREAM_URL: v4.url, SUNSET_FILE: file, DATA_DIR: folder, PORT: "0", ADMIN_PORT: "0" },
      }).ended;
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("AG_SUNSET_SHORTENED") });
      const second = await start({}, { flags: ["--announce"] });
      await waitForEnd(second, "2098-01-01");
      // It was announced for this start alone.
      writePlan(endingOn("2097-01-01"));
      await second.waitForError(/AG_SUNSET_SHORTENED.*published as 2098-01-01/);
      await waitForEnd(second, "2098-01-01");
    },
    LONG_MS,
  );
});

describe("a pause", () => {
  test(
    "reaches each replica, and lasts while Redis is down, until somebody resumes",
    async () => {
      writePlan(BROWN_OUT);
      const shared = sharedBy(redis);
      const [one, other] = await Promise.all([start(shared), start(shared)]);
      await waitForStatus(one, 500);
      await waitForStatus(other, 500);
      expect(await act(other, "pause")).toBe(200);
      await waitForStatus(one, 200);
      await waitForStatus(other, 200);
      await redis.stop();
      expect(await act(other, "resume")).toBe(503);
      await wait(3000);
      await waitForStatus(one, 200);
      await redis.start();
    },
    LONG_MS,
  );

  test(
    "outlives a restart within a window, and a window outlives one too",
    async () => {
      writePlan(BROWN_OUT);
      const first = await start();
      await waitForStatus(first, 500);
      first.signal("SIGKILL");
      await first.ended;
      const second = await start();
      expect((await ask(second)).status).toBe(500);
      await act(second, "pause");
      expect((await ask(second)).status).toBe(200);
      second.signal("SIGKILL");
      await second.ended;
      const third = await start();
      expect((await ask(third)).status).toBe(200);
      await act(third, "resume");
      expect((await ask(third)).status).toBe(500);
    },
    LONG_MS,
  );
});

describeClocks("replicas whose clocks differ by two seconds", () => {
  test(
    "begin no window before its time",
    async () => {
      const MINUTE_MS = 60_000;
      const beginsAt = Math.ceil((Date.now() + MINUTE_MS) / MINUTE_MS) * MINUTE_MS;
      const begins = new Date(beginsAt);
      writePlan(`announced: 2026-01-01
stages: [{ brown_out: "${begins.getUTCMinutes()} * * * *", for: 10m, from: ${begins.toISOString().slice(0, 10)} }]
`);
      const clocks = [createSettableClock(folder), createSettableClock(temporaryFolder())] as const;
      const env = { RATE_LIMIT: "1000000/120", ...sharedBy(redis) };
      const gateways = await Promise.all(clocks.map((clock) => start({ ...clock.env, ...env })));
      for (const gateway of gateways) expect((await ask(gateway)).status).toBe(200);
      // The first clock is the right one. When both gateways are ready, the window begins five seconds later.
      const offset = Math.round((beginsAt - Date.now()) / 1000) - 5;
      clocks[0].set(offset);
      clocks[1].set(offset + 2);
      for (const gateway of gateways) while ((await ask(gateway)).status !== 500) await wait(20);
      expect(Date.now() + offset * 1000).toBeGreaterThanOrEqual(beginsAt);
    },
    LONG_MS,
  );
});

describe("the commands", () => {
  test(
    "show the stages with their pauses, and whom the plan would hit",
    async () => {
      writePlan(`${BROWN_OUT}end: 2099-01-01\n`);
      const gateway = await start({ AUDIT_DURABILITY: "strict", MIGRATION_PAGE: "on" });
      await waitForStatus(gateway, 500);
      // No call of the old API, and nobody whom a stage hits.
      expect((await fetch(`${gateway.url}/v4/openapi.json`)).status).toBe(200);
      await act(gateway, "pause");
      await waitForStatus(gateway, 200);
      const shown = await command(["sunset", "status"]);
      expect(shown.out).toMatch(/^paused .* first$/m);
      expect(shown.out).toMatch(/^paused: all stages by Ann at 20\d\d-/m);
      const simulated = await command(["sunset", "simulate", "--format", "json"]);
      expect(JSON.parse(simulated.out)).toMatchObject({
        recorded: { weeks: 1, clients: 1 },
        stages: [{ name: "first", kind: "brown_out" }, { name: "end" }],
      });
    },
    LONG_MS,
  );
});
