/** The page that a client asks for. */
import { type ErrorDetail, ValidationError } from "../errors/http-error.ts";
import { throwParameterError, type ListRule } from "../filters/filter-error.ts";
import type { Query } from "../paths/query.ts";
import { markPrevious, MAX_CURSOR, readMark, LAST, type ClientPageSize, type PagingStyle } from "./styles.ts";
import { clientCursor, type Sides } from "./paging-sides.ts";

/** A part of a list: all items after `start` items, or after a cursor, up to a number. */
export interface PageRequest {
  /** Number of items before the page, counted from the cursor where there is one. */
  readonly start: number;
  readonly size: number;
  /** The upstream's own cursor. */
  readonly cursor?: string;
  /** The client's value of the item before the page, or behind it, which is to be found. */
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

/** In characters, with its mark. */
const LONGEST_CURSOR = MAX_CURSOR + markPrevious("").length;

/** The only value of a parameter; undefined without one. @throws {HttpError} 400 for two of them */
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
  /** Its value where the client gives none. */
  readonly otherwise: number;
  /** The rule for anything but an integer that is large enough: a 400, or the same as without a value. */
  readonly invalid: "reject" | "default" | undefined;
  readonly rule: "page" | "size";
}

/** @throws {HttpError} 400 for anything but an integer within the bounds */
function readInteger(
  query: Query,
  { parameter, least, most, otherwise, invalid, rule }: IntegerParameter,
): number {
  const values = query.get(parameter) ?? [];
  const [text = String(otherwise)] = values;
  const isInteger = /^-?\d+$/.test(text);
  const isTooSmall = isInteger && Number(text) < least;
  if (invalid === "default") {
    onlyValue(query, parameter, rule);
    if (!isInteger || isTooSmall) return otherwise;
  } else if (values.length > 1 || !isInteger || isTooSmall) {
    const isOutside = values.length === 1 && isTooSmall;
    const broken = isOutside ? (`${rule}_range` as const) : rule;
    throwParameterError(parameter, `must be one integer, ${least} or greater.`, broken);
  }
  if (Number(text) > most) throwParameterError(parameter, `must be at most ${most}.`, `${rule}_range`);
  return Number(text);
}

/** Returns the number of items that a client asks for. @throws {HttpError} 400 for one that the pack rejects */
function readSize(query: Query, size: ClientPageSize): number {
  const { parameter, default: otherwise, maximum, above, invalid } = size;
  if (parameter === undefined) return otherwise;
  const most = above === "maximum" ? Infinity : maximum;
  return Math.min(
    maximum,
    readInteger(query, { parameter, least: 1, most, otherwise, invalid, rule: "size" }),
  );
}

/** Reads a part of a page. @param errors gets the problems of an invalid one, which counts as `otherwise` */
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
 * @param goesBack Whether there are cursors of the page before.
 * @param reach Pages that start after this number of items are rejected.
 * @returns A function that throws {HttpError} 400 for an invalid page.
 */
export function createPageReader(
  sides: Sides,
  goesBack: boolean,
  reach: number,
): (query: Query) => PageRequest {
  const { style, size } = sides;
  const cursor = clientCursor(sides);
  const firstPage: PageRequest = { start: 0, size: size.default };
  if (!style) return () => firstPage;

  function readStart(query: Query, items: number): Partial<PageRequest> & { readonly start: number } {
    if (style?.kind === "cursor") return readCursor(query, style, items);
    const { kind = "page", parameter = "", first = 0, invalid } = style ?? {};
    const step = kind === "page" ? items : 1;
    const most = Math.min(LAST, first + Math.ceil(reach / step) - 1);
    const position = readInteger(query, {
      parameter,
      least: first,
      most,
      otherwise: first,
      invalid,
      rule: "page",
    });
    return { start: (position - first) * step };
  }

  function readCursor(
    query: Query,
    { parameter, before }: Extract<PagingStyle, { readonly kind: "cursor" }>,
    items: number,
  ): Partial<PageRequest> & { readonly start: number } {
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
    const isMarked = goesBack && before === undefined;
    const { cursor: text, isBackward } = isMarked
      ? readMark(given)
      : { cursor: given, isBackward: after === undefined };
    const direction = isBackward && { isBackward };
    if (cursor === "upstream") return { start: 0, cursor: text, ...direction };
    if (cursor === "item") return { start: 0, after: text, ...direction };
    const start = readOffsetCursor(text);
    if (start === undefined || start >= reach || (isBackward && start === 0))
      throwParameterError(name, "is not a cursor of this list.", "page");
    return isBackward ? { ...pageBefore(start, items), isBackward } : { start };
  }

  return (query) => {
    if (query.size === 0) return firstPage;
    const errors: ErrorDetail[] = [];
    const items = readOr(size.default, errors, () => readSize(query, size));
    const start = readOr({ start: 0 }, errors, () => readStart(query, items));
    if (errors.length > 0) throw new ValidationError(errors);
    return { size: items, ...start };
  };
}
