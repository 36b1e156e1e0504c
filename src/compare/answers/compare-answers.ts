/** Compares the old and the new response to one request. Pure functions, without calls and side effects. */
import { cutText, isObject, parseJson } from "../../base/index.ts";
import {
  type ErrorFormats,
  errorsOf,
  fillKey,
  findPath,
  isSuccess,
  keyNameOf,
  namesIn,
  type Pack,
  type Route,
  TOO_MANY_REQUESTS,
} from "../../pack/index.ts";
import type { Answer, ComparedRequest, Difference, NotComparableReason } from "./comparison.ts";
import { hasOpaqueCursor, orderOf } from "./compared-request.ts";
import { acceptBy } from "./accepted-differences.ts";
import { createRowAlignment, type ListRule, type RowRules } from "./align-rows.ts";
import { compare, type JudgeScalar, memberField } from "./compare.ts";
import { jsonType, judgePlainly } from "./value-format.ts";

/** The rules for comparing two responses. */
export interface AnswerRules {
  readonly pack: Pack;
  readonly route: Route;
  /** The fields by which the list is ordered; see `orderOf`. Undefined: its order is ignored. */
  readonly order: readonly string[] | undefined;
  readonly request: ComparedRequest;
  /** Whether the pack accepts a difference today. */
  readonly isAccepted: ReturnType<typeof acceptBy>;
}

/** The differences of two responses, or the reason why they can't be compared. */
type AnswerComparison = readonly Difference[] | NotComparableReason;

/** Maximum size of a compared body in bytes. */
export const MAX_COMPARED_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;
const MAX_VALUES = 200_000;

/** Maximum number of differences of one response. Further differences contain nothing new. */
const MAX_DIFFERENCES = 100;
/** Maximum number of characters of a value in a difference. */
const MAX_VALUE = 2000;
/** Maximum number of characters of a field. Any client may choose names of members. */
const MAX_FIELD = 300;

const SAME = { value: undefined };

/** Returns the name of a member below a field. */
export const joinField = (field: string, name: string): string =>
  cutText(memberField(field, name), MAX_FIELD);

const print = (value: unknown): string | undefined =>
  value === undefined ? undefined : cutText(JSON.stringify(value), MAX_VALUE).toWellFormed();

/** The options for comparing the values of two responses. */
interface ValueRules extends RowRules {
  readonly judge: JudgeScalar;
}

/** Returns the differences of two values: one for each field and kind, regardless of the number of affected rows. */
const compareValues = (old: unknown, other: unknown, { judge, ...rows }: ValueRules): Difference[] =>
  compare(old, other, {
    member: joinField,
    align: createRowAlignment(rows),
    judge,
    most: MAX_DIFFERENCES,
  }).map((found) => ({ ...found, old: print(found.old), new: print(found.new) }));

/** Derives from a request how its responses are compared. @param lines the accepted differences. Default: the pack's own */
export const createAnswerRules = (
  pack: Pack,
  route: Route,
  request: ComparedRequest,
  lines = pack.acceptedDifferences,
): AnswerRules => ({
  pack,
  route,
  request,
  order: orderOf(pack, route, request),
  isAccepted: acceptBy(lines, route),
});

/** Returns why a response can't be compared; undefined if it can. */
function findObstacle({ status, body }: Answer, { pack }: AnswerRules): NotComparableReason | undefined {
  if (status === pack.statuses.limited || status === TOO_MANY_REQUESTS) return "limited";
  if (status >= 500) return "failed";
  return body.length > MAX_COMPARED_BYTES ? "size" : undefined;
}

/**
 * Compares two responses.
 *
 * @param judge returns how scalars of a volatile field differ. Default: they are treated like all others
 */
