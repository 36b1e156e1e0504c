/** The envelopes of a route's responses: the shapes of both sides, and the pages of its lists. */
import { createListParser, type ParseListBody } from "./envelope.ts";
import { LIST_VALUES } from "./page-values.ts";
import { closestMatch, isObject, type SourceLocation } from "../../base/index.ts";
import {
  fillKey,
  findNames,
  namesIn,
  reportInArray,
  reportUnknownNames,
  type Shape,
} from "../values/shape.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RoutePagination } from "./pagination-definition.ts";
import type { EnvelopeDefinition } from "../errors/responses-definition.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";
import { compilePaging, type Paging } from "./paging.ts";

/** The shapes of one side. Keys for the name of the list are already filled. */
export interface Envelope {
  readonly list: Shape;
  /** The shape of an item. Undefined if items have no wrapper. */
  readonly item: Shape;
  readonly object: Shape;
}

/** How the lists of a route are read and paged. */
export interface RouteLists {
  readonly envelope: { readonly client: Envelope; readonly upstream: Envelope };
  readonly paging: Paging;
  /** Parses the upstream's lists. */
  readonly parseList: ParseListBody;
  /** Whether a shape contains the name of the list, although the resource defines none. */
  readonly lacksName: boolean;
}

type Side = "client" | "upstream";

/** The shape of lists if the dialect defines none. */
const DEFAULT_LIST: Shape = "$items";

const LIST_NAMES = ["items", "list", ...LIST_VALUES];
const WRAPPER_NAMES = ["object", "name"];
/** Keys that an author may confuse with names of values. */
const KEYS: ReadonlySet<string> = new Set([...LIST_NAMES, ...WRAPPER_NAMES].map((name) => `$${name}`));

/** Reports names that a shape can't contain, and a missing required name: its items, or its object. */
function checkShape(shape: Shape, required: "items" | "object", location: SourceLocation): void {
  const isList = required === "items";
  const names = isList ? LIST_NAMES : WRAPPER_NAMES;
  reportUnknownNames(shape, names, location);
  const allowed = `$${isList ? "list" : "name"}`;
  const keys = findNames(shape).flatMap(({ name, as }) => (as === "key" ? `$${name}` : []));
  for (const key of keys.filter((each) => each !== allowed))
    if (KEYS.has(key) || closestMatch(key, [allowed]) !== undefined)
      location.report({ message: `"${key}" can't be a key here`, hint: `a key with a value is ${allowed}` });
  const found = namesIn(shape).map(({ name }) => name);
  const count = found.filter((name) => name === required).length;
  if (count === 0 && found.every((name) => names.includes(name)))
    location.report({
      message: `"$${required}" is missing`,
      hint: `it stands where the ${isList ? "array" : "object"} is, such as { data: $${required} }`,
    });
  if (count > 1) location.report(`"$${required}" is there ${count} times`);
  reportInArray(shape, required, location);
}

/** Reports mistakes in the shapes of both sides. @param location the location that contains `client` and `upstream` */
export function checkEnvelope(
  definition: EnvelopeDefinition,
  locationOf: (side: Side) => SourceLocation,
): void {
  for (const side of ["client", "upstream"] as const)
    for (const key of ["list", "item", "object"] as const) {
      const shape = definition[side]?.[key];
      if (shape !== undefined)
        checkShape(shape, key === "list" ? "items" : "object", locationOf(side).at(key));
    }
}

/** Fills the key of a shape that is the name of its list. */
function fillListKey(shape: Shape, list: string): Shape {
  if (!isObject(shape)) return shape;
  return Object.fromEntries(
    Object.entries(shape).map(([key, member]) => [fillKey(key, { list }), fillListKey(member, list)]),
  );
}

/** Whether a shape contains the name of its list, as a value or as a key. */
const namesList = (shape: Shape): boolean => findNames(shape).some(({ name }) => name === "list");

/** Returns the values of a list that describe its page. */
const valuesOf = (shape: Shape): ReadonlySet<string> =>
  new Set(namesIn(shape).flatMap(({ name }) => (name === "list" ? [] : name)));

const haveSameValues = (one: Shape, other: Shape): boolean =>
  valuesOf(one).symmetricDifference(valuesOf(other)).size === 0;

/** Returns the shapes of the pack's lists. */
export const packLists = ({ client, upstream }: DialectDefinition): Record<Side, Shape> => ({
  client: client.responses.list ?? DEFAULT_LIST,
  upstream: upstream.responses.list ?? DEFAULT_LIST,
});

/** The names of a resource's lists, and its envelope. */
export interface ListNames {
  readonly list: string | undefined;
  readonly upstreamList: string | undefined;
  readonly envelope: EnvelopeDefinition | undefined;
}

/** Returns the shapes of a side: those of the last envelope that defines them, otherwise those of the pack. */
const shapesOf = <S extends Side>(
  side: S,
  dialect: DialectDefinition,
  envelopes: readonly (EnvelopeDefinition | undefined)[],
): DialectDefinition[S]["responses"] =>
  Object.assign({ list: DEFAULT_LIST }, dialect[side].responses, ...envelopes.map((own) => own?.[side]));

