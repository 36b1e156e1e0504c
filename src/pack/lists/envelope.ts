/** Lists of both dialects: their items, page and totals, in any shape. */
import {
  createMemberTable,
  type Cursor,
  forEachItem,
  forEachMember,
  fromJsonText,
  isArrayAt,
  isObject,
  isObjectAt,
  printJson,
  readRaw,
} from "../../base/index.ts";
import type { ReadWrapped } from "../bodies/object-wrapper.ts";
import { toCursor } from "./styles.ts";
import { compileShape, fillShape, findPath, nameOf, namesIn, type Shape } from "../values/shape.ts";

/**
 * The values of a list that describe its page. Only values that occur in its shape are present; null means that there
 * is no such page.
 */
export type ListValues = Readonly<
  Partial<
    Record<"page" | "pages" | "total" | "size" | "count" | "offset", number> &
      Record<"has_more", boolean> &
      Record<"next_page" | "previous_page" | "next_offset", number | null> &
      Record<
        "next_cursor" | "previous_cursor" | `${"next" | "previous" | "first" | "last"}_link`,
        string | null
      >
  >
>;

const parseCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Whether there is no next page: many dialects then use null, no member, or an empty text. */
const isNone = (value: unknown): boolean => value === undefined || value === null || value === "";

const parseNext = (value: unknown): string | null | undefined => (isNone(value) ? null : toCursor(value));

const parseLink = (value: unknown): string | null | undefined => {
  if (isNone(value)) return null;
  return typeof value === "string" && value.isWellFormed() ? value : undefined;
};

/**
 * Readers for the values of the upstream's lists. If a reader returns undefined, the list is invalid. Other values are
 * ignored.
 */
const READERS: Readonly<Partial<Record<string, (value: unknown) => unknown>>> = {
  page: parseCount,
  pages: parseCount,
  total: parseCount,
  has_more: (value) => (typeof value === "boolean" ? value : undefined),
  next_page: parseNext,
  next_offset: parseNext,
  next_cursor: parseNext,
  next_link: parseLink,
  // These values are optional for the gateway.
  previous_cursor: (value) => parseNext(value) ?? null,
  previous_link: (value) => parseLink(value) ?? null,
};

/** The reason why a value is not a list with the expected shape. */
interface ListFault {
  readonly fault: string;
}

/**
 * Parses a list and its items in one pass.
 *
 * @param readWrapped reads the object in the wrapper of an item; undefined if items have no wrapper
 */
export type ParseListBody = <Item>(
  from: Cursor,
  readItem: (from: Cursor) => Item,
  readWrapped?: ReadWrapped,
) => (ListValues & { readonly items: readonly Item[] }) | ListFault;

/** The kind of a member of a list: the items, a value by its index, or a nested object. */
type Target = "items" | number | Level;

interface Level {
  readonly members: ReturnType<typeof createMemberTable>;
  readonly targets: readonly Target[];
}

/** The values of an empty list if they are missing. */
const OF_EMPTY: Readonly<Record<string, unknown>> = { page: 1, pages: 1, total: 0, has_more: false };

function compileLevel(shape: Readonly<Record<string, Shape>>, values: readonly string[]): Level {
  const targets = Object.entries(shape).flatMap(([key, value]): [string, Target][] => {
    const name = nameOf(value);
    if (name === "items") return [[key, "items"]];
    if (name !== undefined && values.includes(name)) return [[key, values.indexOf(name)]];
    return isObject(value) && namesIn(value).length > 0 ? [[key, compileLevel(value, values)]] : [];
  });
  return {
    members: createMemberTable(targets.map(([key]) => key)),
    targets: targets.map(([, target]) => target),
  };
}

/**
 * Creates a parser of the upstream's lists.
 *
 * @param shape JSON with `$items` and the values of a list.
 * @param options.maxItems Maximum number of items of a list.
 * @param options.mayBeOmitted Whether the member for the items may be missing or null in an empty list.
 * @returns A function that throws {SyntaxError} if there is no JSON at the cursor, {RangeError} if it is nested too
 *   deeply or contains too many items, and the errors of `readItem`.
 */
