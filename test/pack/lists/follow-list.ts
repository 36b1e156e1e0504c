/** Follows the pages of a list: a client gets each item of the upstream once, in order, and true values about it. */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { checkedYaml, errorText, locationIn } from "../../../src/base/index.ts";
import {
  compileGetter,
  cursorParameter,
  type DialectDefinition,
  findPath,
  LIST_VALUES,
  type Pack,
  type RouteLists,
  valueAt,
} from "../../../src/pack/index.ts";
import type { Envelope } from "../../../src/pack/lists/envelopes.ts";
import { findLink, linkParameter } from "../../../src/pack/lists/links.ts";
import { compilePack } from "../../../src/pack/load/pack.ts";
import { runSteps } from "../../../src/pack/steps.ts";
import { createDryRun, type DryRun } from "../../../src/compare/index.ts";
import { NUMBER, SimulatedUpstream } from "./simulated-upstream.ts";

/** The pack is valid already: nothing is reported. */
const NOWHERE = locationIn(checkedYaml({ file: "", text: "" }, new Map()), []).with({ isSilent: true });

const NAME = "law_item";

type ResponsesDefinition = DialectDefinition["client"]["responses"];

/** The shapes of one side, as far as they concern lists. */
const listShapes = ({ list, item }: Envelope) =>
  ({ list, item }) as Pick<ResponsesDefinition, "list" | "item">;

/** The pack with one list alone, shaped and paged as those of some routes, whose items have nothing but a number, and the cursor if that is a member of them. */
function listPack({ dialect, hash }: Pack, { envelope, paging }: RouteLists): Pack {
  const { style, upstream, definition: pages } = paging;
  const upstreamItem = upstream.style?.kind === "cursor" ? upstream.style.item : undefined;
  const clientItem = style?.kind === "cursor" ? style.item : undefined;
  const definition = {
    ...dialect,
    client: {
      ...dialect.client,
      pagination: pages.client,
      responses: { ...dialect.client.responses, ...listShapes(envelope.client) },
      path_parameters: {},
      query: { parameters: {}, unknown: "ignore" as const },
      filters: undefined,
      headers: undefined,
      version: undefined,
    },
    upstream: {
      ...dialect.upstream,
      pagination: pages.upstream,
      responses: { ...dialect.upstream.responses, ...listShapes(envelope.upstream) },
      filters: undefined,
    },
    values: {},
    calls: {},
    parts: {},
  };
  const resource = {
    object: NAME,
    list: `${NAME}s`,
    fields: {
      [NUMBER]: { upstream: NUMBER },
      ...(clientItem !== undefined && { [clientItem]: { upstream: upstreamItem ?? NUMBER } }),
    },
    routes: [{ client: "GET /law", upstream: "GET /law", response: "list" as const, scope: "public" }],
  };
  const compiled = runSteps(
    compilePack({ definition, location: NOWHERE }, [{ definition: resource, location: NOWHERE }]),
  );
  const gaps = () => ({ unmappedFields: [], unmappedRoutes: [], unused: [] });
  return { ...compiled, hash, surface: undefined, acceptedDifferences: [], gaps };
}

/** The client's response to a page. */
interface Page {
  readonly numbers: readonly unknown[];
  readonly values: Readonly<Record<string, unknown>>;
  /** The cursors of the next and the previous page; undefined if the list has no such page. */
  readonly next: string | undefined;
  readonly previous: string | undefined;
}

