/** Clients that answer a window with retries. */
import { describe, expect, test } from "@jest/globals";
import { CLIENTS_FILE, NO_CLIENTS } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import type { Log } from "../../../src/base/log/log.ts";
import type { Action } from "../../../src/migration/plan/control.ts";
import type { Decision } from "../../../src/migration/plan/plan.ts";
import { StormGuard } from "../../../src/migration/plan/storms.ts";

const MINUTE_MS = 60_000;
const MINUTES_OF_RATE = 14 * 24 * 60;

const brownOut = (stage = "first", from = 1000) =>
  ({
    kind: "brown_out",
    stage: { name: stage },
    window: { from, until: from + 1000 },
  }) as Extract<Decision, { kind: "brown_out" }>;
const clientOf = (fingerprint: string) => ({ name: undefined, fingerprint });

/** A guard whose clients usually send so many requests a minute; undefined: none. */
function guardOf(usualPerMinute: number | undefined | Promise<number>, directory = NO_CLIENTS) {
  const pauses: Action[] = [];
  const reported: unknown[] = [];
  let reads = 0;
  let time = 0;
  const guard = new StormGuard({
    directory: () => directory,
    control: { pause: async (action) => void pauses.push(action) },
    decisions: {
      async callsOf() {
        reads += 1;
        const usual = (await usualPerMinute) ?? 0;
        return { requests: usual * MINUTES_OF_RATE, hasCalled: usual > 0 };
      },
    },
    log: { error: ({ code }: { code: string }) => void reported.push(code) } as unknown as Log,
    clock: () => time,
  });
  return {
    guard,
    pauses,
    reported,
    reads: () => reads,
    at: (next: number) => void (time = next),
    storm: async (name: string, address: string, window = brownOut()) => {
      for (let request = 0; request < 101; request += 1) await guard.count(window, clientOf(name), address);
    },
  };
}

/** The number of the request, within one minute, that becomes a storm, and how often the usual rate was read. */
async function stormAt(usualPerMinute: number | undefined) {
  const { guard, reads } = guardOf(usualPerMinute);
  for (let request = 1; request <= 2000; request += 1) {
    await guard.count(brownOut(), clientOf("billing"), "192.0.2.1");
    if (guard.isExempt("first", "billing", 1500)) return { request, reads: reads() };
  }
  return { request: undefined, reads: reads() };
}

describe("a storm", () => {
  test("is more than 100 requests of a minute of a client that usually sends few", async () => {
    expect(await stormAt(0.1)).toEqual({ request: 101, reads: 1 });
    expect(await stormAt(10)).toEqual({ request: 101, reads: 1 });
  });

  test("is more than ten times the usual requests of a client that sends many", async () => {
    expect(await stormAt(50)).toEqual({ request: 501, reads: 1 });
  });

  test("is never one of a client that has no usual requests", async () => {
    expect(await stormAt(undefined)).toEqual({ request: undefined, reads: 1 });
  });

  test("is noticed however long the usual rate takes to read", async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const { guard, reads, reported } = guardOf(promise);
    const counts = Array.from({ length: 300 }, () =>
      guard.count(brownOut(), clientOf("billing"), "192.0.2.1"),
    );
    resolve(1);
    await Promise.all(counts);
    expect([guard.isExempt("first", "billing", 1500), reads()]).toEqual([true, 1]);
    expect(reported).toEqual(["AG_SUNSET_STORM"]);
  });

  test("is none of different minutes and clients together, and nothing is read", async () => {
    const { guard, reads, at } = guardOf(1);
    for (let request = 0; request < 300; request += 1) {
      at(request * MINUTE_MS);
      await guard.count(brownOut(), clientOf("billing"), "192.0.2.1");
      at(5 * MINUTE_MS);
      await guard.count(brownOut(), clientOf(`client ${request}`), "192.0.2.1");
    }
    expect(reads()).toBe(0);
  });
});

test("a client that storms is exempt from its stage until the window ends", async () => {
  const { guard, storm, reported } = guardOf(1);
  await storm("billing", "192.0.2.1");
  expect(reported).toEqual(["AG_SUNSET_STORM"]);
  expect(guard.isExempt("first", "billing", 1999)).toBe(true);
  expect(guard.isExempt("first", "billing", 2000)).toBe(false);
  expect(guard.isExempt("second", "billing", 1500)).toBe(false);
  expect(guard.isExempt("first", "dns", 1500)).toBe(false);
});

test("three clients pause a stage, of which those with one token or one network are one", async () => {
  const { pauses, storm, at } = guardOf(1);
  await storm("billing", "192.0.2.1");
  at(MINUTE_MS);
  await storm("billing", "192.0.2.2");
  await storm("dns", "192.0.2.1");
  await storm("shop", "2001:db8:1:1::1");
  await storm("cron", "2001:db8:1:2::1");
  expect(pauses).toEqual([]);
  await storm("backup", "192.0.2.3");
  const reason = "billing, shop, backup answered with storms of retries";
  expect(pauses).toEqual([{ stage: "first", by: "gateway", reason }]);
});

test("three clients of the directory pause a stage, even in one network: each is counted by its name", async () => {
  const names = ["full", "other", "readOnly"];
  const tokens = names.map((_, index) => `${index}`.repeat(16));
  const text = names.map((name, index) => `${name}: { tokens: ["${tokens[index]}"] }`).join("\n");
  const { pauses, guard } = guardOf(1, parseOperatorFile({ file: "clients.yaml", text }, CLIENTS_FILE));
  for (const [index, name] of names.entries())
    for (let request = 0; request < 101; request += 1)
      await guard.count(brownOut(), { name, fingerprint: tokens[index] }, "192.0.2.1");
  const reason = "full, other, readOnly answered with storms of retries";
  expect(pauses).toEqual([{ stage: "first", by: "gateway", reason }]);
});

test("storms of different windows and stages are not counted together", async () => {
  const { pauses, storm } = guardOf(1);
  for (const [n, from] of [1000, 3000].entries())
    for (const stage of ["first", "second"])
      for (const [client, address] of [
        [`a${n}${stage}`, "192.0.2.1"],
        [`b${n}${stage}`, "192.0.2.2"],
      ] as const)
        await storm(client, address, brownOut(stage, from));
  expect(pauses).toEqual([]);
});
