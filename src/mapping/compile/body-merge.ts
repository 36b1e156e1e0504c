/** What the gateway adds to a body: constants, defaults, ids of the path, and what the upstream has now (`merge_with`). */
import { isObject } from "../../dialect/json/parse.ts";
import type { BodyDefinition } from "../schema/resource-definition.ts";
import type { JsonObject, WriteContext } from "../translation-context.ts";
import { compileCopy, compileGetter } from "./member-paths.ts";

/** v4's response to a prerequisite is not what the body needs. The message is for the log. */
export class InvalidPrerequisiteError extends Error {
  override readonly name = "InvalidPrerequisiteError";
  readonly code = "AG_UPSTREAM_RESPONSE_INVALID";
}

/** Merges a v4 member with its current value: v4 would drop other members of an object, and hidden ids of a list. */
function mergeWithCurrent(written: unknown, current: unknown, isHidden: (id: unknown) => boolean): unknown {
  if (isObject(written) && isObject(current)) return { ...current, ...written };
  if (Array.isArray(written) && Array.isArray(current)) return [...written, ...current.filter(isHidden)];
  return written;
}

/**
 * Compiles what the members of a body are written into: a new object, or a copy of the upstream's complete object. A copy
 * keeps all that the client did not send, in nested objects too.
 *
 * @param members Dotted names of the upstream's members.
 */
export function compileTarget(
  source: BodyDefinition["merge_with"],
  members: readonly string[],
): (prerequisites: unknown) => JsonObject {
  if (typeof source !== "string") return () => ({});
  const get = compileGetter(source);
  const copy = compileCopy(members);
  return (prerequisites) => {
    const current = get(prerequisites);
    // Without it the upstream would get an incomplete object, and delete the rest of its own.
    if (!isObject(current))
      throw new InvalidPrerequisiteError(`the prerequisite has no object "${source}" to merge the body with`);
    return copy(current);
  };
}

/** Paths of the prerequisites' values that a body is merged with. */
export const mergeSources = ({ merge_with: source = {} }: BodyDefinition): readonly string[] =>
  typeof source === "string" ? [source] : Object.values(source);

/** Returns an id of the path as bodies have it: as a number if it is one. */
const parsePathId = (value: string | undefined): unknown =>
  value && /^\d+$/.test(value) ? Number(value) : value;

/**
 * Adds the members that the client did not send (constants, defaults, ids of the path), and merges members that v4
 * replaces as a whole with their current values.
 *
 * @returns Names of the added members.
 */
export function addGatewayMembers(
  v4: JsonObject,
  definition: BodyDefinition,
  hiddenIn: (v4: string) => (id: unknown) => boolean,
  { path, prerequisites }: WriteContext,
): Set<string> {
  const { set = {}, default: defaults = {}, from_path: fromPath = {} } = definition;
  const over = typeof definition.merge_with === "object" ? definition.merge_with : {};
  const missing = Object.entries(defaults).filter(([name]) => !Object.hasOwn(v4, name));
  const ids = Object.entries(fromPath).map(
    ([name, parameter]) => [name, parsePathId(path[parameter])] as const,
  );
  for (const [name, source] of Object.entries(over)) {
    if (Object.hasOwn(v4, name))
      v4[name] = mergeWithCurrent(v4[name], compileGetter(source)(prerequisites), hiddenIn(name));
  }
  const added = [...missing, ...ids, ...Object.entries(set)];
  for (const [name, value] of added) v4[name] = value;
  return new Set(added.map(([name]) => name));
}
