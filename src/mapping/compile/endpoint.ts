import { suggestionFor } from "../load/suggest.ts";
import { compileGetter } from "./member-paths.ts";
import type { SourceLocation } from "../load/source-location.ts";
import { isText, type ParameterType, type Pattern } from "../router.ts";

/** `GET /vm/instances/{id}` of v4, ready to be filled in. */
export interface Endpoint {
  readonly method: string;
  /** The pattern as the pack writes it. */
  readonly template: string;
  /** Path with the prefix; every value is encoded anew, so that none reaches another path. */
  readonly path: (values: Readonly<Record<string, unknown>>) => string;
  /** Whether a path is this one, filled in with whatever. */
  readonly matches: (path: string) => boolean;
}

const CALL = /^(GET|POST|PUT|DELETE) (\/\S*)$/;

const splitCall = (location: SourceLocation, text: string): { method: string; path: string } => {
  const [, method, path] = CALL.exec(text) ?? [];
  if (!method || !path)
    location.report({
      message: `"${text}" is not METHOD /path`,
      hint: 'one of GET, POST, PUT, DELETE, a blank, and a path: "GET /books/:id"',
    });
  return { method: method ?? "GET", path: path ?? "/" };
};

/** A value cannot stand in the path of a call: it is missing, or the path would be another one with it. */
export class UnusablePathValue extends Error {
  override readonly name = "UnusablePathValue";
  readonly code = "AG_PATH_VALUE_INVALID";
}

/**
 * Values come from bodies and from v4's objects too: the rules of path parameters hold for all of them.
 *
 * @throws {UnusablePathValue} for a missing value, an empty one, a dot segment, and control characters.
 */
function segment(value: unknown, name: string): string {
  if (typeof value !== "string" && typeof value !== "number")
    throw new UnusablePathValue(`no value for {${name}} of a v4 path`);
  const text = String(value);
  if (!isText(text))
    throw new UnusablePathValue(`{${name}} of a v4 path has a value that cannot stand in it`);
  return encodeURIComponent(text);
}

/** Compiles a v4 call; `known` are the names that may stand in braces, with members of theirs after a dot. */
export function compileEndpoint(
  text: string,
  prefix: string,
  known: readonly string[],
  location: SourceLocation,
): Endpoint {
  const { method, path } = splitCall(location, text);
  const parts = path.split(/\{([\w.]+)\}/);
  parts.forEach((name, index) => {
    if (index % 2 === 0 || known.includes(name.split(".")[0] ?? "")) return;
    location.report({ message: `nothing gives {${name}}`, hint: suggestionFor(name ?? "", known) });
  });
  const fixed = [prefix, ...parts.filter((_, index) => index % 2 === 0)].map((part) => RegExp.escape(part));
  const [head = "", first = "", ...rest] = fixed;
  const pattern = new RegExp(`^${[head + first, ...rest].join("[^/?]*")}$`);
  const pieces = parts.map((part, index) => {
    if (index % 2 === 0) return () => part;
    const get = compileGetter(part);
    return (values: unknown) => segment(get(values), part);
  });
  return {
    method,
    template: path,
    matches: (asked) => pattern.test(asked),
    path: (values) => prefix + pieces.map((piece) => piece(values)).join(""),
  };
}

/** Compiles alpha's side of a route, `GET /vm/instances/:id`; the types of parameters are the pack's. */
export function compilePattern(
  text: string,
  types: Readonly<Record<string, ParameterType>>,
  location: SourceLocation,
): { method: string; pattern: Pattern; parameters: string[] } {
  const { method, path } = splitCall(location, text);
  const parameters: string[] = [];
  const segments = path
    .split("/")
    .filter(Boolean)
    .map((segment, index, all) => {
      if (!segment.startsWith(":")) return segment;
      const parameter = segment.slice(1);
      const type = types[parameter];
      if (!type)
        location.report({
          message: `no type is given for :${parameter} in alpha.parameters of pack.yaml`,
          hint: suggestionFor(parameter, Object.keys(types)),
        });
      if (parameters.includes(parameter)) location.report(`:${parameter} stands twice in the path`);
      if (type === "path" && index < all.length - 1)
        location.report(`:${parameter} takes the rest of the path and must be last`);
      parameters.push(parameter);
      return { parameter, type: type ?? "text" };
    });
  return { method, pattern: { segments }, parameters };
}