export function createListParser(
  shape: Shape,
  { maxItems = Infinity, mayBeOmitted = false }: { maxItems?: number; mayBeOmitted?: boolean } = {},
): ParseListBody {
  const placeOf = (path: readonly string[]): string =>
    path.length === 0 ? "the response" : `"${path.join(".")}"`;
  const itemsPlace = placeOf(findPath(shape, "items") ?? []);
  const read = namesIn(shape).flatMap(({ name, path }) => {
    const { [name]: readValue } = READERS;
    return readValue ? [{ name, readValue, place: placeOf(path) }] : [];
  });
  const names = read.map(({ name }) => name);
  const top = isObject(shape) ? compileLevel(shape, names) : undefined;

  return (from, readItem, readWrapped) => {
    type Item = ReturnType<typeof readItem>;
    let items: Item[] | undefined;
    let isInvalid = false;
    const texts: (string | undefined)[] = [];

    function readItems(): void {
      if (!isArrayAt(from)) {
        const isNothing = readRaw(from) === "null" && mayBeOmitted;
        isInvalid ||= !isNothing;
        return;
      }
      // If the member occurs twice, the items of the first one may already be written.
      isInvalid ||= items !== undefined;
      const found: Item[] = (items = []);
      const readOne = (at: Cursor): void => void found.push(readItem(at));
      let count = 0;
      forEachItem(from, () => {
        if (count >= maxItems) throw new RangeError(`the list has more than ${maxItems} items`);
        count += 1;
        if (readWrapped) readWrapped(from, readOne);
        else readOne(from);
        // A wrapper that contains no object, or two.
        isInvalid ||= found.length !== count;
      });
    }

    function readLevel({ members, targets }: Level): void {
      if (!isObjectAt(from)) return void readRaw(from);
      forEachMember(from, members, (number) => {
        const target = targets[number];
        if (target === undefined) readRaw(from);
        else if (target === "items") readItems();
        else if (typeof target === "number") texts[target] = readRaw(from);
        else readLevel(target);
      });
    }

    const isInObject = isObjectAt(from);
    if (top) readLevel(top);
    else readItems();
    const isOmitted = !items && !isInvalid && mayBeOmitted && isInObject;
    if (isOmitted) items = [];
    const faults = items ? [] : [`${itemsPlace} is no array`];
    const values: Record<string, unknown> = {};
    for (const [index, { name, readValue, place }] of read.entries()) {
      const text = texts[index];
      const sent = text === undefined ? undefined : fromJsonText(text);
      const value = readValue(sent === undefined && isOmitted ? OF_EMPTY[name] : sent);
      if (value === undefined)
        faults.push(`${place} is ${text === undefined ? "missing" : "no valid value"}`);
      values[name] = value;
    }
    if (isInvalid && faults.length === 0) faults.push("an item is not in the wrapper of items");
    if (!items || faults.length > 0) return { fault: faults.join(", ") };
    return { ...(values as ListValues), items };
  };
}

/** Creates a list that is complete on one page. */
export const onePage = (shape: Shape, items: readonly unknown[], list = ""): unknown =>
  fillShape(shape, {
    list,
    items,
    page: 1,
    pages: 1,
    total: items.length,
    size: items.length,
    count: items.length,
    offset: 0,
    has_more: false,
  });

/** Placeholder of the items in the text of a list. It is unique, so no value contains it. */
const ITEMS = crypto.randomUUID();
const ITEMS_TEXT = printJson(ITEMS);

/** Writes lists that have the same name. */
type ListWriter = ReturnType<typeof createListWriter>;

/**
 * Creates a writer of the client's lists. A list always has at least one page, because clients fail on zero pages.
 *
 * @param wrapper the texts around each item
 */
export function createListWriter(
  shape: Shape,
  list: string,
  [open, close]: readonly [open: string, close: string] = ["", ""],
) {
  const write = compileShape(shape, { list });

  /** Returns the texts before and after the items. */
  function around(values: ListValues): readonly [open: string, close: string] {
    const { pages } = values;
    const atLeastOne = pages === undefined ? undefined : Math.max(1, pages);
    const text = write({ ...values, list, items: ITEMS, pages: atLeastOne }) ?? "";
    const at = text.indexOf(ITEMS_TEXT);
    return [`${text.slice(0, at)}[`, `]${text.slice(at + ITEMS_TEXT.length)}`];
  }

  return {
    /** The text before the items; undefined if it depends on values that are only known after the items are read. */
    textBefore: namesIn(shape)[0]?.name === "items" ? around({})[0] : undefined,
    /** The texts before the first item, between two items, and after the last item, including the wrappers of items. */
    items: { open, separator: `${close},${open}`, close },
    around,
  };
}

/** Returns a list that contains the texts of its items. */
export function writeList(items: readonly string[], values: ListValues, writer: ListWriter): string {
  const [open, close] = writer.around(values);
  const { items: texts } = writer;
  if (items.length === 0) return open + close;
  return open + texts.open + items.join(texts.separator) + texts.close + close;
}