export function compareAnswers(
  old: Answer,
  other: Answer,
  rules: AnswerRules,
  judge: JudgeScalar = judgePlainly,
): AnswerComparison {
  if (hasOpaqueCursor(rules.route, rules.request)) return "cursor";
  const obstacle = findObstacle(old, rules) ?? findObstacle(other, rules);
  if (obstacle !== undefined) return obstacle;
  if (rules.route.comparison.obstacle === "file" && isSuccess(old.status)) return "unreadable";
  const status = compareStatus(old, other);
  if (isSuccess(old.status) !== isSuccess(other.status)) return status;
  // Most responses are the same, byte for byte.
  const isSame = old.body.equals(other.body);
  const [body, otherBody] = isSame ? [SAME, SAME] : [bodyOf(old, rules), bodyOf(other, rules)];
  if (typeof body === "string") return body;
  if (typeof otherBody === "string") return otherBody;
  if (!isSuccess(old.status)) {
    const [error, otherError] = [body, otherBody].map(({ value }) =>
      withoutTexts(value, errorsOf(rules.route, rules.pack)),
    );
    return [...status, ...compareValues(error, otherError, errorRules(rules))];
  }
  const headers = headerNames(rules.route);
  if (isSame && headers.length === 0) return status;
  const valueRules = successRules(rules, judge);
  return [
    ...status,
    ...compareHeaders(old, other, headers, valueRules),
    ...compareValues(body.value, otherBody.value, valueRules),
  ];
}

/** Returns the difference of the status, if there is one. */
export const compareStatus = (old: Answer, other: Answer): Difference[] =>
  old.status === other.status
    ? []
    : [{ field: "status", kind: "status", old: String(old.status), new: String(other.status) }];

/** Returns the parsed body of a response. A successful response whose text is not JSON has a unique value. */
const bodyOf = (answer: Answer, { route }: AnswerRules): ReturnType<typeof parseBody> =>
  route.comparison.isText && isSuccess(answer.status)
    ? { value: { text: answer.body.toString() } }
    : parseBody(answer);

/** Returns the parsed body of a response; the value is undefined if the body is empty. */
export function parseBody({ body }: Answer): { readonly value: unknown } | NotComparableReason {
  const text = body.toString();
  if (text.trim() === "") return { value: undefined };
  try {
    return { value: parseJson(text, { maxDepth: MAX_DEPTH, maxValues: MAX_VALUES }) };
  } catch (error) {
    return error instanceof RangeError ? "size" : "unreadable";
  }
}

/** Returns the headers that the pack declares, in lower case. Other headers depend on the server. */
function headerNames(route: Route): readonly string[] {
  const { total_header: total, range_header: range } = route.lists.paging.definition.client ?? {};
  const ofLists = [total, range?.name].filter((name) => name !== undefined);
  const declared = Object.keys(route.headers?.definition.response ?? {});
  return [...declared, ...(route.response === "list" ? ofLists : [])].map((name) => name.toLowerCase());
}

function compareHeaders(
  old: Answer,
  other: Answer,
  names: readonly string[],
  rules: ValueRules,
): Difference[] {
  const valuesOf = ({ headers }: Answer): object =>
    Object.fromEntries(names.map((name) => [`header ${name}`, headers[name]]));
  return compareValues(valuesOf(old), valuesOf(other), rules);
}

/** Values of a list that only the service that sent them understands. */
const CURSORS = new Set(["next_cursor", "previous_cursor"]);
const LINKS = new Set(["next_link", "previous_link", "first_link", "last_link"]);

/** Returns the fields of a list's envelope by their meaning. */
function envelopeFields(
  { route }: Pick<AnswerRules, "route">,
  names: ReadonlySet<string>,
): ReadonlySet<string> {
  if (route.response !== "list") return new Set();
  const found = namesIn(route.lists.envelope.client.list).filter(({ name }) => names.has(name));
  return new Set(found.map(({ path }) => path.map((key) => fillKey(key, { list: route.list })).join(".")));
}

/**
 * Returns the fields of a list that repeat the request, or have a meaning for only one service: cursors, and links to
 * other pages.
 */
