/**
 * Adds members of the gateway to a body: constants, defaults, ids of the path, values of calls, and the upstream's
 * current values (`merge_with`).
 */
import { isObject } from "../../base/index.ts";
import type { PathParameterDefinitions } from "../paths/path-definition.ts";
import type { BodyDefinition } from "../schema/resource-definition.ts";
import type { JsonObject, WriteContext } from "../translation-context.ts";
import { compileCopy, compileGetter, compileSetter, parentPaths } from "../values/member-paths.ts";
import { compilePathValue } from "../paths/path-parameters.ts";

/** v4's response to a call does not contain a value that the body needs. The message is for the log. */
export class InvalidCallValueError extends Error {
  override readonly name = "InvalidCallValueError";
  readonly code = "AG_UPSTREAM_RESPONSE_INVALID";
}

/**
 * Compiles how a v4 member is merged with its current value: v4 would drop other members of an object, and hidden ids
 * of a list.
 *
 * @param below Dotted names of the nested members that a body writes individually. Their parent objects are merged as
 *   well.
 */
function compileMerge(
  below: readonly string[],
  isHidden: (id: unknown) => boolean,
): (written: unknown, current: unknown) => unknown {
  const nested = parentPaths(below).map((path) => ({ get: compileGetter(path), set: compileSetter(path) }));
  return (written, current) => {
    if (Array.isArray(written) && Array.isArray(current)) return [...written, ...current.filter(isHidden)];
    if (!isObject(written) || !isObject(current)) return written;
    const merged = { ...current, ...written };
    for (const { get, set } of nested) {
      const [inner, currentInner] = [get(written), get(current)];
      if (isObject(inner) && isObject(currentInner)) set(merged, { ...currentInner, ...inner });
    }
    return merged;
  };
}

/**
 * Compiles the object into which the members of a body are written: a new object, or a copy of the upstream's complete
 * object. A copy keeps all members that the client did not send, even in nested objects.
 *
 * @param members Dotted names of the upstream's members.
 */
export function compileTarget(
  source: BodyDefinition["merge_with"],
  members: readonly string[],
): (writing: Pick<WriteContext, "calls" | "isInvalid">) => JsonObject {
  if (typeof source !== "string") return () => ({});
  const get = compileGetter(source);
  const copy = compileCopy(members);
  return ({ calls, isInvalid }) => {
    const current = get(calls);
    // An invalid body is not sent, so the calls before it are not sent either.
    if (isInvalid && !isObject(current)) return {};
    // Without the current object, the upstream would get an incomplete one, and delete the missing members.
    if (!isObject(current))
      throw new InvalidCallValueError(
        `the calls before it have no object "${source}" to merge the body with`,
      );
    return copy(current);
  };
}

/** Returns the paths of the values of calls that a body is merged with. */
export const mergeSources = ({ merge_with: source = {} }: BodyDefinition): readonly string[] =>
  typeof source === "string" ? [source] : Object.values(source);

/**
 * Compiles a function that sets a member by its dotted name. Its parent objects are copied, since they may be the
 * client's own.
 */
export function compileAdd(name: string): (v4: JsonObject, value: unknown) => void {
  const set = compileSetter(name);
  if (!name.includes(".")) return set;
  const copy = compileCopy([name]);
  return (v4, value) => {
    Object.assign(v4, copy(v4));
    set(v4, value);
  };
}

/**
 * Compiles the function that adds members to a body (constants, defaults, ids of the path, values of calls), and merges
 * members that v4 replaces as a whole with their current values. Names of nested members are dotted. The function
 * returns the names of the added members.
 *
 * @param members Dotted names of the upstream's members.
 * @param hiddenIn Tells whether clients never receive the object of an id in a member.
 * @param pathParameters The parameters of the pack and of the resource.
 */
export function compileAdditions(
  {
    set = {},
    default: defaults = {},
    from_path: fromPath = {},
    from_calls: fromCalls = {},
    merge_with: mergeWith,
  }: BodyDefinition,
  members: readonly string[],
  hiddenIn: (v4: string) => (id: unknown) => boolean,
  pathParameters: PathParameterDefinitions,
) {
  /** Compiles the members of a key. @param compile compiles the value of a member */
  const compileMembers = <T, V>(
    definition: Readonly<Record<string, T>>,
    compile: (value: T, name: string) => V,
  ) =>
    Object.entries(definition).map(([name, value]) => ({
      name,
      get: compileGetter(name),
      add: compileAdd(name),
      value: compile(value, name),
    }));
  const merges = compileMembers(typeof mergeWith === "object" ? mergeWith : {}, (source, name) => ({
    current: compileGetter(source),
    merge: compileMerge(
      members.flatMap((member) => (member.startsWith(`${name}.`) ? member.slice(name.length + 1) : [])),
      hiddenIn(name),
    ),
  }));
  const missing = compileMembers(defaults, (value) => value);
  const constants = compileMembers(set, (value) => value);
  const ofCalls = compileMembers(fromCalls, compileGetter);
  const ids = compileMembers(fromPath, (parameter) => {
    const { [parameter]: rule } = pathParameters;
    const toValue = compilePathValue(typeof rule === "object" ? rule.type : rule);
    return (path: WriteContext["path"]) => {
      const { [parameter]: text } = path;
      return text === undefined ? undefined : toValue(text);
    };
  });
  /** @param complete The whole translated body, if only changes are sent: members that the client has sent get no default. */
  return (v4: JsonObject, complete: JsonObject, { path, calls }: WriteContext): Set<string> => {
    const given = missing.filter(({ get }) => get(v4) === undefined && get(complete) === undefined);
    for (const { get, add, value } of merges) {
      const written = get(v4);
      if (written !== undefined) add(v4, value.merge(written, value.current(calls)));
    }
    for (const { add, value } of given) add(v4, value);
    for (const { add, value: valueIn } of ids) add(v4, valueIn(path));
    const found = ofCalls.filter(({ value: valueIn }) => valueIn(calls) !== undefined);
    for (const { add, value: valueIn } of found) add(v4, valueIn(calls));
    for (const { add, value } of constants) add(v4, value);
    return new Set([...given, ...ids, ...found, ...constants].map(({ name }) => name));
  };
}
