import { isExactNumber, isObject, type SourceLocation, suggestionFor } from "../../base/index.ts";
import type { PathParameterRules } from "../paths/path-parameters.ts";
import { isText, parametersIn, parseSegment, type Pattern } from "../paths/router.ts";

/** A compiled v4 call such as `GET /vm/instances/{id}`. */
export type Endpoint = ReturnType<typeof compileEndpoint>;

const CALL = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/;

/** Splits `METHOD /path`. Reports any other text. */
const parseCall = (location: SourceLocation, text: string): { method: string; path: string } => {
  const [, method, path] = CALL.exec(text) ?? [];
  if (!method || !path)
    location.report({
      message: `"${text}" is not METHOD /path`,
      hint: 'one of GET, POST, PUT, PATCH, DELETE, a blank, and a path: "GET /books/:id"',
    });
  return { method: method ?? "GET", path: path ?? "/" };
};

/** Adds parameters to a path, which may already have a query. */
export const addQuery = (path: string, query: string): string =>
  query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;

/**
 * Matches names in braces, such as `{id}`, `{order.customer}` or `{order.lines[0].sku}`. If a text is split by this
 * expression, every second part is a name.
 */
export const NAME_IN_BRACES = /\{([\w.]+(?:\[\d+\][\w.]*)*)\}/;

/** The members and indexes that lead to the value of a name in braces: `order`, `lines` and `0` for `order.lines[0]`. */
export const keysOfName = (name: string): readonly string[] =>
  name.replaceAll(/\[(\d+)\]/g, ".$1").split(".");

/** Reads a member of an object, or an item of a list. */
function memberOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Compiles a function that reads the value of a name in braces. */
export function compileNameGetter(name: string): (values: unknown) => unknown {
  const keys = keysOfName(name);
  return (values) => keys.reduce(memberOf, values);
}

/** Reports a name in braces that has no value. @param names The names that braces may use. */
export function reportUnknownName(name: string, names: readonly string[], location: SourceLocation): void {
  const [first = ""] = keysOfName(name);
  if (names.includes(first) || location.isRemoved(first)) return;
  const hint =
    names.length > 0 ? suggestionFor(first, names) : `the client's path has no parameter, such as /:${name}`;
  location.report({ message: `unknown name {${name}}`, hint });
}

/** A value can't be used in a call: it is missing, or it would lead to a different path. */
export class InvalidPathValueError extends Error {
  override readonly name = "InvalidPathValueError";
  readonly code = "AG_PATH_VALUE_INVALID";
}

