/** The wrapping of lists on both sides. */
import { printJson } from "./json/parse.ts";
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

export interface EnvelopeNames {
  readonly page: string;
  readonly pages: string;
  readonly results: string;
}

/** One page of a list, whatever it is called. */
export interface Page {
  readonly page: number;
  readonly pages: number;
  readonly results: number;
}

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Reads v4's envelope and what is in it in one go; undefined where what came is none. */
export type ParseListBody = <Item>(
  from: Cursor,
  readItem: (from: Cursor) => Item,
) => (Page & { readonly items: readonly Item[] }) | undefined;

/**
 * Prepares the reading of lists.
 *
 * @param maxItems items that a list may have
 * @returns a function that throws SyntaxError where no JSON stands at the cursor, RangeError where it is nested too
 *   deeply or has too many items, and whatever the reading of an item throws
 */
export function createListParser(
  names: EnvelopeNames & { readonly items: string },
  maxItems = Infinity,
): ParseListBody {
  const members = createMemberTable([names.items, names.page, names.pages, names.results]);
  return (from, readItem) => {
    let items: ReturnType<typeof readItem>[] | undefined;
    const counts: (number | undefined)[] = [];
    if (!isObjectAt(from)) return void readRaw(from);
    forEachMember(from, members, (number) => {
      if (number > 0) counts[number] = count(fromJsonText(readRaw(from)));
      else if (number < 0) readRaw(from);
      else if (!isArrayAt(from)) items = void readRaw(from);
      else {
        // A member that comes twice is the last one.
        const found: typeof items = (items = []);
        forEachItem(from, () => {
          if (found.length >= maxItems) throw new RangeError(`the list has more than ${maxItems} items`);
          found.push(readItem(from));
        });
      }
    });
    const [, page, pages, results] = counts;
    if (page === undefined || pages === undefined || results === undefined || !items) return undefined;
    return { items, page, pages, results };
  };
}

/** Alpha's envelope up to its items. */
export const openEnvelope = (list: string): string => `{${printJson(list)}:[`;

/** The rest of it. One client fails on zero pages, so there is always one (alpha 1.2). */
export function closeEnvelope({ page, pages, results }: Page, names: EnvelopeNames): string {
  const totals = { [names.page]: page, [names.pages]: Math.max(1, pages), [names.results]: results };
  return `],${printJson(totals).slice(1)}`;
}

/** Writes alpha's envelope around the texts of its items. */
export const writeEnvelope = (
  items: readonly string[],
  page: Page,
  list: string,
  names: EnvelopeNames,
): string => openEnvelope(list) + items.join(",") + closeEnvelope(page, names);
