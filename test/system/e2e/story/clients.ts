/** The clients of the story: 64 of them, and what each does on which day. */
import { fingerprint, tokenHash } from "../../../../src/gateway/auth/token-cache.ts";

/** A Monday. */
export const START = Date.parse("2026-01-05T00:00:00Z");
/** 14 months. */
export const WEEKS = 61;
const DAY_MS = 86_400_000;

/** A day on which somebody calls: each Monday and Thursday, and each ninetieth day. */
export interface Day {
  /** `2026-01-05`, in UTC. */
  readonly date: string;
  readonly week: number;
  readonly isMonday: boolean;
  readonly isThursday: boolean;
  readonly isQuarterly: boolean;
  /** Whether it is the first Monday or Thursday of its month. */
  readonly isMonthly: boolean;
}

/** The days of the story in their order. */
export function daysOfStory(): readonly Day[] {
  const days: Day[] = [];
  let month = "";
  for (let number = 0; number < WEEKS * 7; number += 1) {
    const date = new Date(START + number * DAY_MS).toISOString().slice(0, 10);
    const isMonday = number % 7 === 0;
    const isThursday = number % 7 === 3;
    const isQuarterly = number % 90 === 0;
    if (!isMonday && !isThursday && !isQuarterly) continue;
    const isMonthly = (isMonday || isThursday) && date.slice(0, 7) !== month;
    if (isMonthly) month = date.slice(0, 7);
    days.push({ date, week: Math.floor(number / 7), isMonday, isThursday, isQuarterly, isMonthly });
  }
  return days;
}

/** A request, and what the summaries have to say about it. */
export interface Wish {
  readonly lane: "alpha" | "native";
  readonly method: string;
  readonly path: string;
  /** As the pack names it; null: none. */
  readonly route: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Names of members, parameters and filter fields in it. */
  readonly names?: readonly string[];
  /** What its response loses, if v4 has objects for this client. */
  readonly losses?: readonly string[];
}

const alpha = (method: string, path: string, route: string | null, more: Partial<Wish> = {}): Wish => ({
  lane: "alpha",
  method,
  path: `/v4${path}`,
  route: route && `${method} ${route}`,
  ...more,
});

const LOST = ["total_transfer: a part of a GB; 0 in lists"];
const LIST = alpha("GET", "/vm/instances", "/vm/instances", { losses: LOST });
const PAGE = alpha("GET", "/vm/instances?page=1", "/vm/instances", { losses: LOST, names: ["query.page"] });
const SEARCH = alpha("GET", "/vm/instances", "/vm/instances", {
  losses: LOST,
  headers: { "x-filter": '{"label":"web"}' },
  names: ["filter.label"],
});
const ONE = alpha("GET", "/vm/instances/7", "/vm/instances/:id");
const GONE = alpha("GET", "/vm/instances/404", "/vm/instances/:id");
const RENAME = alpha("PUT", "/vm/instances/7", "/vm/instances/:id", {
  headers: { "content-type": "application/json" },
  body: '{"label":"web","group":"shop"}',
  names: ["body.label", "body.group"],
});
const ZONES = alpha("GET", "/dns/zones", "/dns/zones");
const PLACES = alpha("GET", "/datacenters", "/datacenters");
const NOWHERE = alpha("GET", "/nothing/here", null);
const NATIVE: Wish = { lane: "native", method: "GET", path: "/v4/vm/instances", route: null };

/** The hours at which clients call: before, within and after the windows of most stages. */
export const SLOTS = ["06:30", "10:30", "15:30"] as const;

export interface StoryClient {
  /** Its name in the client directory; undefined: it has none. */
  readonly name?: string;
  readonly tokens: readonly string[];
  /** An application that signs its users in through the gateway: their tokens are added to `tokens`. */
  readonly application?: string;
  readonly userAgent: (day: Day) => string;
  /** Index of {@link SLOTS}. */
  readonly slot: number;
  /** What each of its tokens sends on a day. */
  readonly wishes: (day: Day) => readonly Wish[];
}