/** Returns the text of a single value; undefined for any other value. */
function textOf(value: unknown): string | undefined {
  if (isExactNumber(value)) return value.rawJSON;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

/**
 * Encodes a value for a path. Values may come from bodies and from v4 objects, so all are checked like path parameters.
 *
 * @throws {InvalidPathValueError} If the value is missing or empty, is a dot segment, or contains control characters.
 */
function encodeSegment(value: unknown, name: string): string {
  const text = typeof value === "boolean" ? undefined : textOf(value);
  if (text === undefined) throw new InvalidPathValueError(`no value for {${name}} of an upstream path`);
  if (!isText(text))
    throw new InvalidPathValueError(`{${name}} of an upstream path has a value that can't be used in a path`);
  return encodeURIComponent(text);
}

/**
 * Encodes a value for a query. No text in a query can lead to a different path. @throws {InvalidPathValueError} If it
 * is missing.
 */
function encodeQueryValue(value: unknown, name: string): string {
  const text = textOf(value);
  if (text === undefined) throw new InvalidPathValueError(`no value for {${name}} of an upstream query`);
  return encodeURIComponent(text.toWellFormed());
}

/**
 * Compiles a v4 call.
 *
 * @param text The call, `METHOD /path`, with names in braces: `{id}` or `{object.member}`.
 * @param prefix Prefix of all v4 paths.
 * @param names The names that braces may use.
 */
export function compileEndpoint(
  text: string,
  prefix: string,
  names: readonly string[],
  location: SourceLocation,
) {
  const { method, path } = parseCall(location, text);
  if (path.includes("#")) location.report("a path has no fragment: # is never sent");
  const parts = path.split(NAME_IN_BRACES);
  parts.forEach((name, index) => {
    if (index % 2 === 1) reportUnknownName(name, names, location);
  });
  const [pathPart = ""] = path.split("?", 1);
  const fixed = pathPart.split(NAME_IN_BRACES).filter((_, index) => index % 2 === 0);
  if (fixed.some((part) => /[{}]/.test(part)))
    location.report({
      message: `"${pathPart}" has a brace that holds no name`,
      hint: "a name has members and indexes: {item.results[0].id}",
    });
  const pattern = new RegExp(
    `^${RegExp.escape(prefix)}${fixed.map((part) => RegExp.escape(part)).join("[^/?]*")}$`,
  );
  const pieces = parts.map((part, index) => {
    if (index % 2 === 0) return () => part;
    const get = compileNameGetter(part);
    const isInQuery = parts.slice(0, index).some((each, before) => before % 2 === 0 && each.includes("?"));
    const encode = isInQuery ? encodeQueryValue : encodeSegment;
    return (values: unknown) => encode(get(values), part);
  });
  return {
    method,
    /** The path as written in the pack. */
    template: path,
    /** The names whose values the path contains: for `{order.customer}` it is `order`. */
    names: new Set(
      parts.flatMap((part, index) => (index % 2 === 1 ? (keysOfName(part)[0] ?? []) : [])),
    ) as ReadonlySet<string>,
    /** Whether a path belongs to this call, with any values and any query. */
    matches: (candidate: string): boolean => pattern.test(candidate.split("?", 1)[0] ?? ""),
    /** The path for people: names stay in braces if their values depend on the request. */
    describe: (values: Readonly<Record<string, unknown>>): string =>
      prefix +
      pieces
        .map((piece, index) => {
          try {
            return piece(values);
          } catch {
            return `{${parts[index]}}`;
          }
        })
        .join(""),
    /**
     * Returns the path with the prefix. Every value is encoded, so that it can't lead to a different path.
     *
     * @throws {InvalidPathValueError} If a value is missing or can't be used in a path.
     */
    path: (values: Readonly<Record<string, unknown>>): string =>
      prefix + pieces.map((piece) => piece(values)).join(""),
  };
}

/** Reports parameters without a separator between them, and braces without a name. */
function reportInvalidSegment(
  segment: Pattern["segments"][number],
  text: string,
  location: SourceLocation,
): void {
  const literals = typeof segment === "string" ? [segment] : "literals" in segment ? segment.literals : [];
  if (literals.slice(1, -1).includes("")) location.report(`"${text}" needs text between its parameters`);
  if (literals.some((literal) => /[{}]/.test(literal)))
    location.report({
      message: `"${text}" has a brace that holds no name`,
      hint: "a parameter is a segment :id, or {id} anywhere in a segment",
    });
}

/**
 * Compiles the alpha side of a route, `GET /vm/instances/:id`. @param rules Types of path parameters by name. Default:
 * text.
 */
export function compilePattern(
  text: string,
  rules: PathParameterRules,
  location: SourceLocation,
): { method: string; pattern: Pattern; parameters: string[] } {
  const { method, path } = parseCall(location, text);
  if (/[?#]/.test(path))
    location.report("the path of a route has no query: routes are selected by their path");
  const parameters: string[] = [];
  const segments = path
    .split("/")
    .filter(Boolean)
    .map((text, index, all) => {
      const segment = parseSegment(text, (parameter) => rules[parameter]?.type ?? "text");
      for (const { parameter, type } of parametersIn(segment)) {
        if (parameters.includes(parameter)) location.report(`the path has :${parameter} twice`);
        const isLast = index === all.length - 1 && typeof segment === "object" && "parameter" in segment;
        if (type === "path" && !isLast)
          location.report(`:${parameter} matches the rest of the path and must be last, without other text`);
        parameters.push(parameter);
      }
      reportInvalidSegment(segment, text, location);
      return segment;
    });
  return { method, pattern: { segments }, parameters };
}

/** The name in braces of the upstream's response to the main call of a route. */
export const RESPONSE = "response";

/** Reports a name in braces that has two possible meanings. */
export function reportAmbiguousNames(
  { names }: Endpoint,
  others: readonly string[],
  [one, other]: readonly [string, string],
  location: SourceLocation,
): void {
  for (const name of others)
    if (names.has(name))
      location.report(`{${name}} could be ${one} or ${other}: one of them needs another name`);
}
