// Dotted paths of JSON objects, compiled once. Only own members are read: `__proto__` is a name like any other.

import { isObject, setMember } from "../../base/index.ts";

type Json = Record<string, unknown>;

/** Reads an own member. This runs for every field of every row. */
const ownMember = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** Compiles a function that reads the value at a path; undefined if a part of the path is missing or not an object. */
export function compileGetter(path: string): (value: unknown) => unknown {
  const keys = path.split(".");
  const [only] = keys;
  if (keys.length === 1 && only !== undefined) return (value) => ownMember(value, only);
  return (value) => keys.reduce(ownMember, value);
}

/** Compiles a function that sets the value at a path, and creates missing parent objects. */
export function compileSetter(path: string): (target: Json, value: unknown) => void {
  const keys = path.split(".");
  const last = keys.pop() ?? path;
  if (keys.length === 0) return (target, value) => setMember(target, last, value);
  return (target, value) => {
    let object = target;
    for (const key of keys) {
      const inner = ownMember(object, key);
      const next = isObject(inner) ? inner : {};
      if (next !== inner) setMember(object, key, next);
      object = next;
    }
    setMember(object, last, value);
  };
}

/** Returns the paths of the parent objects of members, outer ones first. */
export function parentPaths(paths: Iterable<string>): readonly string[] {
  const parents = new Set<string>();
  for (const path of paths)
    for (let end = path.indexOf("."); end >= 0; end = path.indexOf(".", end + 1))
      parents.add(path.slice(0, end));
  return [...parents].toSorted((one, other) => one.length - other.length);
}

/**
 * Compiles a function that copies an object, and the parent objects of these paths. Setters and removers of the paths
 * then don't change the original. All other values are shared: a deep copy would cost as much as parsing.
 */
export function compileCopy(paths: Iterable<string>): (value: Json) => Json {
  // Outer objects come first, so that each setter changes a copy.
  const steps = parentPaths(paths).map((path) => ({ get: compileGetter(path), set: compileSetter(path) }));
  return (value) => {
    const copy = { ...value };
    for (const { get, set } of steps) {
      const inner = get(copy);
      if (isObject(inner)) set(copy, { ...inner });
    }
    return copy;
  };
}

/** Compiles a function that deletes the member at a path. */
export function compileRemover(path: string): (target: Json) => void {
  const keys = path.split(".");
  const last = keys.pop() ?? path;
  const parent = keys.length > 0 ? compileGetter(keys.join(".")) : (value: unknown) => value;
  return (target) => {
    const object = parent(target);
    if (isObject(object)) delete object[last];
  };
}
