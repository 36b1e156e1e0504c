/** The names in the shape of an error, and its places: entries for each problem, in an array or in an object by field. */
import { isObject } from "../../base/index.ts";
import { findNames, isItemTemplate, nameOf, namesIn, type Shape, type ShapeName } from "../values/shape.ts";

/** Names of values of the request that an error answers. A path parameter is `path.` and its name. */
export const REQUEST_NAMES = ["method", "request_path", "retry_after"] as const;

/** Names of values of an error, or of one of its problems. */
export const ERROR_NAMES = ["message", "field", "pointer", "code", "status", "title", "name"] as const;

/** The path parameter of a name; undefined for other names. */
export const parameterOfName = (name: string): string | undefined => /^path\.(.*)/s.exec(name)?.[1];

/** Whether a name has a value of the request, which all problems of an error share. */
export const isRequestName = (name: string): boolean =>
  REQUEST_NAMES.some((each) => each === name) || parameterOfName(name) !== undefined;

/** A name of a value in a text, `{path.id}` or `{field}`. */
const NAME_IN_TEXT = /\{([a-z_]+|path\.[\w.]+)\}/g;

const isName = (name: string): boolean => isRequestName(name) || ERROR_NAMES.some((each) => each === name);

/** Replaces the names that a text has in braces. */
export const replaceNames = (text: string, replace: (name: string) => string): string =>
  text.replaceAll(NAME_IN_TEXT, (whole, name: string) => (isName(name) ? replace(name) : whole));

const namesInText = (text: string): string[] =>
  [...text.matchAll(NAME_IN_TEXT)].map(([, name = ""]) => name).filter(isName);

/** Finds all names in the shape of an error. */
export const errorNames = (shape: Shape): ShapeName[] => findNames(shape, namesInText);

/** Names whose values may be the keys of an object with the problems. */
export const KEY_NAMES = ["field", "pointer", "code"] as const;

type KeyName = (typeof KEY_NAMES)[number];

/** The name whose values are the keys of an object's problems, such as `$field`; undefined for any other key. */
export const keyNameOf = (key: string): KeyName | undefined => KEY_NAMES.find((name) => name === nameOf(key));

/** Whether a part of a path is an item of a list, or a problem by its key. */
export const isEntryKey = (key: string): boolean => key === "[]" || keyNameOf(key) !== undefined;

/** A place of a shape with an entry for each problem. */
export interface ErrorPlace {
  /** The keys that lead to it. `[]`: an item of a list. */
  readonly path: readonly string[];
  readonly entry: Shape;
  /** For an object: the name whose values are its keys, and its other keys. Undefined for an array. */
  readonly keys: { readonly name: KeyName; readonly others: ReadonlySet<string> } | undefined;
  /** Names for which an entry has values, including the name of its key. */
  readonly names: ReadonlySet<string>;
}

const namesOfEntry = (entry: Shape): string[] => namesIn(entry).map(({ name }) => name);

/** The names of an entry that have values of its problem. */
export const problemNames = (entry: Shape): string[] =>
  namesOfEntry(entry).filter((name) => name !== "name" && !isRequestName(name));

/** Values that all problems of an error share. */
const COMMON_NAMES: ReadonlySet<string> = new Set(["name", "status", "title"]);

/** Whether the only item of a list has the problems in a list or an object of its own: `[{ violations: [$message] }]`. */
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
