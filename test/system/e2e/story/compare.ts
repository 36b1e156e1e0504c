/** Compares every figure that people see with what the test has counted. */
import { expect } from "@jest/globals";
import { waitFor } from "../../../support/wait-for.ts";
import { DESK_ID, MOBILE, MOBILE_ID } from "./clients.ts";
import { sorted, toMinute, toMinutes, type Range } from "./ledger.ts";
import { RETENTION_DAYS, USAGE_RETENTION_DAYS, type Answer, type Play } from "./play.ts";

const DAY_MS = 86_400_000;
const dayBefore = (now: number, days: number): string =>
  new Date(now - days * DAY_MS).toISOString().slice(0, 10);

/** The times of a row, as whole minutes. */
const inMinutes = (row: Answer): Answer =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key,
      ["first", "last", "lastAlpha", "lastNative"].includes(key)
        ? toMinute(value as string | null)
        : key === "longestPauseMs" || key === "longerPauseMs"
          ? toMinutes(value as number | null)
          : value,
    ]),
  );

const byClient = ({ client }: Answer): readonly unknown[] => [client];
const byRoute = ({ client, lane, route, status, name }: Answer): readonly unknown[] => [
  client,
  lane,
  route,
  status,
  name,
];
const rowsOf = (rows: readonly Answer[], keyOf: typeof byClient): Answer[] =>
  sorted(
    rows.map((row) => inMinutes(row)),
    keyOf,
  );

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

const parametersOf = ({ first, last, lane }: Range): string =>
  new URLSearchParams({
    ...(first !== undefined && { since: first }),
    ...(last !== undefined && { until: new Date(Date.parse(last) + DAY_MS).toISOString().slice(0, 10) }),
    ...(lane !== undefined && { lane }),
  }).toString();

/** The summaries of the console's tables and charts. */
async function compareUsage(play: Play, range: Range = {}): Promise<void> {
  const { ledger, now } = play;
  const parameters = parametersOf(range);
  const { clients } = await play.api(`usage/clients?${parameters}`);
  const rows = clients.map(({ otherAgents, ...row }: Answer) =>
    otherAgents ? { ...row, otherAgents: otherAgents.toSorted() } : row,
  );
  expect(rowsOf(rows, byClient)).toEqual(sorted(ledger.clients(now, range), byClient));
  const { routes } = await play.api(`usage/routes?${parameters}`);
  expect(rowsOf(routes, byRoute)).toEqual(
    sorted(
      ledger.routes(now, range).map((row) => ({ ...row, sample: expect.any(String) })),
      byRoute,
    ),
  );
  const { days } = await play.api(`usage/days?${parameters}`);
  expect(days).toEqual(ledger.days(now, range));
  if (range.lane !== undefined) return;
  const { sent } = await play.api(`usage/sent?${parameters}`);
  expect(rowsOf(sent, byRoute)).toEqual(sorted(ledger.sent(now, range), byRoute));
  expectLosses((await play.api(`usage/losses?${parameters}`)).losses, ledger.losses(now, range));
}

const pick = (row: Answer, names: readonly string[]): Answer =>
  Object.fromEntries(names.map((name) => [name, row[name]]));

const byLoss = ({ loss, client, name }: Answer): readonly unknown[] => [loss, name ?? client];

/** What was lost: the pack says how much a loss weighs. */
function expectLosses(shown: readonly Answer[], expected: ReturnType<Play["ledger"]["losses"]>): void {
  const wanted = expected.map(({ clients, ...loss }) => ({
    ...loss,
    severity: expect.stringMatching(/^(?:rounding|detail|meaning)$/),
    clients: sorted(
      clients.map((each) => ({ ...each, client: each.name === null ? each.client : expect.any(String) })),
      byLoss,
    ),
  }));
  const counted = shown.map((loss) => ({
    ...loss,
    clients: sorted(
      loss.clients.map((each: Answer) => pick(each, ["client", "name", "requests", "firstDay", "lastDay"])),
      byLoss,
    ),
  }));
  expect(counted).toEqual(wanted);
}

/** All tokens of an application; of many, those with the most requests. */
async function compareTokens(play: Play): Promise<void> {
  for (const id of [DESK_ID, MOBILE_ID]) {
    const { tokens } = await play.api(`usage/tokens?client=application:${id}`);
    const expected = play.ledger.tokens(play.now, `application:${id}`);
    expect(tokens).toHaveLength(Math.min(1000, expected.length));
    const known = new Map(expected.map((token) => [token.fingerprint, token]));
    for (const token of tokens) expect(inMinutes(token)).toEqual(known.get(token.fingerprint));
  }
}

