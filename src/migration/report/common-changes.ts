/** The changes that affect all calls. */
import {
  type CredentialsPlace,
  type DialectDefinition,
  dottedPath,
  findPath,
  mayBeNotModified,
  nameOf,
  NOT_MODIFIED,
  type Pack,
  type PageSize,
  type PagingStyle,
  type Shape,
  TOO_MANY_REQUESTS,
} from "../../pack/index.ts";
import type { Difference } from "./model.ts";

const list = (names: readonly string[]): string => names.join(", ");

/** A difference: its subject, and its form in alpha and in v4. */
type Row = readonly [what: string, alpha: string, v4: string];

function describeOperators({ client, upstream }: DialectDefinition): Row[] {
  const spellings = (filters: typeof upstream.filters): Map<string, string[]> =>
    new Map(Object.entries(filters?.operators ?? {}).map(([is, texts]) => [is, [texts].flat()]));
  const upstreamSpellings = spellings(upstream.filters);
  const changed = [...spellings(client.filters)].flatMap(([is, texts]) => {
    const [v4 = "-"] = upstreamSpellings.get(is) ?? [];
    const others = texts.filter((spelling) => spelling !== v4);
    return others.length === 0 ? [] : [[list(others), v4] as const];
  });
  if (changed.length === 0) return [];
  const what = `Operators in ${client.filters?.header ?? "the query"}`;
  return [[what, list(changed.map(([alpha]) => alpha)), list(changed.map(([, v4]) => v4))]];
}

const COUNTS = ["page", "pages", "total"];

/** Lists the names of the counts in a list response. */
const describeCounts = (shape: Shape, header: string | undefined): string =>
  list([
    ...COUNTS.flatMap((count) => dottedPath(shape, count) ?? []),
    ...(header === undefined ? [] : [`the header ${header}`]),
  ]) || "none";

/**
 * Describes the location of the rows in a list: a member with a fixed name, a member with the name of the list, or the
 * array itself.
 */
function describeRows(shape: Shape): string {
  const keys = findPath(shape, "items") ?? [];
  if (keys.length === 0) return "the response is the array";
  const named = keys.findIndex((key) => nameOf(key) === "list");
  if (named === -1) return `always in ${keys.join(".")}`;
  const [above, below] = [keys.slice(0, named).join("."), keys.slice(named + 1).join(".")];
  const member = "a member with the name of the list";
  const within = above === "" ? member : `${member} in ${above}`;
  return below === "" ? `in ${within}` : `in ${below} of ${within}`;
}

/** Describes the statuses that clients get, except for those of a plan. */
function describeStatuses({ routes, statuses, dialect: { errors, upstream } }: Pack): string {
  const table = errors.statuses ?? {};
  const codes = [...Object.values(errors.codes ?? {}), errors.other_codes];
  const found = new Set([
    ...routes.flatMap(({ source, status }) => ("error" in source ? source.error.status : status)),
    ...(routes.some(mayBeNotModified) ? [NOT_MODIFIED] : []),
    ...statuses.all,
    ...routes.flatMap(({ ownStatuses }) => ownStatuses),
    ...Object.values(table),
    ...codes.flatMap((code) => (typeof code === "object" ? (code.status ?? []) : [])),
  ]);
  const named = list([...found].toSorted((one, next) => one - next).map(String));
  const isClosed =
    table["default"] !== undefined || (table["4XX"] !== undefined && table["5XX"] !== undefined);
  return isClosed ? `${named} only` : `${named}, and other statuses of errors as ${upstream.name} has them`;
}

/** Describes the location of the token in requests. */
function describePlace({ scheme, basic, header, query, cookie }: CredentialsPlace = {}): string {
  if (scheme !== undefined) return `Authorization: ${scheme} …`;
  if (basic !== undefined)
    return `Authorization: Basic … (${basic === "both" ? "user name and password" : basic})`;
  if (header !== undefined) return `${header}: …`;
  if (query !== undefined) return `?${query}=…`;
  return cookie === undefined ? "none" : `Cookie: ${cookie}=…`;
}

/** Describes how a page is requested. */
function describePages(style: PagingStyle | undefined, { parameter, maximum }: PageSize): string {
  if (!style) return "no pages";
  const start = `?${style.parameter}=${style.kind === "cursor" ? "CURSOR" : "N"}`;
  return parameter === undefined
    ? `${maximum}, fixed; ${start}`
    : `${start}&${parameter}=M, at most ${maximum}`;
}

/** Describes the differences that affect all calls. */
export function describeCommonChanges(pack: Pack): readonly Difference[] {
  const { dialect, lists, statuses, paging } = pack;
  const { client, upstream } = dialect;
  const limited = `${statuses.limited} ${statuses.phrases[statuses.limited] ?? "Too Many Requests"}`;
  const { always_ok: always } = client;
  const rows: readonly Row[] = [
    ["Credentials", describePlace(client.credentials), describePlace(upstream.credentials)],
    ["Rows of a list", describeRows(lists.client), describeRows(lists.upstream)],
    [
      "Counts of a list",
      describeCounts(lists.client, client.pagination?.total_header),
      describeCounts(lists.upstream, upstream.pagination?.total_header),
    ],
    [
      "Page size",
      describePages(paging.style, paging.size),
      describePages(paging.upstream.style, paging.upstream.size),
    ],
    ...describeOperators(dialect),
    ["Too many requests", limited, `${TOO_MANY_REQUESTS}; Retry-After is the time to wait`],
    ["Statuses", describeStatuses(pack), "any HTTP status; 200 to 299 mean success"],
    ["Fields in errors", `${client.name}'s names`, `${upstream.name}'s names, as in these tables`],
    ...(always
      ? [
          [
            `Clients that sent ${always.request_header ?? always.parameter}`,
            `always 200, with the status in ${always.response_header}`,
            "always the status",
          ] as const,
        ]
      : []),
  ];
  return rows.map(([what, alpha, v4]) => ({ what, alpha, v4 }));
}
