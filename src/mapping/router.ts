/** Splits the paths of requests, matches them to routes, and checks the values of path parameters. */
import { createPathTree } from "../routing/path-tree.ts";
import { shortestAddress } from "./compile/ip-address.ts";

export type ParameterType = "integer" | "text" | "path" | "ip" | "ip4" | "ip6";

interface PathParameter {
  readonly parameter: string;
  readonly type: ParameterType;
}

/** `/vm/instances/:id` as its segments. */
export interface Pattern {
  readonly segments: readonly (string | PathParameter)[];
}

/** Values of path parameters by name, decoded and checked. */
export type Parameters = Readonly<Record<string, string>>;

/** Ids are written as alpha writes them: digits, no sign, no leading zero; longer ones are no ids of anything. */
const INTEGER = /^(?:0|[1-9]\d{0,15})$/;

const CONTROL = /\p{Cc}/u;

/** A segment of dots, also before `;parameters`, and between backslashes, which some servers read as slashes. */
const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:;[^/\\]*)?(?:[/\\]|$)/;

/** Servers on the way may decode a path again. */
const DECODED_AGAIN = 3;

/** Whether a value would lead to another path, once its dots are followed somewhere on the way. */
function climbs(value: string): boolean {
  let text = value;
  for (let round = 0; round <= DECODED_AGAIN; round += 1) {
    if (DOT_SEGMENT.test(text)) return true;
    if (!text.includes("%")) return false;
    try {
      text = decodeURIComponent(text);
    } catch {
      return false;
    }
  }
  return false;
}

/** Whether every segment of a decoded value can stand in a path and mean that path alone. */
export const isText = (value: string): boolean =>
  !CONTROL.test(value) && value.split("/").every((part) => part !== "") && !climbs(value);

/** The value of a parameter in the one spelling that v4 is asked in; undefined for what is none of its type. */
function valueOf(type: ParameterType, value: string): string | undefined {
  if (type === "integer") return INTEGER.test(value) ? value : undefined;
  if (type === "text" || type === "path") return isText(value) ? value : undefined;
  const address = shortestAddress(value);
  const family = address?.includes(":") ? "ip6" : "ip4";
  return type === "ip" || type === family ? address : undefined;
}

/** Splits a path into decoded segments; repeated and trailing slashes do not count. Undefined: a bad escape. */
export function splitPath(path: string): string[] | undefined {
  try {
    return path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

interface Match<T> {
  readonly route: T;
  readonly parameters: Parameters;
}

export interface Router<T> {
  /** Adds a route. @returns false if another route has the same method and path. */
  add(method: string, pattern: Pattern, route: T): boolean;
  /** Finds the route of a request. @param segments Decoded, as {@link splitPath} returns them. */
  match(method: string, segments: readonly string[]): Match<T> | undefined;
}

/** Creates an empty router. A literal segment wins over a parameter; the order of the routes does not matter. */
export function createRouter<T>(): Router<T> {
  type Entry = { readonly route: T; readonly parameters: readonly PathParameter[] };
  const tree = createPathTree<Entry, Match<T>>(({ route, parameters }, values) => {
    const found: Record<string, string> = {};
    for (const [index, { parameter, type }] of parameters.entries()) {
      const value = valueOf(type, values[index] ?? "");
      if (value === undefined) return undefined;
      found[parameter] = value;
    }
    return { route, parameters: found };
  });
  return {
    add(method, { segments }, route) {
      const parameters = segments.filter((segment) => typeof segment !== "string");
      const path = segments.map((segment) =>
        typeof segment === "string" ? segment : { isRest: segment.type === "path" },
      );
      return tree.add(method, path, { route, parameters });
    },
    match: tree.match,
  };
}
