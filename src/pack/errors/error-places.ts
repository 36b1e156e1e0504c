/** The places in the shape of an error: entries for each problem, in an array or in an object by field, and names of values. */
import { isObject } from "../../base/index.ts";
import {
  isItemTemplate,
  nameOf,
  namesIn,
  type Shape,
  type ShapePath,
  type ShapeValues,
} from "../values/shape.ts";

/** Names of values of the request that an error answers; a path parameter has {@link requestNameOf}. */
export const REQUEST_NAMES = ["method", "request_path", "retry_after"] as const;

const PARAMETER = "path.";

/** The name of a path parameter in a shape. */
export const requestNameOf = (parameter: string): string => PARAMETER + parameter;

/** The path parameter of a name; undefined for other names. */
export const parameterOfName = (name: string): string | undefined =>
  name.startsWith(PARAMETER) ? name.slice(PARAMETER.length) : undefined;

/** Whether a name has a value of the request, which all problems of an error share. */
export const isRequestName = (name: string): boolean =>
  REQUEST_NAMES.some((each) => each === name) || parameterOfName(name) !== undefined;

/** Names of values of an error, or of one of its problems. */
export const ERROR_NAMES = ["message", "field", "pointer", "code", "status", "title", "name"] as const;

/** A name of a value in a text, `{path.id}` or `{field}`. */
const NAME_IN_TEXT = /\{([a-z_]+|path\.[\w.]+)\}/g;

const isName = (name: string): boolean => isRequestName(name) || ERROR_NAMES.some((each) => each === name);

/** Returns the names of values that a text has in braces. */
export const namesInText = (text: string): string[] =>
  [...text.matchAll(NAME_IN_TEXT)].map(([, name = ""]) => name).filter(isName);

/** Returns all texts of a shape that have values in them. */
export function textsWithNames(shape: Shape): string[] {
  if (typeof shape === "string") return namesInText(shape).length > 0 ? [shape] : [];
  if (Array.isArray(shape)) return shape.flatMap(textsWithNames);
  return isObject(shape) ? Object.values(shape).flatMap(textsWithNames) : [];
}

/** Returns all names of a shape that is written: its values, and those that texts have in braces. */
export function writtenNames(shape: Shape, path: readonly string[] = []): ShapePath[] {
  if (Array.isArray(shape)) return shape.flatMap((item) => writtenNames(item, [...path, "[]"]));
  if (isObject(shape))
    return Object.entries(shape).flatMap(([key, value]) => writtenNames(value, [...path, key]));
  const inText = typeof shape === "string" ? namesInText(shape).map((name) => ({ name, path })) : [];
  return [...namesIn(shape, path), ...inText];
}

/** Puts values into a text. One that is not known leaves nothing. */
export const fillText = (text: string, values: ShapeValues): string =>
  text.replaceAll(NAME_IN_TEXT, (whole, name: string) => {
    if (!isName(name)) return whole;
    const { [name]: value } = values;
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  });

/** Names whose values may be the keys of an object with the problems. */
export const KEY_NAMES = ["field", "pointer", "code"] as const;

export type KeyName = (typeof KEY_NAMES)[number];

/** The name whose values are the keys of an object's problems, such as `$field`; undefined for any other key. */
export const keyNameOf = (key: string): KeyName | undefined => KEY_NAMES.find((name) => name === nameOf(key));

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

/** Values that all problems of an error share. */
const COMMON_NAMES: ReadonlySet<string> = new Set(["name", "status", "title"]);

/** Whether the only item of a list has the problems in a list or an object of its own: `[{ violations: [$message] }]`. */
export const hasInnerPlaces = (entry: Shape): boolean =>
  namesIn(entry).every(
    ({ name, path }) =>
      COMMON_NAMES.has(name) ||
      isRequestName(name) ||
      path.some((key) => key === "[]" || keyNameOf(key) !== undefined),
  ) && findPlaces(entry).length > 0;

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

/** Returns the keys of a shape that are names of values (`$field`), at any depth. */
export function keysIn(shape: Shape): string[] {
  if (Array.isArray(shape)) return shape.flatMap(keysIn);
  if (!isObject(shape)) return [];
  return Object.entries(shape).flatMap(([key, member]) => [
    ...(nameOf(key) === undefined ? [] : [key]),
    ...keysIn(member),
  ]);
}

/** Whether a shape has a value of a name: as a value, or as the keys of an object. */
export const hasName = (shape: Shape, wanted: string): boolean =>
  keysIn(shape).includes(`$${wanted}`) || namesIn(shape).some(({ name }) => name === wanted);

/** Whether an error that is written has a value of a name: where {@link hasName} finds it, or in a text. */
export const writesName = (shape: Shape, wanted: string): boolean =>
  hasName(shape, wanted) || writtenNames(shape).some(({ name }) => name === wanted);
