/** Reads queries from texts: the parameters of the admin API, and the flags of commands. */
import { LANES } from "../record/record.ts";
import { readCursor } from "../store/record-pages.ts";
import { type AuditQuery, MAX_LIMIT } from "../store/store.ts";
import { ANONYMOUS } from "../usage/client-groups.ts";
import type { LossQuery } from "../usage/loss-usage.ts";
import { UNACCEPTED } from "../usage/summary-key.ts";
import type { UsageQuery } from "../usage/usage.ts";

/** The texts of a query by the names of their parameters, unchecked. */
export type Given = Readonly<Record<string, unknown>>;

/** The reason why a text of a query is invalid, and the name of its parameter. */
interface QueryProblem {
  readonly reason: string;
  readonly parameter: string;
}

/** A query, with the problems of its texts. If there are problems, it is incomplete. */
export interface ReadQuery<Query> {
  readonly query: Query;
  readonly problems: readonly QueryProblem[];
}

type Parameter = Exclude<keyof AuditQuery, "clients">;
/** Parses a parameter; returns `undefined` if the text is invalid. */
type ParseText = (text: string) => string | number | undefined;

const PARAMETERS: Readonly<Record<Parameter, { read: ParseText; expected: string }>> = {
  limit: { read: integerBetween(1, MAX_LIMIT), expected: `a number from 1 to ${MAX_LIMIT}` },
  before: { read: (text) => readCursor(text) && text, expected: "the `next` of the page before" },
  client: {
    read: parseMatching(/^(?:[0-9a-f]{16}|(?:application|label):.{1,256})$/u),
    expected:
      "a name of CLIENTS_FILE, a fingerprint (16 hexadecimal digits in lower case), application:ID, label:NAME, or agent:FAMILY",
  },
  lane: {
    read: (text) => LANES.find((lane) => lane === text),
    expected: `${LANES.slice(0, -1).join(", ")} or ${LANES.at(-1)}`,
  },
  route: {
    read: parseMatching(/^(?:[A-Z]+ \/\S{0,500}|other)$/),
    expected: "a route of the pack, e.g. GET /vm/instances/:id",
  },
  status: { read: integerBetween(100, 599), expected: "a status, e.g. 404" },
  since: { read: parseMoment, expected: "a moment in ISO 8601 with its zone, e.g. 2026-01-31T12:00:00Z" },
  until: { read: parseMoment, expected: "a moment in ISO 8601 with its zone, e.g. 2026-01-31T12:00:00Z" },
};

/** The parameters that select records. The others select a page. */
export type RecordFilter = Exclude<Parameter, "limit" | "before">;

/** Their names. */
export const RECORD_FILTERS: readonly RecordFilter[] = Object.keys(PARAMETERS).filter(isFilter);

/** Matches a timestamp of RFC 3339, or a date, which means midnight in UTC. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Parses the parameters of `GET /api/audit`. Unknown parameters are problems as well: a misspelt filter would match
 * everything. Parameters without a text (`client=`) are ignored.
 */
export function readAuditQuery(given: Given): ReadQuery<AuditQuery> {
  const query: Partial<Record<Parameter, string | number>> = {};
  const problems: QueryProblem[] = [];
  for (const [parameter, text] of Object.entries(given)) {
    if (text === "" || text === undefined) continue;
    if (!isParameter(parameter)) {
      problems.push({ reason: `Use ${Object.keys(PARAMETERS).join(", ")}.`, parameter });
      continue;
    }
    const { read, expected } = PARAMETERS[parameter];
    const value = typeof text === "string" ? read(text) : undefined;
    if (value === undefined) problems.push({ reason: `Has to be ${expected}, once.`, parameter });
    else query[parameter] = value;
  }
  return { query: query as AuditQuery, problems };
}

function isParameter(name: string): name is Parameter {
  return Object.hasOwn(PARAMETERS, name);
}

function isFilter(name: string): name is RecordFilter {
  return isParameter(name) && name !== "limit" && name !== "before";
}

function integerBetween(least: number, greatest: number): ParseText {
  return (text) => {
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= greatest ? value : undefined;
  };
}

function parseMatching(pattern: RegExp): ParseText {
  return (text) => (pattern.test(text) ? text : undefined);
}

function parseMoment(text: string): string | undefined {
  const time = MOMENT.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** Whether a day exists. `Date.parse` accepts February 31 and returns a day in March. */
function isDay(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}

const USAGE_PARAMETERS = new Set(["client", "lane", "since", "until"]);

/**
 * Parses the parameters of summaries: `client` (a key, or `none`), `lane`, `since` and `until`. Other parameters are
 * problems.
 *
 * @param parameters The names of all parameters.
 */
export function readUsageQuery(
  given: Given,
  parameters: ReadonlySet<string> = USAGE_PARAMETERS,
): ReadQuery<UsageQuery> {
  const { client } = given;
  const anonymous = client === ANONYMOUS;
  const { client: _none, ...others } = given;
  const { query, problems } = readAuditQuery(anonymous || client === UNACCEPTED ? others : given);
  const unknown = Object.keys(query).filter((name) => !parameters.has(name));
  const reason = `Use ${[...parameters].join(", ")}.`;
  return {
    query: { ...query, ...(anonymous && { client: null }), ...(client === UNACCEPTED && { client }) },
    problems: [...problems, ...unknown.map((parameter) => ({ reason, parameter }))],
  };
}

const ROUTE_PARAMETERS = new Set([...USAGE_PARAMETERS, "route"]);

/** Parses the parameters of losses and calls: those of summaries, and additionally `route`. */
export const readRouteQuery = (given: Given): ReadQuery<LossQuery> => readUsageQuery(given, ROUTE_PARAMETERS);
