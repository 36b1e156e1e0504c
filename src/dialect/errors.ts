/** Error bodies of both dialects. */
import { cutText } from "./cut-text.ts";
import type { ErrorDetail, ErrorSummary } from "./http-error.ts";
import { isObject } from "./json/parse.ts";
import { fillShape, isItemTemplate, namesIn, valueAt, type Shape } from "./shape.ts";

/** What an error body says. */
export interface ReadErrors {
  readonly details: readonly ErrorDetail[];
  /** What it says in addition, outside of the array with the problems. */
  readonly summary: ErrorDetail | undefined;
}

/** What else an error body may have. */
export interface ErrorContext {
  readonly summary?: ErrorSummary | undefined;
  /** The name of the resource. */
  readonly name?: string | undefined;
}

/** Reads and writes the error bodies of one dialect. */
export interface ErrorFormat {
  /** As the pack writes it. */
  readonly shape: Shape;
  /**
   * Parses an error body; undefined if the value is not one. An entry without a text has that of the whole error, if it has
   * a field. Otherwise it is omitted.
   */
  read(body: unknown): ReadErrors | undefined;
  /**
   * Creates an error body. Its size is bounded, whatever the errors repeat: the number of entries, their texts and the
   * total length have limits.
   */
  write(details: readonly ErrorDetail[], status: number, context?: ErrorContext): unknown;
}

/** Maximum number of entries of an error body. No form has more fields. */
const MAX_ERRORS = 100;

/** Maximum number of characters of one message or field. The rest is cut. */
const MAX_TEXT_LENGTH = 2000;
/** Maximum number of characters of an error body. Each may take six bytes (`\u0000`), so no error body is above 128 KB. */
const MAX_CHARACTERS = 20_000;

function limitDetails(details: readonly ErrorDetail[], maxCharacters: number): ErrorDetail[] {
  let left = maxCharacters;
  const limited: ErrorDetail[] = [];
  for (const detail of details.slice(0, MAX_ERRORS)) {
    const reason = cutText(detail.reason, MAX_TEXT_LENGTH);
    const field = detail.field === undefined ? undefined : cutText(detail.field, MAX_TEXT_LENGTH);
    left -= reason.length + (field?.length ?? 0);
    if (left < 0) break;
    limited.push({ ...detail, reason, ...(field !== undefined && { field }) });
  }
  return limited;
}

/** A dotted name as a JSON pointer (RFC 6901): `address.lines[0]` → `/address/lines/0`. */
const toPointer = (field: string): string =>
  `/${field
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((key) => key.replaceAll("~", "~0").replaceAll("/", "~1"))
    .join("/")}`;

/** A JSON pointer, also one in a fragment (`#/a/b`), as a dotted name. */
const fromPointer = (pointer: string): string =>
  pointer
    .replace(/^#?\//, "")
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");

const toValues = ({ reason, field, code }: ErrorDetail) => ({
  message: reason,
  field,
  pointer: field === undefined ? undefined : toPointer(field),
  code,
});

/** Finds the array with one entry for each problem, and its path. */
function findEntries(
  shape: Shape,
  path: readonly string[] = [],
): { path: readonly string[]; entry: Shape } | undefined {
  if (isItemTemplate(shape)) return { path, entry: shape[0] };
  if (!isObject(shape)) return undefined;
  for (const [key, member] of Object.entries(shape)) {
    const found = findEntries(member, [...path, key]);
    if (found) return found;
  }
  return undefined;
}

/** Creates a reader of one problem. */
function createDetailReader(shape: Shape): (body: unknown, whole?: string) => ErrorDetail[] {
  const paths = new Map(
    namesIn(shape).flatMap(({ name, path }) => (path.includes("[]") ? [] : [[name, path] as const])),
  );
  const textAt = (body: unknown, name: string): string | undefined => {
    const path = paths.get(name);
    const value = path && valueAt(body, path);
    if (typeof value === "number" && name === "code") return String(value);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return (body, whole) => {
    const pointer = textAt(body, "pointer");
    const field = textAt(body, "field") ?? (pointer === undefined ? undefined : fromPointer(pointer));
    const code = textAt(body, "code");
    // Problem details may have no more than a title, other errors no more than a code.
    const text = textAt(body, "message") ?? textAt(body, "title") ?? code;
    const reason = text ?? (field === undefined ? undefined : whole);
    if (reason === undefined) return [];
    return [{ reason, ...(field !== undefined && { field }), ...(code !== undefined && { code }) }];
  };
}

/** What an error has by its status alone. */
export interface StatusTexts {
  readonly codeOf: (status: number) => string | undefined;
  readonly titleOf: (status: number) => string | undefined;
}

/**
 * Creates the error format of a dialect.
 *
 * @param shape JSON with `$message` and `$field`; an array has one entry for each problem.
 */
export function createErrorFormat(shape: Shape, { codeOf, titleOf }: StatusTexts): ErrorFormat {
  const entries = findEntries(shape);
  const readEntry = entries && createDetailReader(entries.entry);
  const readWhole = createDetailReader(shape);
  const entryNames = new Set(entries && namesIn(entries.entry).map(({ name }) => name));
  const problemNames = [...entryNames].filter((name) => name !== "name");
  const hasPlace = ({ reason, code }: ErrorDetail): boolean =>
    entryNames.has("message") || (reason === code && entryNames.has("code"));
  // An entry of constants alone says nothing about its problem, which the texts outside the array have.
  const hasEntry = (values: Readonly<Record<string, unknown>>): boolean =>
    problemNames.length === 0 || problemNames.some((name) => values[name] !== undefined);

  /** The text outside of the array: of the whole error, and of the problems that have no place for theirs. */
  function messageOf(details: readonly ErrorDetail[], summary: ErrorSummary | undefined): string {
    if (!summary) return details.map(({ reason }) => reason).join(" ");
    const isMissing = (detail: ErrorDetail): boolean => !hasPlace(detail) && detail.reason !== summary.reason;
    const rest = summary.isComplete ? [] : details.filter(isMissing);
    return [summary, ...rest].map(({ reason }) => reason).join(" ");
  }

  return {
    shape,
    read(body) {
      const list = entries && valueAt(body, entries.path);
      const whole = readWhole(body);
      const [summary] = whole;
      const found =
        readEntry && Array.isArray(list)
          ? list.slice(0, MAX_ERRORS).flatMap((entry) => readEntry(entry, summary?.reason))
          : [];
      if (found.length === 0) return whole.length > 0 ? { details: whole, summary: undefined } : undefined;
      const code = summary?.code;
      const details = code === undefined ? found : found.map((detail) => ({ code, ...detail }));
      return { details, summary };
    },
    write(details, status, { summary: given, name } = {}) {
      // Without an array the error is that of one problem.
      const summary = entries && given && { ...given, reason: cutText(given.reason, MAX_TEXT_LENGTH) };
      const limited = limitDetails(details, MAX_CHARACTERS - (summary?.reason.length ?? 0));
      const [first] = limited;
      const common = { status, title: titleOf(status), name };
      const values = limited.map((detail) => {
        const { code = codeOf(status), ...others } = toValues(detail);
        return { ...common, ...others, code };
      });
      const ofWhole = {
        message: messageOf(limited, summary),
        ...(summary?.code !== undefined && { code: summary.code }),
      };
      return fillShape(shape, { ...common, ...(first && values[0]), ...ofWhole }, values.filter(hasEntry));
    },
  };
}