export const pageFields = (rules: Pick<AnswerRules, "route">): ReadonlySet<string> =>
  envelopeFields(rules, CURSORS.union(LINKS));

const withoutOrigin = (link: unknown): unknown =>
  typeof link === "string" ? link.replace(/^[a-z]+:\/\/[^/]*/i, "") : link;

function successRules(rules: AnswerRules, judge: JudgeScalar): ValueRules {
  const { pack, route } = rules;
  const { style } = route.lists.paging;
  const isOpaque = style?.kind === "cursor" && style.item === undefined;
  const cursors = envelopeFields(rules, isOpaque ? CURSORS.union(LINKS) : new Set());
  const links = envelopeFields(rules, LINKS);
  return {
    list: listRule(rules),
    idName: pack.dialect.client.id,
    toIdText: createIdText(rules),
    judge(field, old, other) {
      if (cursors.has(field)) return null;
      // The two services have different hosts.
      if (links.has(field) && withoutOrigin(old) === withoutOrigin(other)) return null;
      return judge(field, old, other);
    },
  };
}

/**
 * Returns the location of a route's list, and the member that identifies its rows: the pack's id, otherwise the first
 * member of the object.
 */
function listRule({ pack, route, order }: AnswerRules): ListRule | undefined {
  if (route.response !== "list") return undefined;
  const { id } = pack.dialect.client;
  const first = [...route.resource.fields.keys()].find((name) => !name.includes("."));
  return {
    field: (findPath(route.lists.envelope.client.list, "items", { list: route.list }) ?? []).reduce(
      joinField,
      "",
    ),
    rowPath: route.clientPath,
    idNames: first === undefined || first === id ? [id] : [id, first],
    order,
  };
}

/** Converts the spellings of an id to the same text: the client's and v4's value of a table, and upper and lower case. */
function createIdText({ pack, route: { resource } }: AnswerRules): (id: unknown) => string {
  const kind = resource.fields.get(pack.dialect.client.id)?.values;
  const { read } = (kind === undefined ? undefined : pack.dialect.values?.[kind]) ?? {};
  const clientValues = new Map(
    typeof read === "object" ? read.map(([value, alpha]) => [String(value), alpha]) : [],
  );
  return (id) => {
    const text = typeof id === "string" ? id : JSON.stringify(id);
    const clientValue = clientValues.get(text) ?? resource.catalog?.alphaId(text) ?? text;
    return (typeof clientValue === "string" ? clientValue : JSON.stringify(clientValue)).toLowerCase();
  };
}

/** Values of an error that programs read. Its other texts are for people, and differ between the services. */
const READ_BY_PROGRAMS = new Set(["field", "pointer", "code", "status"]);

/** Replaces the values of an error by their types, except for values that programs read. */
function withoutTexts(body: unknown, { client }: ErrorFormats): unknown {
  const names = client.shapes.flatMap((shape) => namesIn(shape));
  const kept = names
    .filter(({ name }) => READ_BY_PROGRAMS.has(name))
    .map(({ path }) => path.filter((key) => key !== "[]"));
  // Errors by field contain the names of fields as keys.
  const isKept = (path: readonly string[]): boolean =>
    kept.some(
      (keys) =>
        keys.length === path.length &&
        keys.every((key, index) => key === path[index] || keyNameOf(key) !== undefined),
    );
  const strip = (path: readonly string[], value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item) => strip(path, item));
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, strip([...path, name], member)]),
      );
    if (value === undefined || value === null || isKept(path)) return value;
    const type = jsonType(value);
    return type === "string" ? "" : type === "number" ? 0 : false;
  };
  return strip([], body);
}

/** Errors contain no ids: their entries are compared in any order. */
const errorRules = ({ pack }: AnswerRules): ValueRules => ({
  idName: pack.dialect.client.id,
  toIdText: String,
  judge: judgePlainly,
});
