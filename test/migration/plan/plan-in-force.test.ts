/** What a plan in force asks the audit store before its windows. */
import { describe, expect, test } from "@jest/globals";
import { NO_CLIENTS } from "../../../src/audit/clients/client-directory.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import type { PlanControl } from "../../../src/migration/plan/control.ts";
import { createPlan } from "../../../src/migration/plan/plan.ts";
import { createPlanInForce } from "../../../src/migration/plan/plan-in-force.ts";
import { planFile } from "../../../src/migration/plan/plan-file.ts";

const TOKEN = "0123456789abcdef";
const WINDOW = `brown_out: "0 10 * * *", for: 1h, from: 2026-01-01`;
const WAITING = `${WINDOW}, wait_for: ["${TOKEN}"]`;
const FIELD = `field: book.title, ${WINDOW}`;

/** A plan of one stage at 10:30, and how often it has asked. @param answer How the audit store answers */
function planWith(stage: string, answer: (clock: { time: number }) => Promise<never[]> = async () => []) {
  const context = {
    routes: [],
    fields: new Map([["book", ["title"]]]),
    directory: NO_CLIENTS,
    hasAudit: true,
    published: undefined,
  };
  const text = `announced: 2026-01-01\nstages: [{ ${stage} }]`;
  const plan = createPlan(
    parseOperatorFile(
      { file: "plan.yaml", text },
      planFile(() => context),
    ),
  );
  const clock = { time: Date.parse("2026-06-01T10:30:00Z") };
  const asked = { times: 0 };
  const { prepareWindows } = createPlanInForce({
    plan: () => plan,
    directory: () => NO_CLIENTS,
    control: { isKnown: () => true, pauseOf: () => undefined } as unknown as PlanControl,
    isConfirmed: () => true,
    known: { isKnown: () => true },
    decisions: {
      wasServed: async () => false,
      async callsOf() {
        asked.times += 1;
        await answer(clock);
        return { requests: 0, hasCalled: false };
      },
      tokenPage: async () => [],
    },
    log: { error: () => {}, warn: () => {} } as unknown as Log,
    metrics: { countStage: () => {} },
    clock: () => clock.time,
  });
  return { prepareWindows, clock, asked };
}

describe("the traffic before a window", () => {
  test.each([
    ["once where requests fail in it and clients are waited for", WAITING, 1],
    ["once where a field is left out and clients are waited for", `${FIELD}, wait_for: ["${TOKEN}"]`, 1],
    ["never where nobody is waited for", WINDOW, 0],
    ["never where a field is left out and nobody is waited for", FIELD, 0],
  ])("is read %s", async (_what, stage, times) => {
    const { prepareWindows, asked } = planWith(stage);
    await prepareWindows();
    await prepareWindows();
    expect(asked.times).toBe(times);
  });

  test("is asked for once at a time", async () => {
    const { promise, resolve } = Promise.withResolvers<never[]>();
    const { prepareWindows, asked } = planWith(WAITING, () => promise);
    const attempts = [prepareWindows(), prepareWindows()];
    expect(asked.times).toBe(1);
    resolve([]);
    await Promise.all(attempts);
  });

  test("is asked for again ten seconds after an attempt has failed, however long that took", async () => {
    const { prepareWindows, asked, clock } = planWith(WAITING, async (running) => {
      running.time += 30_000;
      throw new Error("no answer");
    });
    await prepareWindows();
    clock.time += 9_999;
    await prepareWindows();
    expect(asked.times).toBe(1);
    clock.time += 1;
    await prepareWindows();
    expect(asked.times).toBe(2);
  });
});