const isUsual = ({ isMonday, isThursday }: Day): boolean => isMonday || isThursday;
const NONE: readonly Wish[] = [];

type Habit = StoryClient["wishes"];
const usually =
  (...wishes: readonly Wish[]): Habit =>
  (day) =>
    isUsual(day) ? wishes : NONE;
const onMondays =
  (...wishes: readonly Wish[]): Habit =>
  (day) =>
    day.isMonday ? wishes : NONE;
/** One habit until a week, and another one from then on. */
const then =
  (before: Habit, week: number, after: Habit): Habit =>
  (day) =>
    (day.week < week ? before : after)(day);
const silent: Habit = () => NONE;

interface Given extends Partial<Omit<StoryClient, "userAgent">> {
  readonly agent?: string;
}

let created = 0;
/** A client with one token, unless more are given. Tokens with `rich` see objects at v4. */
function client(wishes: Habit, { agent, ...given }: Given = {}): StoryClient {
  created += 1;
  const text = agent ?? `client-${created}/1`;
  return {
    tokens: [`good-${created}`],
    userAgent: () => text,
    slot: created % SLOTS.length,
    wishes,
    ...given,
  };
}
const several = (count: number, create: (index: number) => StoryClient): StoryClient[] =>
  Array.from({ length: count }, (_, index) => create(index));

/** Uses alpha, then both, then v4 alone. */
const finishing = (week: number): Habit =>
  then(usually(LIST, ONE), week, then(usually(LIST, NATIVE), week + 3, usually(NATIVE)));

/** Weeks in which clients change: none is near the week that is foreseen. */
const changeWeek = (index: number): number => 4 + (index % 6) * 4;

export const POLLER = "poller";
export const MOBILE = "mobile app";
export const WAREHOUSE = "warehouse";
export const NEWCOMER_AGENT = "newcomer/1";
/** The OAuth client id of the mobile application. */
export const MOBILE_ID = "mobile-app-1";
export const DESK_ID = "desk-1";
/** Week in which a client comes that never used alpha before: after the freeze. */
const NEWCOMER_WEEK = 21;

/** Creates all clients. The scanner and the reader without a token are not of them. */
export function createClients(): readonly StoryClient[] {
  created = 0;
  return [
    client(usually(LIST, PAGE), { name: "billing", slot: 1, tokens: ["good-rich-billing"] }),
    client(usually(LIST), { name: "ledger", slot: 1 }),
    client((day) => (day.isQuarterly ? [LIST, ZONES] : NONE), { name: "quarterly report", slot: 0 }),
    client(
      (day) => [
        ...(day.isMonthly ? [LIST, RENAME] : NONE),
        // It tries v4 at times, weeks after its call.
        ...(day.isThursday && day.week > 26 && day.week % 4 === 2 ? [NATIVE] : NONE),
      ],
      { name: "monthly invoice", slot: 1 },
    ),
    client(then(onMondays(LIST, ZONES), 39, silent), { name: "import", slot: 0 }),
    client(usually(LIST), { name: POLLER, slot: 1 }),
    client(then(finishing(12), 30, usually(LIST, NATIVE)), { name: "returner", slot: 2 }),
    ...several(5, (index) => client(finishing(changeWeek(index)), { name: `finisher ${index + 1}` })),
    ...several(2, (index) =>
      client(then(usually(LIST, SEARCH), changeWeek(index + 2), silent), { name: `quiet ${index + 1}` }),
    ),
    client(usually(NATIVE), { name: "native first" }),
    client(usually(PLACES), { name: "catalog reader", application: "catalogs-1", tokens: [], slot: 1 }),
    client(then(usually(LIST), 55, silent), { name: MOBILE, application: MOBILE_ID, tokens: [], slot: 2 }),
    client(usually(ONE, LIST), {
      name: WAREHOUSE,
      tokens: ["good-warehouse-1", "good-rich-warehouse-2", "good-warehouse-3"],
      agent: "Warehouse-Sync/3.1 (linux)",
      slot: 0,
    }),
    client(then(onMondays(SEARCH), 50, usually(NATIVE)), {
      name: "scripts",
      tokens: ["good-scripts-1", "good-scripts-2"],
      agent: "python-scripts/0.2",
      slot: 1,
    }),
    client(onMondays(LIST), { application: DESK_ID, tokens: [], slot: 0 }),
    ...several(7, (index) => client(finishing(changeWeek(index)))),
    ...several(6, (index) => client(then(usually(ZONES, GONE), changeWeek(index), silent))),
    ...several(2, () => client(usually(NATIVE))),
    ...several(6, (index) => client(usually(LIST, ONE), { tokens: [`good-rich-daily-${index}`] })),
    ...several(6, () => client(usually(ONE, PAGE, NOWHERE))),
    ...several(7, () => client(onMondays(LIST, RENAME))),
    ...several(7, () => client((day) => (day.isThursday ? [ZONES] : NONE))),
    client(
      then(
        silent,
        NEWCOMER_WEEK,
        then(onMondays(LIST), NEWCOMER_WEEK + 1, then(silent, NEWCOMER_WEEK + 2, usually(NATIVE))),
      ),
      { agent: NEWCOMER_AGENT },
    ),
  ];
}

