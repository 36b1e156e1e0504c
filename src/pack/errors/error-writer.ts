/** Writes the error bodies of a shape. */
import { cutText, isObject } from "../../base/index.ts";
import { formatIndexes, toPointer, type FieldIndexes } from "./error-fields.ts";
import { findPlaces, hasInnerPlaces, keyNameOf, type ErrorPlace } from "./error-places.ts";
import { compileRequestValue, isRequestName, type RequestValues } from "./error-request.ts";
import { MAX_ERRORS } from "./error-reader.ts";
import type { ErrorDetail, ErrorSummary } from "./http-error.ts";
import {
  fillKey,
  fillShape,
  isItemTemplate,
  namesIn,
  type Shape,
  type ShapeValues,
} from "../fields/shape.ts";

/** What else an error body may have. */
export interface ErrorContext extends RequestValues {
  readonly summary?: ErrorSummary | undefined;
  /** The name of the resource. */
  readonly name?: string | undefined;
}

/**
 * Creates an error body. Its size is bounded, whatever the errors repeat: the number of entries, their texts and the
 * total length have limits.
 */
export type WriteErrorBody = (
  details: readonly ErrorDetail[],
  status: number,
  context?: ErrorContext,
) => unknown;

/** What an error has by its status alone. */
export interface StatusTexts {
  readonly codeOf: (status: number) => string | undefined;
  readonly titleOf: (status: number) => string | undefined;
}

/** How a dialect names fields in errors. */
export interface FieldStyle {
  /** What a problem without a field has in place of its name; undefined: nothing. */
  readonly noField: string | undefined;
  readonly indexes: FieldIndexes;
}

/** Maximum number of characters of one message or field. The rest is cut. */
const MAX_TEXT_LENGTH = 2000;
/** Maximum number of characters of an error body. Each may take six bytes (`\u0000`), so no error body is above 128 KB. */
const MAX_CHARACTERS = 20_000;

/** @param others Characters of the values that each entry repeats. */
function limitDetails(details: readonly ErrorDetail[], maxCharacters: number, others: number): ErrorDetail[] {
  let left = maxCharacters;
  const limited: ErrorDetail[] = [];
  for (const detail of details.slice(0, MAX_ERRORS)) {
    const reason = cutText(detail.reason, MAX_TEXT_LENGTH);
    const field = detail.field === undefined ? undefined : cutText(detail.field, MAX_TEXT_LENGTH);
    left -= reason.length + (field?.length ?? 0) + others;
    if (left < 0) break;
    limited.push({ ...detail, reason, ...(field !== undefined && { field }) });
  }
  return limited;
}

const joinReasons = (details: readonly Pick<ErrorDetail, "reason">[]): string =>
  details.map(({ reason }) => reason).join(" ");

/** Problems with the same key, in the order of their first. Those without one are left out. */
function groupBy(entries: readonly ShapeValues[], name: string): Map<string, ShapeValues[]> {
  const groups = new Map<string, ShapeValues[]>();
  for (const entry of entries) {
    const key = entry[name];
    if (typeof key !== "string") continue;
    const group = groups.get(key);
    if (group) group.push(entry);
    else groups.set(key, [entry]);
  }
  return groups;
}

/** Names of the values that an entry of an array has for its problem. */
const problemNames = (entry: Shape): string[] =>
  namesIn(entry).flatMap(({ name }) => (name === "name" || isRequestName(name) ? [] : [name]));

/** By entry, since an entry is a part of a shape that stays the same. */
type EntryNames = Map<Shape, readonly string[]>;

/** Fills a shape of errors. @param entries Values of each problem */
function fillErrors(
  shape: Shape,
  values: ShapeValues,
  entries: readonly ShapeValues[],
  known: EntryNames,
): unknown {
  if (isItemTemplate(shape))
    return hasInnerPlaces(shape[0])
      ? [fillErrors(shape[0], values, entries, known)]
      : fillItems(shape[0], values, entries, known);
  if (!isObject(shape)) return fillShape(shape, values);
  return Object.fromEntries(
    Object.entries(shape).flatMap(([key, member]) => {
      const name = keyNameOf(key);
      if (name === undefined) {
        const value = fillErrors(member, values, entries, known);
        return value === undefined ? [] : [[fillKey(key, values), value]];
      }
      return [...groupBy(entries, name)].map(([field, group]) => {
        const texts = group.map(({ message }) => message).join(" ");
        return [field, fillErrors(member, { ...values, ...group[0], message: texts }, group, known)];
      });
    }),
  );
}

/** An entry of constants alone says nothing about its problem, which the texts outside the array have. */
function fillItems(
  entry: Shape,
  values: ShapeValues,
  entries: readonly ShapeValues[],
  known: EntryNames,
): unknown[] {
  const names = known.get(entry) ?? problemNames(entry);
  known.set(entry, names);
  return entries
    .filter((item) => names.length === 0 || names.some((name) => item[name] !== undefined))
    .map((item) => fillErrors(entry, { ...values, ...item }, [item], known));
}

/** Creates a writer of error bodies. */
export function createErrorWriter(
  shape: Shape,
  { codeOf, titleOf }: StatusTexts,
  { noField, indexes }: FieldStyle,
): WriteErrorBody {
  const places = findPlaces(shape);
  const known: EntryNames = new Map();
  const requestValues = namesIn(shape).flatMap(({ name }) => {
    const read = compileRequestValue(name);
    return read ? [{ name, read }] : [];
  });
  const toValues = ({ reason, field, code }: ErrorDetail) => ({
    message: reason,
    field: field === undefined ? noField : formatIndexes(field, indexes),
    pointer: field === undefined ? undefined : toPointer(field),
    code,
  });

  /** Whether a place has the text of a problem. */
  const hasText = ({ names, keys }: ErrorPlace, detail: ErrorDetail): boolean =>
    (keys === undefined || toValues(detail)[keys.name] !== undefined) &&
    (names.has("message") || (detail.reason === detail.code && names.has("code")));

  /** The text outside of the entries: of the whole error, and of the problems that have no place for theirs. */
  function messageOf(details: readonly ErrorDetail[], summary: ErrorSummary | undefined): string {
    if (!summary) return joinReasons(details);
    const isMissing = (detail: ErrorDetail): boolean =>
      !places.some((place) => hasText(place, detail)) && detail.reason !== summary.reason;
    return joinReasons([summary, ...(summary.isComplete ? [] : details.filter(isMissing))]);
  }

  return (details, status, context = {}) => {
    const { summary: given, name } = context;
    const ofRequest = requestValues.map((value) => [value.name, value.read(context)] as const);
    const requestSize = ofRequest.reduce((size, [, value = ""]) => size + String(value).length, 0);
    // Without entries the error is that of one problem.
    const summary =
      places.length > 0 && given ? { ...given, reason: cutText(given.reason, MAX_TEXT_LENGTH) } : undefined;
    const rest = MAX_CHARACTERS - (summary?.reason.length ?? 0);
    const limited = limitDetails(details, rest, requestSize);
    const common = { status, title: titleOf(status), name, ...Object.fromEntries(ofRequest) };
    const values = limited.map((detail) => {
      const { code = codeOf(status), ...others } = toValues(detail);
      return { ...common, ...others, code };
    });
    const ofWhole = {
      message: messageOf(limited, summary),
      ...(summary?.code !== undefined && { code: summary.code }),
    };
    return fillErrors(shape, { ...common, ...values[0], ...ofWhole }, values, known);
  };
}
