/** What a plan would do if recorded weeks were repeated. */
import { describe, expect, test } from "@jest/globals";
import { NO_CLIENTS } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { createPlan } from "../../../src/migration/plan/plan.ts";
import { simulatePlan, type PastCall } from "../../../src/migration/plan/simulate.ts";
import { planFile } from "../../../src/migration/plan/plan-file.ts";

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
/** A Monday. */
const NOW = Date.parse("2026-06-01T00:00:00Z");
const HOURLY = "aaaaaaaaaaaaaaaa";
const WEEKLY = "bbbbbbbbbbbbbbbb";

const planOf = (text: string) =>
  createPlan(
    parseOperatorFile(
      { file: "plan.yaml", text: `announced: 2026-01-01\n${text}` },
      planFile(() => ({
        routes: ["GET /books"],
        fields: new Map(),
        directory: NO_CLIENTS,
        hasAudit: true,
        published: undefined,
      })),
    ),
  );

/** Calls of a token in the four weeks before now, every so many milliseconds. */
async function* calls(fingerprint: string, everyMs: number, offsetMs = 0): AsyncGenerator<PastCall> {
  for (let time = NOW - 4 * WEEK_MS + offsetMs; time < NOW; time += everyMs)
    yield { time, client: { name: undefined, fingerprint }, route: "GET /books", requests: 1 };
}

async function* both(): AsyncGenerator<PastCall> {
  yield* calls(HOURLY, HOUR_MS, 30 * 60_000);
  // On Wednesdays at noon.
  yield* calls(WEEKLY, WEEK_MS, 60 * HOUR_MS);
}

const simulate = (text: string, firstCall: (token: string) => number = () => 0) =>
  simulatePlan({
    plan: planOf(text),
    calls: both(),
    hadCalled: async ({ fingerprint = "" }, before) => firstCall(fingerprint) < before,
    now: NOW,
  });

test("four recorded weeks are repeated", async () => {
  const { recorded } = await simulate("end: 2026-09-01");
  expect(recorded).toMatchObject({ weeks: 4, calls: 4 * 7 * 24 + 4, clients: 2 });
});

describe("a brown-out", () => {
  test("hits the clients that call in its windows, as often as they do", async () => {
    const { stages } = await simulate(`end: 2026-09-01
stages: [{ brown_out: "0 10 * * 1", for: 4h, from: 2026-06-08, until: 2026-07-06 }]`);
    expect(stages[0]).toEqual({
      name: "brown-out 0 10 * * 1 for 4h",
      kind: "brown_out",
      windows: 4,
      waiting: 0,
      calls: 16,
      clients: [{ client: HOURLY, calls: 16, windows: 4 }],
    });
  });

  test("hits a weekly job in windows at its hour alone", async () => {
    const { stages } = await simulate(`end: 2026-09-01
stages: [{ brown_out: "0 12 * * 3", for: 1h, from: 2026-06-08, until: 2026-06-22 }]`);
    expect(stages[0]?.clients).toEqual([
      { client: HOURLY, calls: 2, windows: 2 },
      { client: WEEKLY, calls: 2, windows: 2 },
    ]);
  });

  test("waits for clients that go on calling", async () => {
    const { stages } = await simulate(`end: 2026-09-01
stages: [{ brown_out: "0 10 * * 1", for: 4h, from: 2026-06-08, until: 2026-07-06, wait_for: [${WEEKLY}] }]`);
    expect(stages[0]).toMatchObject({ windows: 0, waiting: 4, calls: 0, clients: [] });
  });
});

test("the end counts who still calls in the week after it", async () => {
  const { stages } = await simulate("end: 2026-07-01");
  expect(stages).toEqual([
    {
      name: "end",
      kind: "end",
      windows: 0,
      waiting: 0,
      calls: 7 * 24 + 1,
      clients: [
        { client: HOURLY, calls: 7 * 24, windows: 0 },
        { client: WEEKLY, calls: 1, windows: 0 },
      ],
    },
  ]);
});

test("a freeze counts the calls of clients that were new in the recorded weeks", async () => {
  const { stages } = await simulate("stages: [{ freeze: 2026-07-01 }]", (token) =>
    token === WEEKLY ? NOW - 3 * WEEK_MS : 0,
  );
  expect(stages[0]).toMatchObject({ kind: "freeze", clients: [{ client: WEEKLY, calls: 4 }] });
});

test("no client is affected if there are no records", async () => {
  const simulation = await simulatePlan({
    plan: planOf("end: 2026-07-01"),
    calls: (async function* () {})(),
    hadCalled: async () => false,
    now: NOW,
  });
  expect(simulation.stages).toEqual([
    { name: "end", kind: "end", windows: 0, waiting: 0, calls: 0, clients: [] },
  ]);
});
