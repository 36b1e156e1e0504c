/** A reader of the log that hangs, and failures that repeat. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { envelope, json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { readMetric } from "../chaos/admin-client.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "./program.ts";

const LONG = 300_000;

let v4: FakeV4;
beforeEach(async () => {
  v4 = await startFakeV4();
  v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "*" }));
});

/** The statuses of some requests. */
async function ask({ url }: Serving, count: number): Promise<number[]> {
  const headers = { authorization: "token good" };
  const one = async (): Promise<number> => {
    const response = await fetch(`${url}/v4/vm/instances`, { headers });
    await response.arrayBuffer();
    return response.status;
  };
  return Promise.all(Array.from({ length: count }, one));
}

const start = (level: string, readsErrors: boolean): Promise<Serving> =>
  serve(temporaryFolder(), {
    readsErrors,
    env: { UPSTREAM_URL: v4.url, LOG_LEVEL: level, LOG_FORMAT: "json", RATE_LIMIT: "100000/1", AUDIT: "off" },
  });

const countDropped = ({ admin }: Serving): Promise<number> => readMetric(admin, "log_dropped_total");

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("a reader of the log that hangs", () => {
  let gateway: Serving;
  beforeEach(async () => {
    gateway = await start("debug", false);
    while ((await countDropped(gateway)) === 0) await ask(gateway, 200);
  }, LONG);

  test(
    "holds no request up and lets no line pile up; its lines are counted, and reported when it reads again",
    async () => {
      const before = await countDropped(gateway);
      expect(new Set(await ask(gateway, 100))).toEqual(new Set([200]));
      expect(await countDropped(gateway)).toBeGreaterThanOrEqual(before + 100);

      gateway.readErrors();
      const [, dropped] = await gateway.waitForError(/"code":"AG_LOG_LINES_DROPPED","dropped":(\d+)/);
      expect(Number(dropped)).toBe(await countDropped(gateway));
      gateway.signal("SIGTERM");
      const { code, err } = await gateway.ended;
      expect(code).toBe(0);
      expect(linesOf(err).length).toBeGreaterThan(1000);
    },
    LONG,
  );

  test(
    "does not hold the exit up",
    async () => {
      gateway.signal("SIGTERM");
      expect(await gateway.exited).toBe(0);
    },
    LONG,
  );
});

test("failures of one kind are one line a second, with their number", async () => {
  v4.respondWith(json(503, {}));
  const gateway = await start("info", true);
  expect(new Set(await ask(gateway, 60))).toEqual(new Set([500]));
  gateway.signal("SIGTERM");

  const { err } = await gateway.ended;
  const lines = linesOf(err).filter(({ code }) => code === "AG_REQUEST_FAILED");
  expect(lines[0]).not.toHaveProperty("repeated");
  expect(lines.reduce((sum, { repeated = 1 }) => sum + Number(repeated), 0)).toBe(60);
  expect(lines.length).toBeLessThan(30);
});