/** Who would notice if a route were gone, or a member of its bodies. */
async function compareImpact(play: Play): Promise<void> {
  const questions: readonly [string, string, string?][] = [
    ["route=GET /dns/zones", "GET /dns/zones"],
    ["route=PUT /vm/instances/:id&field=label", "PUT /vm/instances/:id", "body.label"],
    ["route=GET /vm/instances&field=filter.label", "GET /vm/instances", "filter.label"],
  ];
  const byId = ({ id }: Answer): readonly unknown[] => [id];
  for (const [query, route, name] of questions) {
    const { clients } = await play.api(`usage/impact?${new URLSearchParams(query).toString()}`);
    const shown = clients.map(({ name: named, client, calls, last }: Answer) => ({
      id: named ?? client,
      calls,
      last,
    }));
    expect({ query, clients: sorted(shown, byId) }).toEqual({
      query,
      clients: sorted(play.ledger.impact(play.now, route, name), byId),
    });
  }
}

/** Clients that read their own page: by a token, and the mobile application by its secret. */
const READERS = [
  "ledger",
  "quarterly report",
  "monthly invoice",
  "returner",
  "finisher 2",
  "native first",
  MOBILE,
];

/** The pages that clients read with their own credentials. */
async function comparePages(play: Play): Promise<void> {
  for (const name of READERS) {
    const page = await play.readPage(name);
    const expected = play.ledger.page(play.now, (call) => play.ledger.nameOf(call) === name);
    expect({
      name,
      ...pick(page, ["state", "last_call", "last_upstream_call", "unmatched"]),
      routes: sorted(
        page.routes.map((route: Answer) => pick(route, ["route", "requests", "lossy", "first", "last"])),
        ({ route }: Answer) => [route],
      ),
    }).toEqual({ name, ...expected });
  }
}

/** The records of the last days, by the name of the client. */
async function compareRecords(play: Play): Promise<void> {
  for (const name of ["billing", "returner", "monthly invoice"]) {
    const own = play.ledger.records(play.now, name, RETENTION_DAYS);
    for (const lane of ["alpha", "native"]) {
      const { records } = await play.api(`audit?limit=500&lane=${lane}&client=${encodeURIComponent(name)}`);
      // Reading its page is recorded, and is no call.
      const calls = records.filter(({ alpha }: Answer) => alpha.route !== "GET /migration");
      expect([name, lane, calls.length]).toEqual([
        name,
        lane,
        own.filter((call) => call.lane === lane).length,
      ]);
    }
  }
}

/** What `alpha-gateway clients` lists: clients without a name. */
async function compareUnnamed(play: Play): Promise<void> {
  const line = /^ *(\d+)  (.{9})  (\S+) to (\S+)  (\S+)/gm;
  const printed = (await play.command("clients")).matchAll(line);
  const shown = [...printed].map(([, requests, state = "", first, last, client]) => ({
    requests: Number(requests),
    state: state.trim(),
    first,
    last,
    client,
  }));
  const expected = play.ledger
    .clients(play.now)
    .filter(({ name, state }) => name === null && state !== null)
    .map(({ requests, state, first, last, client }) => ({
      requests,
      state,
      first: first.slice(0, 10),
      last: last.slice(0, 10),
      client,
    }));
  expect(sorted(shown, byClient)).toEqual(sorted(expected, byClient));
}

/** Whether each notice was true when it was sent. */
export function compareNotices({ ledger, notices }: Play): void {
  for (const { type, timestamp, data } of notices) {
    const time = Date.parse(timestamp);
    const client = String(data["client"]);
    const said = { type, timestamp, client };
    // A look may be before or after a request of the same minute.
    if (type === "client.came_back")
      expect({ ...said, days: [time - 1, time].map((at) => ledger.cameBackAt(client, at)) }).toEqual({
        ...said,
        days: expect.arrayContaining([data["cameBack"]]),
      });
    if (type === "client.ready" || type === "client.new")
      expect({ ...said, states: ledger.statesAt(client, time) }).toEqual({
        ...said,
        states: expect.arrayContaining([data["state"]]),
      });
  }
}

const REPORT_COLUMNS =
  "name userAgent first last lastAlpha requests native errors lossy readiness cameBack longerPauseMs unmatched";
type Expected = ReturnType<Play["ledger"]["report"]>;
const keyOfGuide = ({ name, client }: Answer): readonly unknown[] => [
  name ?? "",
  name === null ? client : "",
];

/** Routes that somebody uses: what strangers were refused shows nothing. */
const usedRoutes = (guides: Expected): ReadonlySet<string> =>
  new Set(
    guides.flatMap(({ keys, calls }) =>
      calls
        .filter(({ statuses }) => keys[0] !== "unaccepted" || statuses.some(({ status }) => status < 400))
        .map(({ route }) => route),
    ),
  );

