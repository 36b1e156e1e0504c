/**
 * The names in the shape of an error, and its places: the arrays, or objects by field, that contain an entry for each
 * problem.
 */
import { isObject } from "../../base/index.ts";
import { findNames, isItemTemplate, nameOf, namesIn, type Shape, type ShapeName } from "../values/shape.ts";

/** Names of values of the request that caused an error. A path parameter is `path.` and its name. */
export const REQUEST_NAMES = ["method", "request_path", "retry_after"] as const;

/** Names of values of an error, or of one of its problems. */
export const ERROR_NAMES = ["message", "field", "pointer", "code", "status", "title", "name"] as const;

/** Returns the path parameter that a name refers to; undefined for other names. */
export const parameterOfName = (name: string): string | undefined => /^path\.(.*)/s.exec(name)?.[1];

/** Whether the value of a name belongs to the request, so that all problems of an error share it. */
export const isRequestName = (name: string): boolean =>
  REQUEST_NAMES.some((each) => each === name) || parameterOfName(name) !== undefined;

/** Matches a name of a value in a text, `{path.id}` or `{field}`. */
const NAME_IN_TEXT = /\{([a-z_]+|path\.[\w.]+)\}/g;

const isName = (name: string): boolean => isRequestName(name) || ERROR_NAMES.some((each) => each === name);

/** Replaces the names in braces in a text. */
export const replaceNames = (text: string, replace: (name: string) => string): string =>
  text.replaceAll(NAME_IN_TEXT, (whole, name: string) => (isName(name) ? replace(name) : whole));

const namesInText = (text: string): string[] =>
  [...text.matchAll(NAME_IN_TEXT)].map(([, name = ""]) => name).filter(isName);

/** Finds all names in the shape of an error. */
export const errorNames = (shape: Shape): ShapeName[] => findNames(shape, namesInText);

/** Names whose values may be the keys of an object with the problems. */
export const KEY_NAMES = ["field", "pointer", "code"] as const;

type KeyName = (typeof KEY_NAMES)[number];

/** Returns the name whose values are the keys of an object's problems, such as `$field`; undefined for any other key. */
export const keyNameOf = (key: string): KeyName | undefined => KEY_NAMES.find((name) => name === nameOf(key));

/** Whether a key of a path means an item of a list, or a problem by its key. */
export const isEntryKey = (key: string): boolean => key === "[]" || keyNameOf(key) !== undefined;

/** A place in a shape that contains an entry for each problem. */
export interface ErrorPlace {
  /** The keys that lead to the place. `[]`: an item of a list. */
  readonly path: readonly string[];
  readonly entry: Shape;
  /** For an object: the name whose values are its keys, and its other keys. Undefined for an array. */
  readonly keys: { readonly name: KeyName; readonly others: ReadonlySet<string> } | undefined;
  /** Names whose values an entry contains, including the name of its key. */
  readonly names: ReadonlySet<string>;
}

const namesOfEntry = (entry: Shape): string[] => namesIn(entry).map(({ name }) => name);

/** Returns the names in an entry whose values belong to its problem. */
export const problemNames = (entry: Shape): string[] =>
  namesOfEntry(entry).filter((name) => name !== "name" && !isRequestName(name));

/** Values that all problems of an error share. */
const COMMON_NAMES: ReadonlySet<string> = new Set(["name", "status", "title"]);

/** Whether the only item of a list contains the problems in a nested list or object: `[{ violations: [$message] }]`. */
export const hasInnerPlaces = (entry: Shape): boolean => {
  const outside = namesIn(entry).filter(({ path }) => !path.some(isEntryKey));
  const areCommon = outside.every(({ name }) => COMMON_NAMES.has(name) || isRequestName(name));
  return areCommon && findPlaces(entry).length > 0;
};

/** Finds the places of a shape, in the order of its text. */
export function findPlaces(shape: Shape, path: readonly string[] = []): ErrorPlace[] {
  if (isItemTemplate(shape)) {
    const [entry] = shape;
    if (hasInnerPlaces(entry)) return findPlaces(entry, [...path, "[]"]);
    return [{ path, entry, keys: undefined, names: new Set(namesOfEntry(entry)) }];
  }
  if (!isObject(shape)) return [];
  const keys = Object.keys(shape);
  return Object.entries(shape).flatMap(([key, member]) => {
    const name = keyNameOf(key);
    if (name === undefined) return findPlaces(member, [...path, key]);
    const others = new Set(keys.filter((other) => other !== key));
    return [{ path, entry: member, keys: { name, others }, names: new Set([name, ...namesOfEntry(member)]) }];
  });
}
