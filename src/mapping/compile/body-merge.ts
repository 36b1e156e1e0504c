/** Bodies that are merged with what the upstream has now: `merge_with`. */
import { isObject } from "../../dialect/json/parse.ts";
import type { BodyDefinition } from "../schema/resource-definition.ts";
import type { JsonObject } from "../translation-context.ts";
import { compileCopy, compileGetter } from "./member-paths.ts";

/** v4's response to a prerequisite is not what the body needs. The message is for the log. */
export class InvalidPrerequisiteError extends Error {
  override readonly name = "InvalidPrerequisiteError";
  readonly code = "AG_UPSTREAM_RESPONSE_INVALID";
}

/** Merges a v4 member with its current value: v4 would drop other members of an object, and hidden ids of a list. */
export function mergeWithCurrent(
  written: unknown,
  current: unknown,
  isHidden: (id: unknown) => boolean,
): unknown {
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
