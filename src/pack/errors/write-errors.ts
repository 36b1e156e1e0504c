/** Writes the error bodies of a shape. */
import { cutText, isObject } from "../../base/index.ts";
import {
  errorNames,
  findPlaces,
  hasInnerPlaces,
  isRequestName,
  keyNameOf,
  parameterOfName,
  problemNames,
  replaceNames,
  type ErrorPlace,
} from "./error-places.ts";
import { MAX_ERRORS } from "./read-errors.ts";
import type { ErrorDetail, ErrorSummary } from "./http-error.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import { fillKey, fillShape, isItemTemplate, nameOf, type Shape, type ShapeValues } from "../values/shape.ts";

/** Further values of an error body. */
export interface ErrorContext {
  readonly summary?: ErrorSummary | undefined;
  /** The name of the resource. */
  readonly name?: string | undefined;
  /** The request that caused the error. */
  readonly request?:
    | {
        readonly method: string;
        /** The path as the client wrote it, without the query. */
        readonly path: string;
        /** The decoded path parameters of its route; undefined if there is no route. */
        readonly parameters: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  /** The seconds in the response's `Retry-After`. */
  readonly retryAfter?: number | undefined;
}

/** The style of a dialect's errors. */
export interface ErrorStyle {
  readonly codeOf: (status: number) => string | undefined;
  readonly titleOf: (status: number) => string | undefined;
  /** The value instead of the name if a problem has no field. Undefined: no value. */
  readonly noField: string | undefined;
  /** The style of an item's index in the name of a field: `lines.0.sku`, `lines[0].sku`, or no index. */
  readonly indexes: DialectDefinition["client"]["responses"]["field_indexes"];
}

/** Converts a dotted name to a JSON pointer (RFC 6901): `address.lines[0]` → `/address/lines/0`. */
const toPointer = (field: string): string =>
  `/${field
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((key) => key.replaceAll("~", "~0").replaceAll("/", "~1"))
    .join("/")}`;

/** Returns the name of a field with the indexes of a dialect. @param field with indexes in brackets */
function formatIndexes(field: string, indexes: ErrorStyle["indexes"]): string {
  if (indexes === "brackets" || !field.includes("[")) return field;
  return field.replaceAll(/\[(\d+)\]/g, indexes === "dots" ? ".$1" : "").replace(/^\./, "");
}

/** Maximum number of characters of a text from the request. The rest is cut. */
const MAX_REQUEST_TEXT = 500;

/** Decodes a path. A path with an invalid escape stays as the client wrote it. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Returns the value of the request for a name. Undefined if not found. */
function requestValue(name: string, { request, retryAfter }: ErrorContext): string | number | undefined {
  if (name === "retry_after") return retryAfter;
  if (!request) return undefined;
  const { method, path, parameters = {} } = request;
  const parameter = parameterOfName(name) ?? "";
  const text =
    { method, request_path: decodePath(path) }[name] ??
    (Object.hasOwn(parameters, parameter) ? parameters[parameter] : undefined);
  return text === undefined ? undefined : cutText(text, MAX_REQUEST_TEXT);
}

/** Maximum number of characters of one message or field. The rest is cut. */
const MAX_TEXT_LENGTH = 2000;
/** Maximum number of characters of an error body. Each may need six bytes (`\u0000`), so an error body never exceeds 128 KB. */
const MAX_CHARACTERS = 20_000;

/** Cuts the texts of a problem to their limits. */
const cutDetail = (detail: ErrorDetail): ErrorDetail => ({
  ...detail,
  reason: cutText(detail.reason, MAX_TEXT_LENGTH),
  ...(detail.field !== undefined && { field: cutText(detail.field, MAX_TEXT_LENGTH) }),
});

/** Returns the first problems, up to the limit. @param others Number of characters of the values that each entry repeats. */
function limitDetails(details: readonly ErrorDetail[], maxCharacters: number, others: number): ErrorDetail[] {
  let left = maxCharacters;
  const limited = details.slice(0, MAX_ERRORS).map(cutDetail);
  const end = limited.findIndex(({ reason, field = "" }) => {
    left -= reason.length + field.length + others;
    return left < 0;
  });
  return end < 0 ? limited : limited.slice(0, end);
}

const joinReasons = (details: readonly Pick<ErrorDetail, "reason">[]): string =>
  details.map(({ reason }) => reason).join(" ");

/** Fills a shape of errors. An unknown value in a text is replaced by nothing. @param entries Values of each problem */
function fillErrors(shape: Shape, values: ShapeValues, entries: readonly ShapeValues[]): unknown {
  if (isItemTemplate(shape))
    return hasInnerPlaces(shape[0])
      ? [fillErrors(shape[0], values, entries)]
      : fillItems(shape[0], values, entries);
  if (Array.isArray(shape)) return shape.map((each) => fillErrors(each, values, entries));
  if (typeof shape === "string" && nameOf(shape) === undefined)
    return replaceNames(shape, (name) => {
      const { [name]: value } = values;
      return typeof value === "string" || typeof value === "number" ? String(value) : "";
    });
  if (!isObject(shape)) return fillShape(shape, values);
  const members = Object.entries(shape).flatMap(([key, member]): (readonly [string, unknown])[] => {
    const name = keyNameOf(key);
    if (name === undefined) return [[fillKey(key, values), fillErrors(member, values, entries)]];
    const keyed = entries.filter((entry) => typeof entry[name] === "string");
    return [...Map.groupBy(keyed, (entry) => String(entry[name]))].map(([text, group]) => {
      const message = group.map((entry) => entry["message"]).join(" ");
      return [text, fillErrors(member, { ...values, ...group[0], message }, group)];
    });
  });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** Fills the entries. A problem is omitted if it has no value for any of the entry's names. */
function fillItems(entry: Shape, values: ShapeValues, entries: readonly ShapeValues[]): unknown[] {
  const names = problemNames(entry);
  return entries
    .filter((item) => names.length === 0 || names.some((name) => item[name] !== undefined))
    .map((item) => fillErrors(entry, { ...values, ...item }, [item]));
}

/**
 * Creates a writer of error bodies. The number of entries, their texts and the total length are limited.
 *
 * @returns A function. Its parameter `main` is the problem whose values are used outside of the entries.
 */
export function createErrorWriter(shape: Shape, { codeOf, titleOf, noField, indexes }: ErrorStyle) {
  const places = findPlaces(shape);
  const requestNames = errorNames(shape).flatMap(({ name }) => (isRequestName(name) ? [name] : []));
  const toValues = ({ reason, field, code }: ErrorDetail) => ({
    message: reason,
    field: field === undefined ? noField : formatIndexes(field, indexes),
    pointer: field === undefined ? undefined : toPointer(field),
    code,
  });

  /** Whether a place contains the text of a problem. */
  const hasText = ({ names, keys }: ErrorPlace, detail: ErrorDetail): boolean =>
    (keys === undefined || toValues(detail)[keys.name] !== undefined) &&
    (names.has("message") || (detail.reason === detail.code && names.has("code")));

  /** Returns the text outside of the entries: the text of the whole error, and of problems that no entry contains. */
  function messageOf(details: readonly ErrorDetail[], summary: ErrorSummary | undefined): string {
    if (!summary) return joinReasons(details);
    const isMissing = (detail: ErrorDetail): boolean =>
      !places.some((place) => hasText(place, detail)) && detail.reason !== summary.reason;
    return joinReasons([summary, ...(summary.isComplete ? [] : details.filter(isMissing))]);
  }

  return (
    details: readonly ErrorDetail[],
    status: number,
    context: ErrorContext = {},
    main: ErrorDetail | undefined,
  ): unknown => {
    const { summary: given, name } = context;
    const ofRequest = requestNames.map((each) => [each, requestValue(each, context)] as const);
    const requestSize = ofRequest.reduce((size, [, value = ""]) => size + String(value).length, 0);
    // Without entries, the error only contains one problem.
    const summary =
      places.length > 0 && given ? { ...given, reason: cutText(given.reason, MAX_TEXT_LENGTH) } : undefined;
    const limited = limitDetails(details, MAX_CHARACTERS - (summary?.reason.length ?? 0), requestSize);
    const common = { status, title: titleOf(status), name, ...Object.fromEntries(ofRequest) };
    const valuesOf = (detail: ErrorDetail): ShapeValues => {
      const { code = codeOf(status), ...others } = toValues(detail);
      return { ...common, ...others, code };
    };
    const ofWhole = {
      message: messageOf(limited, summary),
      ...(summary?.code !== undefined && { code: summary.code }),
    };
    const outside = { ...common, ...(main && valuesOf(cutDetail(main))), ...ofWhole };
    return fillErrors(shape, outside, limited.map(valuesOf));
  };
}
