/**
 * The story of an end: 64 clients over 14 months, from the announcement to 410, by a clock that the test sets. The test
 * counts itself what was sent and answered, and compares the figures of the report, the API and the commands with it.
 */
import { expect, test } from "@jest/globals";
import { describeWith } from "../../support/services.ts";
import { makeDatabase } from "../../support/postgres-database.ts";
import { waitFor } from "../../support/wait-for.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { daysOfStory, MOBILE, NEWCOMER_AGENT, type Day } from "./story/clients.ts";
import { compareAll } from "./story/compare.ts";
import type { SentCall } from "./story/ledger.ts";
import { Play } from "./story/play.ts";

const LONG_MS = 900_000;
const describe = await describeWith("faketime");
const describePostgres = await describeWith("faketime", "postgres");

let play: Play;

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

/** @returns how many requests were sent */
async function tell(days: readonly Day[]): Promise<number> {
  const last = days.at(-1)?.date ?? "";
  const checks = Object.entries(CHECKS);
  play.setTime(`${days[0]?.date}T00:00:00Z`);
  await play.start();
  for (const [index, day] of days.entries()) {
    const { date } = day;
    if (date === "2026-07-23") await play.act("resume", "first");
    if (date === "2026-07-13") await play.act("pause", "first");
    await play.playDay(day);
    RESULTS[date]?.();
    await expectNotices(date);
    const next = days[index + 1]?.date ?? "9999";
    const [due] = checks;
    if (due && next > due[0]) {
      checks.shift();
      await check(...due);
    }
  }
  expect(checks.every(([date]) => date > last)).toBe(true);
  return play.ledger.size;
}

describe("with SQLite", () => {
  test(
    "report, console, commands and API agree with what 64 clients did in 14 months, until 410",
    async () => {
      play = await Play.create(temporaryFolder(), {});
      // The scanner and the reader without a token are the others.
      expect(play.clients).toHaveLength(62);
      expect(await tell(daysOfStory())).toBeGreaterThan(10_000);
    },
    LONG_MS,
  );
});

describePostgres("with PostgreSQL", () => {
  test(
    "the figures are the same in the first seven months",
    async () => {
      play = await Play.create(temporaryFolder(), { DATABASE_URL: (await makeDatabase()).url });
      expect(await tell(daysOfStory().filter(({ week }) => week < 30))).toBeGreaterThan(5000);
    },
    LONG_MS,
  );
});
