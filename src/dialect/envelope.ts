/** Lists of both dialects: their items, page and totals, wherever their shapes have them. */
import { isObject, printJson } from "./json/parse.ts";
import {
  forEachItem,
  forEachMember,
  isArrayAt,
  isObjectAt,
  createMemberTable,
  readRaw,
  type Cursor,
} from "./json/scan.ts";
import { fromJsonText } from "./json/text.ts";
import { fillShape, nameOf, namesIn, type Shape } from "./shape.ts";

/** The page number and the totals of a list. */
export interface PageInfo {
  readonly page: number;
  readonly pages: number;
  readonly total: number;
}

/** The page and the totals of a list. Only values that its shape has are present. */
export type ListValues = Partial<PageInfo>;

const COUNTS: ReadonlySet<string> = new Set<keyof PageInfo>(["page", "pages", "total"]);

const parseCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Parses a list and its items in one pass. Returns undefined if the value does not have the shape. */
export type ParseListBody = <Item>(
  from: Cursor,
  readItem: (from: Cursor) => Item,
) => (ListValues & { readonly items: readonly Item[] }) | undefined;

/** What a member of a list is: the items, a count by its index, or an object with more members. */
type Target = "items" | number | Level;

interface Level {
  readonly members: ReturnType<typeof createMemberTable>;
  readonly targets: readonly Target[];
}

function compileLevel(shape: Readonly<Record<string, Shape>>, counts: readonly string[]): Level {
  const targets = Object.entries(shape).flatMap(([key, value]): [string, Target][] => {
    const name = nameOf(value);
    if (name === "items") return [[key, "items"]];
    if (name !== undefined && counts.includes(name)) return [[key, counts.indexOf(name)]];
    return isObject(value) && namesIn(value).length > 0 ? [[key, compileLevel(value, counts)]] : [];
  });
  return {
    members: createMemberTable(targets.map(([key]) => key)),
    targets: targets.map(([, target]) => target),
  };
}

/**
 * Creates a parser of the upstream's lists.
 *
 * @param shape JSON with `$items` and the counts that a list must have.
 * @param maxItems Maximum number of items of a list.
 * @returns A function that throws {SyntaxError} if there is no JSON at the cursor, {RangeError} if it is nested too deeply or
 *   has too many items, and whatever `readItem` throws.
 */
export function createListParser(shape: Shape, maxItems = Infinity): ParseListBody {
  const names = namesIn(shape).flatMap(({ name }) => (COUNTS.has(name) ? [name] : []));
  const top = isObject(shape) ? compileLevel(shape, names) : undefined;

  return (from, readItem) => {
    type Item = ReturnType<typeof readItem>;
    let items: Item[] | undefined;
    const counts: (number | undefined)[] = [];

    function readItems(): void {
      if (!isArrayAt(from)) return void (items = void readRaw(from));
      // As in JSON.parse, the last of several members with one name wins.
      const found: Item[] = (items = []);
      forEachItem(from, () => {
        if (found.length >= maxItems) throw new RangeError(`the list has more than ${maxItems} items`);
        found.push(readItem(from));
      });
    }

    function readLevel({ members, targets }: Level): void {
      if (!isObjectAt(from)) return void readRaw(from);
      forEachMember(from, members, (number) => {
        const target = targets[number];
        if (target === undefined) readRaw(from);
        else if (target === "items") readItems();
        else if (typeof target === "number") counts[target] = parseCount(fromJsonText(readRaw(from)));
        else readLevel(target);
      });
    }

    if (top) readLevel(top);
    else readItems();
    if (!items) return undefined;
    const values: Record<string, number> = {};
    for (const [index, name] of names.entries()) {
      const count = counts[index];
      if (count === undefined) return undefined;
      values[name] = count;
    }
    return { ...values, items };
  };
}

/** Placeholder of the items in the text of a list. No pack has this character. */
const ITEMS = "\uE000";
const ITEMS_TEXT = printJson(ITEMS);

/** Writes lists of one name. */
export interface ListWriter {
  /** Whether the text before the items depends on the values, so that the items are read before it is written. */
  readonly opensWithValues: boolean;
  /** Returns the texts before and after the items. */
  readonly around: (values: ListValues) => readonly [open: string, close: string];
}

/** Creates a writer of the client's lists. It has at least one page, because clients fail on zero pages. */
export function createListWriter(shape: Shape, list: string): ListWriter {
  const counts = namesIn(shape).map(({ name }) => name);
  return {
    opensWithValues: counts.indexOf("items") > 0,
    around({ page, pages, total }) {
      const atLeastOne = pages === undefined ? undefined : Math.max(1, pages);
      const text = printJson(fillShape(shape, { list, items: ITEMS, page, pages: atLeastOne, total }));
      const at = text.indexOf(ITEMS_TEXT);
      return [`${text.slice(0, at)}[`, `]${text.slice(at + ITEMS_TEXT.length)}`];
    },
  };
}

/** Returns a list around the texts of its items. */
export function writeList(items: readonly string[], values: ListValues, writer: ListWriter): string {
  const [open, close] = writer.around(values);
  return open + items.join(",") + close;
}