/** What a client got in place of what it should get. */
interface Problem {
  readonly value: unknown;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Where a page should be. */
interface Position {
  readonly start: number;
  readonly size: number;
  readonly total: number;
}

/** The values of a page that follow from its position. Of others only whether they are null. */
function expectedValue(name: string, { start, size, total }: Position, first: number): unknown {
  const [hasNext, hasPrevious] = [start + size < total, start > 0];
  const values: Readonly<Record<string, unknown>> = {
    page: first + Math.floor(start / size),
    pages: Math.max(1, Math.ceil(total / size)),
    total,
    size,
    count: Math.max(0, Math.min(size, total - start)),
    offset: start,
    has_more: hasNext,
    next_page: hasNext ? first + start / size + 1 : null,
    previous_page: hasPrevious ? first + start / size - 1 : null,
    next_offset: hasNext ? first + start + size : null,
  };
  if (Object.hasOwn(values, name)) return values[name];
  const isOther = name.startsWith("next") ? hasNext : hasPrevious;
  const isThere = isOther || name.startsWith("first") || name.startsWith("last");
  return isThere ? "a value" : null;
}

/** Creates the function that gets a page as a client. @throws {Error} for a status that is not 200 */
function createClient({ lists, dialect, paging, credentials }: Pack, run: DryRun) {
  const list = `${NAME}s`;
  const { style } = paging;
  const { item } = dialect.client.responses;
  const names = LIST_VALUES.filter((name) => findPath(lists.client, name, { list }) !== undefined);
  const path = [...(findPath(item ?? "$object", "object", { name: NAME }) ?? [])];
  const numberOf = compileGetter(NUMBER);
  return async (query: string): Promise<Page> => {
    const { response } = await run.send({
      method: "GET",
      path: `${dialect.client.base_path}/law?${query}`,
      isAnonymous: credentials.client === undefined,
    });
    if (response.status !== 200) throw new Error(`${response.status} ${response.body}`);
    const body = JSON.parse(response.body) as unknown;
    const found = valueAt(body, findPath(lists.client, "items", { list }) ?? []);
    const items = (Array.isArray(found) ? found : []).map((each) => valueAt(each, path));
    const values = Object.fromEntries(
      names.map((name) => [name, valueAt(body, findPath(lists.client, name, { list }) ?? [])]),
    );
    const { link } = response.headers;
    const cursor = (direction: "next" | "previous", of: unknown): string | undefined => {
      if (style?.kind !== "cursor") return undefined;
      if (style.item !== undefined) return paging.clientCursor(of);
      const target = values[`${direction}_link`] ?? findLink(link, direction === "next" ? "next" : "prev");
      const inLink =
        typeof target === "string"
          ? linkParameter(target, cursorParameter(style, direction === "previous"))
          : undefined;
      return (values[`${direction}_cursor`] as string | null | undefined) || inLink;
    };
    return {
      numbers: items.map(numberOf),
      values,
      next: cursor("next", items.at(-1)),
      previous: cursor("previous", items[0]),
    };
  };
}

/** Follows a list to its end, and back where that is possible. Returns the first problem. */
export async function followList(pack: Pack, total: number, size: number): Promise<Problem | undefined> {
  const { style, size: pageSize } = pack.paging;
  const run = createDryRun(pack, new SimulatedUpstream(pack, NAME, total));
  run.catalogs.stop();
  const get = createClient(pack, run);
  const first = style && style.kind !== "cursor" ? style.first : 1;
  const limit: [string, string][] =
    pageSize.parameter === undefined ? [] : [[pageSize.parameter, String(size)]];
  const numbersFrom = (start: number, end: number) =>
    Array.from({ length: Math.max(0, Math.min(end, total) - start) }, (_, index) => start + index + 1);

  let page: Page | undefined;
  let position: [string, string][] = [];
  for (let start = 0; start === 0 || start < total; start += size) {
    const query = new URLSearchParams([...limit, ...position]).toString();
    const value = { total, query };
    try {
      page = await get(query);
    } catch (error) {
      return { value, expected: "a page", actual: errorText(error) };
    }
    const { numbers, values, next } = page;
    const expected = {
      items: numbersFrom(start, start + size),
      ...Object.fromEntries(
        Object.keys(values).map((name) => [name, expectedValue(name, { start, size, total }, first)]),
      ),
    };
    // Of a cursor or a link only whether there is one: the next page shows what it is.
    const comparable = Object.entries(values).map(([name, each]) => [
      name,
      typeof each === "string" && /_(?:cursor|link)$/.test(name) ? (each === "" ? null : "a value") : each,
    ]);
    const actual = { items: numbers, ...Object.fromEntries(comparable) };
    if (!isDeepStrictEqual(actual, expected)) return { value, expected, actual };
    if (!style || start + size >= total) break;
    const step = style.kind === "page" ? (start + size) / size : start + size;
    const parameter = style.parameter;
    position = [[parameter, style.kind === "cursor" ? (next ?? "") : String(style.first + step)]];
  }
  return page && followBack(pack, page, { get, limit, expected: numbersFrom(0, total) });
}

/** Follows a list of cursors from its last page to the first one. */
async function followBack(
  { paging: { style } }: Pack,
  last: Page,
  {
    get,
    limit,
    expected,
  }: {
    readonly get: ReturnType<typeof createClient>;
    readonly limit: [string, string][];
    readonly expected: readonly number[];
  },
): Promise<Problem | undefined> {
  if (style?.kind !== "cursor" || (style.item !== undefined && style.before === undefined)) return undefined;
  const actual = [...last.numbers];
  let { previous } = last;
  // A dialect without cursors of the page before.
  if (previous === undefined && style.before === undefined) return undefined;
  const parameter = cursorParameter(style, true);
  let query = "";
  for (let page = 0; page < expected.length && previous !== undefined && actual[0] !== 1; page += 1) {
    query = new URLSearchParams([...limit, [parameter, previous]]).toString();
    try {
      const found: Page = await get(query);
      actual.unshift(...found.numbers);
      ({ previous } = found);
    } catch (error) {
      return {
        value: { total: expected.length, query },
        expected,
        actual: errorText(error),
      };
    }
  }
  const value = { total: expected.length, query };
  return isDeepStrictEqual(actual, expected) ? undefined : { value, expected, actual };
}

/** Sizes and totals that are larger show nothing new. */
const LARGEST_SIZE = 50;

/** Routes whose lists have the same shapes and pages, by the name of the first. */
function distinctLists({ routes }: Pack): ReadonlyMap<string, RouteLists> {
  const found = new Map<string, { readonly name: string; readonly lists: RouteLists }>();
  for (const { name, response, lists } of routes) {
    const { envelope, paging } = lists;
    const [client, upstream] = [listShapes(envelope.client), listShapes(envelope.upstream)];
    const key = JSON.stringify([client, upstream, paging.definition]);
    if (response === "list" && !found.has(key)) found.set(key, { name, lists });
  }
  return new Map([...found.values()].map(({ name, lists }) => [name, lists]));
}

/** The lists of a pack that are followed, by the name of the first route that has such lists. */
export const listPacks = (pack: Pack): ReadonlyMap<string, Pack> =>
  new Map([...distinctLists(pack)].map(([route, lists]) => [route, listPack(pack, lists)]));

/** Lengths of a list and sizes of its pages. */
export function listSizes({ paging }: Pack): fc.Arbitrary<{ readonly total: number; readonly size: number }> {
  const { style, size: pageSize, upstream, definition } = paging;
  const reach = definition.upstream?.max_items ?? Math.min(1000, 100 * upstream.size.maximum);
  const sizes =
    pageSize.parameter === undefined
      ? fc.constant(pageSize.default)
      : fc.integer({ min: 1, max: Math.min(LARGEST_SIZE, pageSize.maximum) });
  return sizes.chain((size) => {
    const most = style ? 4 * Math.min(size, LARGEST_SIZE) + 3 : 3 * LARGEST_SIZE;
    return fc.record({ total: fc.integer({ min: 0, max: Math.min(reach, most) }), size: fc.constant(size) });
  });
}
