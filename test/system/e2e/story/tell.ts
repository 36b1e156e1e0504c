/**
 * The story of an end: 64 clients over 14 months, from the announcement to 410, by a clock that the test sets. The test
 * counts itself what was sent and answered, and compares every figure of the report, the API and the commands with it.
 */
import { expect } from "@jest/globals";
import { temporaryFolder } from "../../../support/ends-with-test.ts";
import { waitFor } from "../../../support/wait-for.ts";
import { MOBILE, NEWCOMER_AGENT, POLLER, WAREHOUSE, type Day } from "./clients.ts";
import { compareAll, compareNotices } from "./compare.ts";
import type { SentCall } from "./ledger.ts";
import { Play, RETENTION_DAYS, USAGE_RETENTION_DAYS, type Answer, type StoryStore } from "./play.ts";

/** For the test that tells it. */
export const LONG_MS = 900_000;
/** Users of the mobile application whose calls are recorded by the store's API; another 550 sign in through the gateway. */
const MORE_USERS = 4450;

/** What is told at the moment. */
let play: Play;

/** How long the stores of the story keep records, which no size ends. */
export const RETENTION = {
  retentionDays: RETENTION_DAYS,
  usageRetentionDays: USAGE_RETENTION_DAYS,
  sizeLimit: 1e12,
};

interface Check {
  /** How the stages stand, in the order of the plan. */
  readonly stages: string;
  /** The states of some clients, with `!` where a longer pause is warned of. */
  readonly states: Readonly<Record<string, string>>;
}

const NOT_YET = "planned planned planned planned planned planned planned";
const ENDED = "active over over over planned active active";
/** Sunday evenings on which all is compared. */
const CHECKS: Readonly<Record<string, Check>> = {
  "2026-02-01": { stages: NOT_YET, states: { "quarterly report": "silent", billing: "not begun" } },
  "2026-05-03": { stages: NOT_YET, states: { "quarterly report": "silent!", returner: "ready" } },
  "2026-08-02": {
    stages: "active over planned planned planned planned planned",
    states: { "quarterly report": "silent!", returner: "ready", "finisher 1": "ready", "quiet 1": "silent" },
  },
  "2026-11-01": {
    stages: "active over over over planned planned planned",
    states: {
      "quarterly report": "silent!",
      "monthly invoice": "moving!",
      returner: "moving!",
      "native first": "ready",
      "catalog reader": "not begun",
      [MOBILE]: "not begun",
    },
  },
  "2027-01-31": {
    stages: ENDED,
    states: { "quarterly report": "silent!", scripts: "ready", ledger: "not begun" },
  },
  "2027-03-07": { stages: ENDED, states: { [MOBILE]: "silent", billing: "not begun" } },
};

/** Restarts the gateway as at a release, which also removes at once what is too old. */
async function check(date: string, { stages, states }: Check): Promise<void> {
  await play.stop();
  play.setTime(`${date}T20:00:00Z`);
  if (date === "2026-02-01") await play.addMobileUsers(MORE_USERS);
  await play.start();
  await compareAll(play);
  expect(Object.values(await play.stageStates()).join(" ")).toBe(stages);
  for (const [name, state] of Object.entries(states)) {
    const { clients } = await play.api(`usage/clients?client=${encodeURIComponent(name)}`);
    expect([name, `${clients[0].state}${clients[0].isPauseLonger ? "!" : ""}`]).toEqual([name, state]);
  }
}

/** Waits for a notice while the clock stands: what waits for a day is dropped. */
async function waitForNotice(type: string, expected: Readonly<Record<string, unknown>>): Promise<void> {
  await waitFor(() =>
    play.notices.some(
      (notice) =>
        notice.type === type && Object.entries(expected).every(([key, value]) => notice.data[key] === value),
    ),
  );
}

/** Notices that have to be sent on a day. */
async function expectNotices(date: string): Promise<void> {
  if (date === "2026-08-03") {
    await play.waitUntilRecorded();
    // Clients are looked at every five minutes.
    play.setTime(`${date}T15:45:00Z`);
    await waitForNotice("client.came_back", { client: "returner", cameBack: date });
  }
  if (date === "2027-01-04") await waitForNotice("stage.begins", { stage: "end" });
}

