/** Dotted places in JSON objects, prepared once. Only own members count: `__proto__` and the like are names as any other. */

import { isObject } from "../../dialect/json/parse.ts";

type Json = Record<string, unknown>;

/** On the way of every field of every row; an exact number has no member that a pack would name. */
const own = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    ? (value as Json)[key]
    : undefined;

/** Reads what stands at a path; undefined where something on the way is missing or no object. */
export function compileGetter(path: string): (value: unknown) => unknown {
  const keys = path.split(".");
  const [only] = keys;
  if (keys.length === 1 && only !== undefined) return (value) => own(value, only);
  return (value) => keys.reduce(own, value);
}

/** Assigning to `__proto__` would set the prototype; assigning to any other name is many times faster than defining it. */
function put(object: Json, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Puts a value at a path and makes the objects on the way. */
export function compileSetter(path: string): (target: Json, value: unknown) => void {
  const keys = path.split(".");
  const last = keys.pop() ?? path;
  if (keys.length === 0) return (target, value) => put(target, last, value);
  return (target, value) => {
    let object = target;
    for (const key of keys) {
      if (!isObject(own(object, key))) put(object, key, {});
      object = own(object, key) as Json;
    }
    put(object, last, value);
  };
}

/**
 * Copies an object and the objects on the way to some paths, so that setters and removers of these paths leave the
 * original as it is. All other values are shared: a copy of everything in it would cost as much as parsing.
 */
export function compileCopy(paths: Iterable<string>): (value: Json) => Json {
  const parents = new Set<string>();
  for (const path of paths)
    for (let end = path.indexOf("."); end >= 0; end = path.indexOf(".", end + 1))
      parents.add(path.slice(0, end));
  // The outer one first: each setter goes through objects that are copied.
  const steps = [...parents]
    .sort((one, other) => one.length - other.length)
    .map((path) => ({ get: compileGetter(path), set: compileSetter(path) }));
  return (value) => {
    const copy = { ...value };
    for (const { get, set } of steps) {
      const inner = get(copy);
      if (isObject(inner)) set(copy, { ...inner });
    }
    return copy;
  };
}

/** Takes what stands at a path away. */
export function compileRemover(path: string): (target: Json) => void {
  const keys = path.split(".");
  const last = keys.pop() ?? path;
  const parent = keys.length > 0 ? compileGetter(keys.join(".")) : (value: unknown) => value;
  return (target) => {
    const object = parent(target);
    if (isObject(object)) delete object[last];
  };
}
