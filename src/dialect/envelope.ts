// The envelope of lists in alpha and v4.

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

/** Names of the members of an envelope. */
export interface EnvelopeNames {
  readonly page: string;
  readonly pages: string;
  readonly results: string;
}

/** The page number and the totals of a list. */
export interface PageInfo {
  readonly page: number;
  readonly pages: number;
  readonly results: number;
}

const parseCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Parses v4's envelope and its items in one pass. Returns undefined if the value is not such an envelope. */
export type ParseListBody = <Item>(
  from: Cursor,
  readItem: (from: Cursor) => Item,
) => (PageInfo & { readonly items: readonly Item[] }) | undefined;

/**
 * Creates a parser of v4 lists.
 *
 * @param maxItems Maximum number of items of a list.
 * @returns A function that throws {SyntaxError} if there is no JSON at the cursor, {RangeError} if it is nested too deeply or
 *   has too many items, and whatever `readItem` throws.
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
      if (number > 0) counts[number] = parseCount(fromJsonText(readRaw(from)));
      else if (number < 0) readRaw(from);
      else if (!isArrayAt(from)) items = void readRaw(from);
      else {
        // As in JSON.parse, the last of several members with one name wins.
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

/** Returns the start of alpha's envelope, up to its items. */
export const openEnvelope = (list: string): string => `{${printJson(list)}:[`;

/** Returns the end of alpha's envelope. It has at least one page, because a client fails on zero pages (alpha 1.2). */
export function closeEnvelope({ page, pages, results }: PageInfo, names: EnvelopeNames): string {
  const totals = { [names.page]: page, [names.pages]: Math.max(1, pages), [names.results]: results };
  return `],${printJson(totals).slice(1)}`;
}

/** Returns alpha's envelope around the texts of its items. */
export const writeEnvelope = (
  items: readonly string[],
  page: PageInfo,
  list: string,
  names: EnvelopeNames,
): string => openEnvelope(list) + items.join(",") + closeEnvelope(page, names);
