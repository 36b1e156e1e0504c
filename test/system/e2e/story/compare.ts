/** Compares figures that people see with what the test has counted. */
import { expect } from "@jest/globals";
import { waitFor } from "../../../support/wait-for.ts";
import { MOBILE } from "./clients.ts";
import { sorted } from "./ledger.ts";
import { RETENTION_DAYS, USAGE_RETENTION_DAYS, type Answer, type Play } from "./play.ts";

const DAY_MS = 86_400_000;
const dayBefore = (now: number, days: number): string =>
  new Date(now - days * DAY_MS).toISOString().slice(0, 10);

/** Members of rows, in the order of others. */
const pick = (rows: readonly Answer[], ...names: readonly string[]): Answer[] =>
  rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));

const byRoute = ({ client, lane, route, status }: Answer): readonly unknown[] => [
  client,
  lane,
  route,
  status,
];
const byName = ({ name, client }: Answer): readonly unknown[] => [name ?? client];

/** Waits until what is older than its days is gone. */
async function waitForPurge(play: Play): Promise<void> {
  const until = dayBefore(play.now, RETENTION_DAYS);
  const first = dayBefore(play.now, USAGE_RETENTION_DAYS);
  await waitFor(async () => {
    const [audit, usage] = await Promise.all([
      play.api(`audit?limit=1&until=${until}`),
      play.api("usage/days"),
    ]);
    return audit.records.length === 0 && usage.days.every(({ day }: Answer) => day >= first);
  });
}

/** Clients that read their own page: by a token, and the mobile application by its secret. */
const READERS = ["quarterly report", "returner", MOBILE];

/** Compares the summaries, the report, pages of clients and the plan, at this moment of the story. */
export async function compareAll(play: Play): Promise<void> {
  await waitForPurge(play);
  const { ledger, now } = play;
  const { routes } = await play.api("usage/routes");
  expect(sorted(pick(routes, "client", "lane", "route", "status", "requests"), byRoute)).toEqual(
    sorted(ledger.routes(now), byRoute),
  );
  const { days } = await play.api("usage/days");
  expect(pick(days, "day", "alpha", "native", "errors")).toEqual(ledger.days(now));
  const report = await play.api("report");
  const expected = ledger.report(now);
  const shown = report.clients.map((client: Answer) => ({
    ...client,
    client: client.name === null ? client.client : expect.any(String),
  }));
  expect(sorted(expected, byName)).toEqual(
    sorted(pick(shown, "name", "client", "requests", "native", "errors"), byName),
  );
  const sum = (figure: "requests" | "native" | "errors"): number =>
    expected.reduce((total, client) => total + client[figure], 0);
  expect(report.totals).toMatchObject({
    requests: sum("requests"),
    native: sum("native"),
    errors: sum("errors"),
  });
  for (const name of READERS) {
    const page = await play.readPage(name);
    expect(sorted(pick(page.routes, "route", "requests"), byRoute)).toEqual(
      sorted(ledger.page(now, name), byRoute),
    );
  }
  const { plan } = await play.api("sunset");
  const printed = await play.command("sunset", "status", "--format", "json");
  expect(JSON.parse(printed)).toEqual(plan);
}