/**
 * Maximum number of rows in one upstream list, as a multiple of the largest page. A longer list is invalid, and too
 * expensive.
 */
const MAX_PAGES_IN_ONE = 10;

/** Returns the upstream's shapes for the lists of a resource, and whether an empty list may omit its items. */
export function upstreamEnvelopeOf(
  { upstreamList = "", envelope }: ListNames,
  dialect: DialectDefinition,
): Pick<Envelope, "list" | "item"> & { readonly mayBeOmitted: boolean } {
  const { list, item, empty_list: empty } = shapesOf("upstream", dialect, [envelope]);
  return { list: fillListKey(list, upstreamList), item, mayBeOmitted: empty === "omitted" };
}

/** Returns the dialects with the pagination of one route's lists. */
function withPagination(dialect: DialectDefinition, own: RoutePagination): DialectDefinition {
  const choose = <T>(common: T | undefined, ofRoute: T | "none" | undefined): T | undefined =>
    ofRoute === "none" ? undefined : (ofRoute ?? common);
  const { client, upstream } = dialect;
  const sides = own === "none" ? { client: own, upstream: own } : own;
  return {
    ...dialect,
    client: { ...client, pagination: choose(client.pagination, sides.client) },
    upstream: { ...upstream, pagination: choose(upstream.pagination, sides.upstream) },
  };
}

/**
 * Compiles how the upstream pages a list of a catalog, which the gateway reads completely.
 *
 * @param own Undefined: as the pack defines. A list with a different shape must contain the values of those pages as
 *   well.
 * @returns undefined if the pages and the shape are as the pack defines
 */
export const compileCatalogPaging = (
  names: ListNames,
  dialect: DialectDefinition,
  own: Exclude<RoutePagination, "none">["upstream"],
  location: SourceLocation,
): Paging | undefined =>
  own === undefined && names.envelope?.upstream?.list === undefined
    ? undefined
    : compilePaging(
        withPagination(dialect, { client: "none", ...(own && { upstream: own }) }),
        { client: DEFAULT_LIST, upstream: upstreamEnvelopeOf(names, dialect).list },
        location.with({ isPinned: true }),
      );

/** The keys of a route about lists, and whether the route reads a list. */
type OwnLists = Pick<RouteDefinition, "envelope" | "pagination" | "response" | "calls" | "catalog">;

/** Whether a route reads pages: of its own list, or of a different list. */
const readsPages = ({ response, calls = [] }: OwnLists): boolean =>
  response === "list" || calls.some((call) => typeof call !== "string" && call.all_pages);

/** Returns the lists of a route, with its own envelope and pages, otherwise with those of its resource and pack. */
export type ListsOf = (own: OwnLists, route: SourceLocation) => RouteLists;

/**
 * Compiles the envelopes of the routes of a resource. Problems are reported at what defines the envelope.
 *
 * @param paging the pack's pagination: it applies to lists that have the same values and define no pages
 * @param resource The location of the resource.
 */
export function compileEnvelopes(
  { list, upstreamList, envelope: ofResource }: ListNames,
  dialect: DialectDefinition,
  paging: Paging,
  resource: SourceLocation,
): ListsOf {
  const common = packLists(dialect);

  function pagingOf(lists: Record<Side, Shape>, own: OwnLists, route: SourceLocation): Paging {
    if (own.pagination) {
      const at = route.at("pagination").with({ isPinned: true });
      return compilePaging(withPagination(dialect, own.pagination), lists, at);
    }
    // The shape of the resource's lists may be for different pages than the pack's. No list is read here.
    const isSame =
      haveSameValues(lists.client, common.client) && haveSameValues(lists.upstream, common.upstream);
    if (isSame || !readsPages(own)) return paging;
    return compilePaging(dialect, lists, route.at("envelope").with({ isPinned: true }));
  }

  function compile(own: OwnLists, route: SourceLocation): RouteLists {
    const envelopes = [ofResource, own.envelope];
    const client = shapesOf("client", dialect, envelopes);
    const upstream = shapesOf("upstream", dialect, envelopes);
    // A route of a catalog reads no list of the upstream: the catalog defines its own pages.
    const read = { client: client.list, upstream: own.catalog ? common.upstream : upstream.list };
    const routePaging = pagingOf(read, own, route);
    const [clientList, upstreamShape] = [
      fillListKey(client.list, list ?? ""),
      fillListKey(upstream.list, upstreamList ?? ""),
    ];
    return {
      envelope: {
        client: { list: clientList, item: client.item, object: client.object },
        upstream: { list: upstreamShape, item: upstream.item, object: upstream.object },
      },
      paging: routePaging,
      parseList: createListParser(upstreamShape, {
        maxItems: MAX_PAGES_IN_ONE * routePaging.upstream.size.maximum,
        mayBeOmitted: upstream.empty_list === "omitted",
      }),
      lacksName:
        (list === undefined && namesList(client.list)) ||
        (upstreamList === undefined && namesList(upstream.list)),
    };
  }

  return (own, route) => compile(own, own.envelope || own.pagination ? route : resource);
}
