/** The page that a client requests. */
import { type ErrorDetail, ValidationError } from "../errors/http-error.ts";
import { throwParameterError, type ListRule } from "../filters/filter-error.ts";
import type { Query } from "../paths/query.ts";
import {
  markPrevious,
  MAX_CURSOR,
  readMark,
  LAST,
  type CursorStyle,
  type PageSize,
  type PagingStyle,
} from "./styles.ts";
import type { Sides } from "./paging-sides.ts";

/** A part of a list: all items after `start` items, or after a cursor, up to a maximum number. */
export interface PageRequest {
  /** Number of items before the page, counted from the cursor if there is one. */
  readonly start: number;
  readonly size: number;
  /** The upstream's own cursor. */
  readonly cursor?: string;
  /** The client's value of the item before or after the page. The item must be searched. */
  readonly after?: string;
  /** Whether the page ends before its cursor, instead of starting after it. */
  readonly isBackward?: boolean;
}

/** Returns the cursor of a page that starts at an offset. */
export const writeOffsetCursor = (offset: number): string =>
  Buffer.from(`offset:${offset}`).toString("base64url");

/** Parses a cursor of {@link writeOffsetCursor}; undefined for any other text. */
export function readOffsetCursor(text: string): number | undefined {
  const [, digits] = /^offset:(\d{1,9})$/.exec(Buffer.from(text, "base64url").toString()) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the page that ends at an offset. */
export function pageBefore(end: number, items: number): { readonly start: number; readonly size: number } {
  const start = Math.max(0, end - items);
  return { start, size: end - start };
}

/** Maximum length of a cursor in characters, including its mark. */
const LONGEST_CURSOR = MAX_CURSOR + markPrevious("").length;

/** Returns the only value of a parameter; undefined if it is missing. @throws {HttpError} 400 if it occurs twice */
function onlyValue(query: Query, parameter: string, rule: ListRule): string | undefined {
  const values = query.get(parameter) ?? [];
  if (values.length > 1) throwParameterError(parameter, "must be given once.", rule);
  return values[0];
}

/** An integer in a query. */
interface IntegerParameter {
  readonly parameter: string;
  readonly least: number;
  readonly most: number;
  /** The value if the client sends none. */
  readonly otherwise: number;
  /** The rule for values that are not integers, or too small: a 400, or the same as for a missing value. */
  readonly invalid: "reject" | "default" | undefined;
  readonly rule: "page" | "size";
}

/** @throws {HttpError} 400 for values that are not integers within the bounds */
function readInteger(query: Query, rules: IntegerParameter): number {
  const { parameter, least, most, otherwise, invalid, rule } = rules;
  if (invalid === "default") onlyValue(query, parameter, rule);
  const [text = String(otherwise), ...others] = query.get(parameter) ?? [];
  const isInteger = /^-?\d+$/.test(text);
  const isOutside = isInteger && Number(text) < least;
  if (others.length > 0 || !isInteger || isOutside) {
    if (invalid === "default") return otherwise;
    const broken = others.length === 0 && isOutside ? (`${rule}_range` as const) : rule;
    throwParameterError(parameter, `must be one integer, ${least} or greater.`, broken);
  }
  if (Number(text) > most) throwParameterError(parameter, `must be at most ${most}.`, `${rule}_range`);
  return Number(text);
}

/** Returns the number of items that a client requests. @throws {HttpError} 400 for a number that the pack rejects */
function readSize(query: Query, size: PageSize): number {
  const { parameter, default: otherwise, maximum, above, invalid } = size;
  if (parameter === undefined) return otherwise;
  const most = above === "maximum" ? Infinity : maximum;
  return Math.min(
    maximum,
    readInteger(query, { parameter, least: 1, most, otherwise, invalid, rule: "size" }),
  );
}

/** The start of a page. */
type Position = Omit<PageRequest, "size"> & { readonly size?: number };

/** Reads the number of a page, or its offset. @throws {HttpError} 400 if it is invalid */
function readNumber(
  query: Query,
  { kind, parameter, first, invalid }: Exclude<PagingStyle, CursorStyle>,
  items: number,
  reach: number,
): Position {
  const step = kind === "page" ? items : 1;
  const most = Math.min(LAST, first + Math.ceil(reach / step) - 1);
  const range = { parameter, least: first, most, otherwise: first, invalid, rule: "page" } as const;
  return { start: (readInteger(query, range) - first) * step };
}

/** Reads the cursor of a page, and its direction. @throws {HttpError} 400 if it is invalid */
function readCursor(
  query: Query,
  { parameter, before }: CursorStyle,
  { cursor: kind, goesBack }: Sides,
  items: number,
  reach: number,
): Position {
  const after = onlyValue(query, parameter, "page");
  const behind = before === undefined ? undefined : onlyValue(query, before, "page");
  const given = after ?? behind;
  if (given === undefined) return { start: 0 };
  if (after !== undefined && behind !== undefined)
    throw new ValidationError([
      { reason: `Only one of ${parameter} and ${before} can be given.`, parameter, rule: "page" },
    ]);
  const name = after === undefined ? (before ?? parameter) : parameter;
  if (given === "" || given.length > LONGEST_CURSOR)
    throwParameterError(name, `must have 1 to ${MAX_CURSOR} characters.`, "page");
  const { cursor, isBackward } =
    goesBack && before === undefined ? readMark(given) : { cursor: given, isBackward: after === undefined };
  const direction = isBackward && { isBackward };
  if (kind === "upstream") return { start: 0, cursor, ...direction };
  if (kind === "item") return { start: 0, after: cursor, ...direction };
  const start = readOffsetCursor(cursor);
  if (start === undefined || start >= reach || (isBackward && start === 0))
    throwParameterError(name, "is not a cursor of this list.", "page");
  return isBackward ? { ...pageBefore(start, items), isBackward } : { start };
}

/** Reads a part of a page. @param errors receives the problems of an invalid part, which is then replaced by `otherwise` */
function readOr<T>(otherwise: T, errors: ErrorDetail[], read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    errors.push(...error.details);
    return otherwise;
  }
}

/**
 * Creates the function that reads the page of a query.
 *
 * @param reach Maximum number of items before a page.
 * @returns A function that throws {HttpError} 400 for an invalid page.
 */
export function createPageReader(sides: Sides, size: PageSize, reach: number): (query: Query) => PageRequest {
  const { style } = sides;
  const firstPage: PageRequest = { start: 0, size: size.default };
  return (query) => {
    if (!style || query.size === 0) return firstPage;
    const errors: ErrorDetail[] = [];
    const items = readOr(size.default, errors, () => readSize(query, size));
    const position = readOr<Position>({ start: 0 }, errors, () =>
      style.kind === "cursor"
        ? readCursor(query, style, sides, items, reach)
        : readNumber(query, style, items, reach),
    );
    if (errors.length > 0) throw new ValidationError(errors);
    return { size: items, ...position };
  };
}