/** Made-up tokens that a scanner sends on a day. */
export const scannedTokens = ({ date }: Day): readonly string[] => [`made-up-${date}-1`, `made-up-${date}-2`];
export const SCANNER_AGENT = "scanner/9";
export const SCAN: readonly Wish[] = [LIST, ZONES];
/** What somebody without a token reads on each day. */
export const ANONYMOUS: readonly Wish[] = [PLACES];
export const ANONYMOUS_AGENT = "curl/8.5";

/** The exchange of a code for a token. */
export const SIGN_IN: Wish = {
  lane: "alpha",
  method: "POST",
  path: "/oauth/token",
  route: "POST /oauth/token",
};

export const fingerprintOf = (token: string): string => fingerprint(tokenHash(token));

/** The text of `CLIENTS_FILE`. */
export function directoryText(clients: readonly StoryClient[]): string {
  const entries = clients.flatMap(({ name, tokens, application }) => {
    if (name === undefined) return [];
    const ids =
      application !== undefined
        ? { applications: [application] }
        : name === WAREHOUSE
          ? { user_agents: ["warehouse-sync/*"] }
          : name === "scripts"
            ? { user_agents: ["*-scripts/*"] }
            : { tokens: tokens.map(fingerprintOf) };
    return [[name, { contact: `${name.replaceAll(" ", "-")}@example.com`, ...ids, ...OWN_ENDS[name] }]];
  });
  return JSON.stringify(Object.fromEntries(entries), null, 2);
}

const OWN_ENDS: Readonly<Record<string, { ends: string }>> = { ledger: { ends: "2027-02-15" } };

/** The text of `SUNSET_FILE`. */
export const PLAN = `
announced: 2026-03-02
end: 2027-01-04
policy: https://example.com/policy
guide: https://example.com/guide
stages:
  - freeze: 2026-05-04
  - { name: first, brown_out: "0 10 * * 1", for: 1h, from: 2026-07-06, until: 2026-08-03 }
  - { name: second, brown_out: "0 10 * * 1,4", for: 4h, from: 2026-09-07, until: 2026-09-14 }
  - { name: third, brown_out: "0 8 * * 1,4", for: 8h, from: 2026-10-05, until: 2026-11-02, status: 503, wait_for: [import] }
  - { name: labels, field: instance.label, brown_out: "0 6 * * *", for: 1h, from: 2026-10-05, clients: [warehouse] }
  - { end: 2026-11-30, routes: [GET /dns/zones] }
allow: { billing: 2027-02-01 }
`;