/** The report as JSON. */
async function compareReport(play: Play, expected: Expected): Promise<void> {
  const { now, ledger } = play;
  const report = await play.api("report");
  const shown = report.clients.map((guide: Answer) => ({
    ...inMinutes(pick(guide, REPORT_COLUMNS.split(" "))),
    client: guide.client,
    losses: guide.losses.map(({ severity: _severity, ...loss }: Answer) => loss),
    calls: sorted(
      guide.calls.map((call: Answer) => ({
        ...inMinutes(pick(call, ["route", "requests", "lossy", "last"])),
        statuses: sorted(call.statuses, ({ status }: Answer) => [status]),
      })),
      ({ route }: Answer) => [route],
    ),
  }));
  const wanted = expected.map(({ keys, ...guide }) => ({
    ...guide,
    client: guide.name === null ? keys[0] : expect.any(String),
  }));
  expect(sorted(shown, keyOfGuide)).toEqual(sorted(wanted, keyOfGuide));
  const sum = (figure: "requests" | "native" | "errors" | "lossy"): number =>
    expected.reduce((total, guide) => total + guide[figure], 0);
  const inState = (state: string): number => expected.filter(({ readiness }) => readiness === state).length;
  expect(report.totals).toMatchObject({
    requests: sum("requests"),
    native: sum("native"),
    errors: sum("errors"),
    lossy: sum("lossy"),
    clients: expected.filter(({ readiness }) => readiness !== null).length,
    done: inState("ready"),
    silent: inState("silent"),
    calls: usedRoutes(expected).size,
  });
  expect(report.days).toEqual(ledger.days(now));
  expectLosses(report.losses, ledger.losses(now));
  expect(report.cut).toBe(false);
}

/** The rows of a table (RFC 4180). */
function readCsv(text: string): readonly Readonly<Record<string, string>>[] {
  const rows = text
    .split("\r\n")
    .slice(0, -1)
    .map((line) =>
      [...`${line},`.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*)),/gs)].map(
        ([, quoted, bare = ""]) => quoted?.replaceAll('""', '"') ?? bare,
      ),
    );
  const [head = [], ...lines] = rows;
  return lines.map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ""])));
}

const cell = (value: string | number | null): string => (value === null ? "" : String(value));

/** The report as a table. */
async function compareCsv(play: Play, expected: Expected): Promise<void> {
  const columns =
    "name user_agent readiness came_back last_alpha client_requests client_native alpha_call requests refused with_losses last";
  const shown = readCsv(await play.api("report?format=csv")).map((row) => ({
    ...pick(row, columns.split(" ")),
    key: row["name"] || row["client"] || "",
    last_alpha: cell(toMinute(row["last_alpha"] || null)),
    lost: (row["losses"] || undefined)?.split("\n").map((line) => line.replace(/^\w+ /, "")) ?? [],
    last: cell(toMinute(row["last"] ?? null)),
  }));
  const wanted = expected.flatMap(({ calls, keys, ...guide }) =>
    (calls.length === 0 ? [undefined] : calls).map((call) => ({
      key: guide.name ?? keys[0] ?? "",
      name: cell(guide.name),
      user_agent: guide.userAgent,
      readiness: cell(guide.readiness),
      came_back: cell(guide.cameBack),
      last_alpha: cell(guide.lastAlpha),
      client_requests: cell(guide.requests),
      client_native: cell(guide.native),
      alpha_call: call?.route ?? "",
      requests: cell(call?.requests ?? null),
      refused: call
        ? cell(call.statuses.reduce((sum, { status, requests }) => sum + (status >= 400 ? requests : 0), 0))
        : "",
      with_losses: cell(call?.lossy ?? null),
      lost: guide.losses.filter(({ routes }) => routes.includes(call?.route ?? "")).map(({ loss }) => loss),
      last: cell(call?.last ?? guide.last),
    })),
  );
  const keyOf = ({ key, alpha_call: call }: Answer): readonly unknown[] => [key, call];
  expect(sorted(shown, keyOf)).toEqual(sorted(wanted, keyOf));
}

/** Compares all figures at this moment of the story. */
export async function compareAll(play: Play): Promise<void> {
  await waitForPurge(play);
  await compareUsage(play);
  await compareUsage(play, { lane: "native" });
  await compareUsage(play, { first: dayBefore(play.now, 60), last: dayBefore(play.now, 20) });
  await compareTokens(play);
  await compareImpact(play);
  await comparePages(play);
  await compareRecords(play);
  await compareUnnamed(play);
  const expected = play.ledger.report(play.now);
  await compareReport(play, expected);
  await compareCsv(play, expected);
  const { inForce, ...status } = (await play.api("sunset")).plan;
  expect(inForce).toBe(true);
  const printed = await play.command("sunset", "status", "--format", "json");
  expect(JSON.parse(printed)).toEqual({ ...status, inForce });
}
