/** Splits the paths of requests, matches them to routes, and checks the values of path parameters. */
import { createPathTree } from "../../base/index.ts";
import { shortestAddress } from "../values/ip-address.ts";

/** The values that a path parameter matches: digits, one segment, the rest of the path, or an IP address (of one family). */
export type ParameterType = "integer" | "text" | "path" | "ip" | "ip4" | "ip6";

interface PathParameter {
  readonly parameter: string;
  readonly type: ParameterType;
}

/** A segment that contains literal texts, `report-:id.json`: the texts around its parameters (one more than parameters). */
interface MixedSegment {
  readonly literals: readonly string[];
  readonly parameters: readonly PathParameter[];
}

type Segment = string | PathParameter | MixedSegment;

/** The segments of a path such as `/vm/instances/:id`. */
export interface Pattern {
  readonly segments: readonly Segment[];
}

/**
 * Parses a segment of a path in a pack: `customers`, `:id`, `{id}`, `:id.json` or `from-{first}-to-{last}`.
 *
 * @param typeOf Returns the type of a parameter.
 */
export function parseSegment(text: string, typeOf: (parameter: string) => ParameterType): Segment {
  const parts = text.replace(/^:(\w+)/, "{$1}").split(/\{([\w.]+)\}/);
  const literals = parts.filter((_part, index) => index % 2 === 0);
  const parameters = parts
    .filter((_part, index) => index % 2 === 1)
    .map((parameter) => ({ parameter, type: typeOf(parameter) }));
  const [only] = parameters;
  if (only === undefined) return text;
  return parameters.length === 1 && literals.every((literal) => literal === "")
    ? only
    : { literals, parameters };
}

/** Returns the parameters of a segment. */
export function parametersIn(segment: Segment): readonly PathParameter[] {
  if (typeof segment === "string") return [];
  return "parameters" in segment ? segment.parameters : [segment];
}

/** Returns the names of the path parameters of a client's operation, `GET /books/:id`. */
export const namesInPath = (client: string): string[] =>
  client
    .replace(/^\S+ /, "")
    .split("/")
    .flatMap((segment) => parametersIn(parseSegment(segment, () => "text")))
    .map(({ parameter }) => parameter);

/** Returns the names of the path parameters of several operations, in the order of their first occurrence. */
export const namesInPaths = (operations: readonly { readonly client: string }[]): string[] => [
  ...new Set(operations.flatMap(({ client }) => namesInPath(client))),
];

/** Values of path parameters by name, decoded and checked. */
export type Parameters = Readonly<Record<string, string>>;

/** Matches an id: digits without sign or leading zero. No id is longer. */
const INTEGER = /^(?:0|[1-9]\d{0,15})$/;

const CONTROL = /\p{Cc}/u;

/** Number of times that intermediate servers may decode a path again. */
const MAX_DECODINGS = 3;

/** Matches a character with more bytes of UTF-8 than it needs, which old decoders accept: `%c0%ae` is a dot. */
const OVERLONG = /[\xc0\xc1][\0-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]{2}/g;

/** Returns the ASCII character of an overlong form: its last seven bits. */
function overlongCharacter(bytes: string): string {
  const [high, low] = [bytes.charCodeAt(bytes.length - 2), bytes.charCodeAt(bytes.length - 1)];
  return String.fromCharCode(((high & 1) << 6) | (low & 0x3f));
}

/** Decodes escapes once, like the most lenient server: bytes as characters, and `%u002e`. */
const decodeLeniently = (text: string): string =>
  text
    .replaceAll(/%(?:u00)?([\da-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
    .replaceAll(OVERLONG, overlongCharacter);

/** Whether a segment consists of dots. Some servers cut it at `;`, `?`, `#` or U+0000, or remove white space around it. */
const isDots = (segment: string): boolean => /^\s*\.{1,2}\s*(?:[;?#\0]|$)/.test(segment);

/**
 * Whether a path or a value contains a dot segment for some intermediate server, so that it would lead to a different
 * path. Such a server may decode it several times, or treat backslashes as slashes.
 */
export function hasDotSegment(path: string): boolean {
  let text = path;
  for (let round = 0; round <= MAX_DECODINGS; round += 1) {
    if (text.includes(".") && text.split(/[/\\]/).some(isDots)) return true;
    if (!text.includes("%")) return false;
    text = decodeLeniently(text);
  }
  return false;
}

/** Whether a decoded value can be encoded and used in a path without leading to a different path. */
export const isText = (value: string): boolean =>
  value.isWellFormed() &&
  !CONTROL.test(value) &&
  value.split("/").every((part) => part !== "") &&
  !hasDotSegment(value);

/** Returns the value of a parameter in the form for v4. Undefined if it does not have this type. */
export function parseParameter(type: ParameterType, value: string): string | undefined {
  if (type === "integer") return INTEGER.test(value) ? value : undefined;
  if (type === "text" || type === "path") return isText(value) ? value : undefined;
  const address = shortestAddress(value);
  const family = address?.includes(":") ? "ip6" : "ip4";
  return type === "ip" || type === family ? address : undefined;
}

/** Splits a path into decoded segments, and drops empty segments. Returns undefined if it contains an invalid escape. */
export function splitPath(path: string): string[] | undefined {
  const segments = path.split("/").filter((segment) => segment !== "");
  if (!path.includes("%")) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

interface Match<T> {
  readonly route: T;
  readonly parameters: Parameters;
}

/** Finds routes by method and path. */
export type Router<T> = ReturnType<typeof createRouter<T>>;

/** Creates an empty router. A literal segment takes precedence over a parameter; the order of the routes does not matter. */
export function createRouter<T>() {
  type Entry = { readonly route: T; readonly parameters: readonly PathParameter[] };
  const tree = createPathTree<Entry, Match<T>>(({ route, parameters }, values) => {
    const found: Record<string, string> = {};
    for (const [index, { parameter, type }] of parameters.entries()) {
      const value = parseParameter(type, values[index] ?? "");
      if (value === undefined) return undefined;
      found[parameter] = value;
    }
    return { route, parameters: found };
  });
  return {
    /** Adds a route. @returns false if another route has the same method and path. */
    add(method: string, { segments }: Pattern, route: T): boolean {
      const parameters = segments.flatMap(parametersIn);
      const path = segments.map((segment) =>
        typeof segment === "string" || "literals" in segment ? segment : { isRest: segment.type === "path" },
      );
      return tree.add(method, path, { route, parameters });
    },
    /** Finds the route of a request. @param segments decoded segments, as {@link splitPath} returns them */
    match: tree.match,
  };
}