/** Three clients answer a refusal with storms of retries, until the gateway pauses the stage. */
async function storm(): Promise<void> {
  const names = [POLLER, "ledger", WAREHOUSE];
  for (const [index, name] of names.entries()) {
    const client = play.clients.find((each) => each.name === name)!;
    const [token = ""] = client.tokens;
    const [wish] = client.wishes({ isMonday: true } as Day);
    const headers = { ...wish!.headers, "x-forwarded-for": `192.0.2.${index}` };
    await waitFor(async () => {
      let status = 0;
      for (let retry = 0; retry < 25; retry += 1)
        ({ status } = await play.send(
          { ...wish!, headers },
          { token, userAgent: client.userAgent({} as Day) },
        ));
      return status < 500;
    });
  }
  await waitFor(async () => (await play.stageStates())["first"] === "paused");
  const [pause] = (await play.api("sunset")).plan.pauses;
  expect(pause).toMatchObject({
    stage: "first",
    by: "gateway",
    // The user agent that names the warehouse proves nothing: its token is in the reason.
    reason: expect.stringMatching(/^poller, ledger, \w+ answered with storms of retries$/),
  });
  await waitForNotice("storm", { stage: "first" });
}

const isOn = ({ time }: SentCall, moment: string): boolean => new Date(time).toISOString().startsWith(moment);
/** Whether it is a call that the plan decides. */
const isPlanned = ({ lane, route }: SentCall): boolean => lane === "alpha" && route !== null;

/** The statuses of a moment, of all clients but some. */
function statusesOn(moment: string, ...but: readonly string[]): readonly number[] {
  const calls = play.ledger.find((call) => isPlanned(call) && isOn(call, moment));
  const others = calls.filter((call) => !but.includes(play.ledger.nameOf(call) ?? ""));
  return [...new Set(others.map(({ status }) => status))].toSorted((one, other) => one - other);
}

/** The statuses of one client on a day. */
const statusesOf = (date: string, name: string): readonly number[] => [
  ...new Set(
    play.ledger
      .find((call) => isPlanned(call) && isOn(call, date) && play.ledger.nameOf(call) === name)
      .map(({ status }) => status),
  ),
];

/** What the plan did on a day, after it. */
const RESULTS: Readonly<Record<string, () => void>> = {
  "2026-06-01": () =>
    expect(play.ledger.find((call) => call.userAgent === NEWCOMER_AGENT).map(({ status }) => status)).toEqual(
      [403],
    ),
  "2026-07-06": () => {
    expect(statusesOn("2026-07-06T10:30", "billing")).toEqual([500]);
    expect(statusesOf("2026-07-06", "billing")).toEqual([200]);
    expect(statusesOn("2026-07-06T15:30")).toEqual([200]);
  },
  "2026-07-20": () => expect(statusesOn("2026-07-20T10:30")).toEqual([200]),
  "2026-07-27": () => expect(statusesOn("2026-07-27T10:30", "billing")).toEqual([500]),
  // A client of `wait_for` called within 14 days.
  "2026-10-05": () => expect(statusesOn("2026-10-05T10:30")).toEqual([200]),
  "2026-10-12": () => {
    expect(statusesOn("2026-10-12T10:30", "billing")).toEqual([503]);
    expect(statusesOn("2026-10-12T15:30")).toEqual([503]);
  },
  "2026-11-30": () => expect(statusesOn("2026-11-30T06:30", "import")).toContain(200),
  "2027-01-04": () => {
    expect(statusesOn("2027-01-04", "billing", "ledger")).toEqual([410]);
    expect(statusesOf("2027-01-04", "billing")).toEqual([200]);
    expect(statusesOf("2027-01-04", "ledger")).toEqual([200]);
  },
  "2027-02-01": () => expect(statusesOf("2027-02-01", "billing")).toEqual([410]),
  "2027-02-15": () => expect(statusesOn("2027-02-15")).toEqual([410]),
};

