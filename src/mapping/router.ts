/** Paths of routes: split, matched, and built again. */
import { shortestAddress } from "./compile/ip-address.ts";

export type ParameterType = "integer" | "text" | "path" | "ip" | "ip4" | "ip6";

/** `/vm/instances/:id` as its segments. */
export interface Pattern {
  readonly segments: readonly (string | { readonly parameter: string; readonly type: ParameterType })[];
}

/** Values of path parameters by name, decoded and checked. */
export type Parameters = Readonly<Record<string, string>>;

interface Branch<T> {
  readonly literal: Map<string, Branch<T>>;
  one?: Branch<T>;
  rest?: Branch<T>;
  readonly ends: Map<
    string,
    { readonly route: T; readonly names: readonly { name: string; type: ParameterType }[] }
  >;
}

const newBranch = <T>(): Branch<T> => ({ literal: new Map(), ends: new Map() });

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

export interface Router<T> {
  /** False where another route answers the same paths. */
  add(method: string, pattern: Pattern, route: T): boolean;
  match(
    method: string,
    segments: readonly string[],
  ): { readonly route: T; readonly parameters: Parameters } | undefined;
}

/** A tree of path segments. A literal segment is tried before a parameter; nothing depends on the order of routes. */
export function createRouter<T>(): Router<T> {
  const root = newBranch<T>();

  function find(
    branch: Branch<T>,
    method: string,
    segments: readonly string[],
    values: readonly string[],
  ): ReturnType<Router<T>["match"]> {
    const [segment, ...others] = segments;
    if (segment === undefined) return finish(branch, method, values);
    const literal = branch.literal.get(segment);
    return (
      (literal && find(literal, method, others, values)) ??
      (branch.one && find(branch.one, method, others, [...values, segment])) ??
      (branch.rest && finish(branch.rest, method, [...values, segments.join("/")]))
    );
  }

  function finish(
    branch: Branch<T>,
    method: string,
    values: readonly string[],
  ): ReturnType<Router<T>["match"]> {
    const end = branch.ends.get(method);
    if (!end) return undefined;
    const parameters: Record<string, string> = {};
    for (const [index, { name, type }] of end.names.entries()) {
      const value = valueOf(type, values[index] ?? "");
      if (value === undefined) return undefined;
      parameters[name] = value;
    }
    return { route: end.route, parameters };
  }

  return {
    add(method, { segments }, route) {
      let branch = root;
      const names: { name: string; type: ParameterType }[] = [];
      for (const segment of segments) {
        if (typeof segment === "string") {
          const next = branch.literal.get(segment) ?? newBranch<T>();
          branch.literal.set(segment, next);
          branch = next;
          continue;
        }
        names.push({ name: segment.parameter, type: segment.type });
        if (segment.type === "path") branch = branch.rest ??= newBranch<T>();
        else branch = branch.one ??= newBranch<T>();
      }
      if (branch.ends.has(method)) return false;
      branch.ends.set(method, { route, names });
      return true;
    },
    match: (method, segments) => find(root, method, segments, []),
  };
}
