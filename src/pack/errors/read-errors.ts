/** Reads the error bodies of a shape. */
import { findPlaces, isEntryKey, type ErrorPlace } from "./error-places.ts";
import type { ErrorDetail } from "./http-error.ts";
import { isObject } from "../../base/index.ts";
import { keysOfPointer } from "../values/schema-members.ts";
import { isItemTemplate, nameOf, namesIn, valueAt, type Shape } from "../values/shape.ts";

/** Converts a JSON pointer, even in a fragment (`#/a/b`), to a dotted name. */
const fromPointer = (pointer: string): string => keysOfPointer(pointer.replace(/^(?:#?\/)?/, "/")).join(".");

/** Writes indexes that are keys (`lines.0.sku`) in brackets (`lines[0].sku`). */
export const withBrackets = (field: string): string => field.replaceAll(/\.(\d+)(?=[.[]|$)/g, "[$1]");

/** The content of an error body. */
export interface ReadErrors {
  readonly details: readonly ErrorDetail[];
  /** The content outside of the entries for the problems. */
  readonly summary: ErrorDetail | undefined;
}

/** Maximum number of problems of an error body. No form has more fields. */
export const MAX_ERRORS = 100;

/** The known facts about an entry: the text of the whole error, and the information in the key of its object. */
interface EntryContext {
  readonly whole?: string | undefined;
  readonly field?: string;
  readonly code?: string;
}

type ReadDetail = (body: unknown, context?: EntryContext) => ErrorDetail[];

/** Creates a reader of one problem. @param noField the name that means that the problem has no field */
function createDetailReader(shape: Shape, noField: string | undefined): ReadDetail {
  const places = namesIn(shape).filter(({ path }) => !path.some(isEntryKey));
  const textAt = (body: unknown, wanted: string): string | undefined => {
    for (const { path } of places.filter(({ name }) => name === wanted)) {
      const value = valueAt(body, path);
      if (typeof value === "number" && wanted === "code") return String(value);
      if (typeof value === "string" && value !== "") return value;
    }
    return undefined;
  };
  return (body, context = {}) => {
    const pointer = textAt(body, "pointer");
    const named =
      context.field ?? textAt(body, "field") ?? (pointer === undefined ? undefined : fromPointer(pointer));
    const field = named === noField ? undefined : named;
    const code = textAt(body, "code") ?? context.code;
    // Problem details may contain only a title, and other errors only a code.
    const text = textAt(body, "message") ?? textAt(body, "title") ?? code;
    if (text === undefined && named === undefined) return [];
    const reason = text ?? context.whole ?? "";
    return [{ reason, ...(field !== undefined && { field }), ...(code !== undefined && { code }) }];
  };
}

const itemsOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, MAX_ERRORS) : [];

/** Returns the values at a path. `[]` means each item of a list. */
function valuesAt(body: unknown, path: readonly string[]): readonly unknown[] {
  const at = path.indexOf("[]");
  if (at < 0) return [valueAt(body, path)];
  return itemsOf(valueAt(body, path.slice(0, at))).flatMap((item) => valuesAt(item, path.slice(at + 1)));
}

/** Creates a reader of the entries in one place. */
function createPlaceReader(
  { path, entry, keys }: ErrorPlace,
  noField: string | undefined,
): (body: unknown, whole: string | undefined) => ErrorDetail[] {
  const item = isItemTemplate(entry) ? entry[0] : entry;
  const isText = nameOf(item) !== undefined;
  const readDetail = createDetailReader(item, noField);

  /** An object of texts may contain further such objects, for the members of a nested object. */
  function readValue(value: unknown, context: EntryContext, details: ErrorDetail[]): void {
    const below = (key: string, child: unknown): void =>
      readValue(child, { ...context, field: `${context.field ?? ""}${key}` }, details);
    if (details.length >= MAX_ERRORS) return;
    if (Array.isArray(value)) {
      for (const [index, child] of itemsOf(value).entries())
        if (isText && isObject(child)) below(`[${index}]`, child);
        else readValue(child, context, details);
    } else if (isText && isObject(value)) {
      if (keys?.name === "field")
        for (const [key, child] of Object.entries(value).slice(0, MAX_ERRORS)) below(`.${key}`, child);
    } else if (isText ? typeof value === "string" && value !== "" : isObject(value))
      details.push(...readDetail(value, context));
  }

  function readPlace(found: unknown, whole: string | undefined, details: ErrorDetail[]): void {
    if (!keys) {
      details.push(...itemsOf(found).flatMap((each) => readDetail(each, { whole })));
      return;
    }
    for (const [key, value] of isObject(found) ? Object.entries(found) : []) {
      if (keys.others.has(key)) continue;
      const field = keys.name === "pointer" ? fromPointer(key) : key;
      readValue(value, { whole, ...(keys.name === "code" ? { code: key } : { field }) }, details);
    }
  }

  return (body, whole) => {
    const details: ErrorDetail[] = [];
    for (const found of valuesAt(body, path))
      if (details.length < MAX_ERRORS) readPlace(found, whole, details);
    return details.slice(0, MAX_ERRORS);
  };
}

/** Returns the problems that have a text, or all problems if none has one. */
function withTexts(details: readonly ErrorDetail[]): readonly ErrorDetail[] {
  const found = details.filter(({ reason }) => reason !== "");
  return found.length > 0 ? found : details;
}

/**
 * Creates a reader of error bodies, which returns undefined for a value that is not an error. An entry with a field and
 * without a text gets the text of the whole error. If there is no text at all, it gets an empty one. Entries without
 * text and field are omitted.
 *
 * @param noField the name that means that the problem has no field
 */
export function createErrorReader(
  shape: Shape,
  noField: string | undefined,
): (body: unknown) => ReadErrors | undefined {
  const readPlaces = findPlaces(shape).map((place) => createPlaceReader(place, noField));
  const readWhole = createDetailReader(shape, noField);
  return (body) => {
    const [summary] = readWhole(body);
    let found: readonly ErrorDetail[] = [];
    for (const readPlace of readPlaces)
      if (found.length === 0) found = withTexts(readPlace(body, summary?.reason));
    if (found.length === 0) return summary && { details: [summary], summary: undefined };
    const code = summary?.code;
    const details = code === undefined ? found : found.map((detail) => ({ code, ...detail }));
    return { details, summary };
  };
}