/** Whether a figure is within five per cent of another. */
function expectWithinFivePercent(what: string, foreseen: number, actual: number): void {
  const isWithin = Math.abs(foreseen - actual) <= 0.05 * actual;
  expect({ what, foreseen, actual, isWithin }).toEqual({ what, foreseen, actual, isWithin: true });
}

/** A stage that is simulated on a Friday, and what is counted in the week after it. */
interface Forecast {
  readonly stage: string;
  readonly monday: string;
  readonly status: number;
  /** Routes that another stage has ended before. */
  readonly ended: readonly string[];
}
const FORECASTS: readonly Forecast[] = [
  { stage: "second", monday: "2026-09-07", status: 500, ended: [] },
  { stage: "end", monday: "2027-01-04", status: 410, ended: ["GET /dns/zones"] },
];
const DAY_MS = 86_400_000;

async function simulate({ stage, monday }: Forecast): Promise<Answer> {
  await play.stop();
  play.setTime(new Date(Date.parse(monday) - 2.5 * DAY_MS).toISOString());
  await play.start();
  const { recorded, stages } = JSON.parse(await play.command("sunset", "simulate", "--format", "json"));
  expect(recorded.weeks).toBe(4);
  return stages.find(({ name }: Answer) => name === stage);
}

function compareForecast({ stage, monday, status, ended }: Forecast, foreseen: Answer): void {
  const start = Date.parse(monday);
  const actual = play.ledger.find(
    (call) =>
      call.time >= start &&
      call.time < start + 7 * DAY_MS &&
      call.status === status &&
      play.ledger.isAccepted(call) &&
      !ended.includes(call.route ?? ""),
  );
  expectWithinFivePercent(`calls of ${stage}`, foreseen.calls, actual.length);
  expectWithinFivePercent(`clients of ${stage}`, foreseen.clients.length, play.ledger.countClients(actual));
}

/** The answers of a client from which a field is left out. */
async function expectHiddenField(): Promise<void> {
  const warehouse = play.clients.find(({ name }) => name === WAREHOUSE)!;
  const [token = ""] = warehouse.tokens;
  const [wish] = warehouse.wishes({ isMonday: true } as Day);
  const { text, headers } = await play.send(wish!, { token, userAgent: warehouse.userAgent({} as Day) });
  expect(JSON.parse(text)).not.toHaveProperty("label");
  expect(headers.get("x-field-brown-out")).toBe("instance.label");
}

/**
 * Tells some days of the story with a store.
 *
 * @returns how many requests were sent
 */
export async function tell(days: readonly Day[], store: StoryStore): Promise<number> {
  play = await Play.create(temporaryFolder(), store);
  try {
    return await tellDays(days);
  } finally {
    await play.close();
  }
}

async function tellDays(days: readonly Day[]): Promise<number> {
  const last = days.at(-1)?.date ?? "";
  const checks = Object.entries(CHECKS);
  const forecasts = new Map<string, Answer>();
  play.setTime(`${days[0]?.date}T00:00:00Z`);
  await play.start();
  for (const [index, day] of days.entries()) {
    const { date } = day;
    for (const forecast of FORECASTS)
      if (date === forecast.monday) forecasts.set(forecast.stage, await simulate(forecast));
    if (date === "2026-07-23") await play.act("resume", "first");
    await play.playDay(day, async (slot) => {
      if (date === "2026-07-13" && slot === 1) await storm();
      if (date === "2026-10-05" && slot === 0) await expectHiddenField();
    });
    RESULTS[date]?.();
    await expectNotices(date);
    const next = days[index + 1]?.date ?? "9999";
    const [due] = checks;
    if (due && next > due[0]) {
      checks.shift();
      await check(...due);
    }
  }
  for (const forecast of FORECASTS)
    if (forecast.monday < last) compareForecast(forecast, forecasts.get(forecast.stage));
  compareNotices(play);
  expect(checks.every(([date]) => date > last)).toBe(true);
  return play.ledger.size - MORE_USERS;
}
