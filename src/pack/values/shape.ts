/**
 * Shapes: the JSON of a list, an object or an error as written in the pack, with `$` names instead of values. A shape
 * serves both directions: it is filled to write a body, and searched for its names to read a body.
 */
import { isObject, type Json, printJson, type SourceLocation, suggestionFor } from "../../base/index.ts";

/** JSON with `$` names, as written in the pack. */
export type Shape = unknown;

/** A name in a shape: as a value, as the key of an object, or in a text. */
export interface ShapeName {
  readonly name: string;
  readonly as: "value" | "key" | "text";
  /** The keys that lead to the name. `[]`: an item of an array. */
  readonly path: readonly string[];
}

/**
 * Returns the name of a value such as `$items` or `$path.id`; undefined for a constant. Only names that start with
 * `path` contain a dot.
 */
export const nameOf = (value: unknown): string | undefined =>
  typeof value === "string" && /^\$[a-z_]+(?:\.[\w.]+)?$/.test(value) ? value.slice(1) : undefined;

/** Whether an array of a shape is the template of its items. */
export const isItemTemplate = (shape: Shape): shape is readonly [Shape] =>
  Array.isArray(shape) && shape.length === 1 && namesIn(shape[0]).length > 0;

/**
 * Finds all names of a shape, in the order of its text.
 *
 * @param namesInText Returns the names that a text contains.
 */
export function findNames(
  shape: Shape,
  namesInText: (text: string) => readonly string[] = () => [],
  path: readonly string[] = [],
): ShapeName[] {
  if (typeof shape === "string") {
    const only = nameOf(shape);
    return only === undefined
      ? namesInText(shape).map((name) => ({ name, as: "text", path }))
      : [{ name: only, as: "value", path }];
  }
  if (Array.isArray(shape)) return shape.flatMap((item) => findNames(item, namesInText, [...path, "[]"]));
  if (!isObject(shape)) return [];
  return Object.entries(shape).flatMap(([key, member]): ShapeName[] => {
    const name = nameOf(key);
    const below = findNames(member, namesInText, [...path, key]);
    return name === undefined ? below : [{ name, as: "key", path }, ...below];
  });
}

/** Returns the names of a shape that are values. */
export const namesIn = (shape: Shape): ShapeName[] => findNames(shape).filter(({ as }) => as === "value");

/** Reports names that a shape can't contain. */
export function reportUnknownNames(shape: Shape, names: readonly string[], location: SourceLocation): void {
  const known = names.map((each) => `$${each}`);
  for (const { name } of namesIn(shape))
    if (!names.includes(name))
      location.report({ message: `unknown name "$${name}"`, hint: suggestionFor(`$${name}`, known) });
}

/** Reports a name whose value would be inside of an array. */
export function reportInArray(shape: Shape, name: string, location: SourceLocation): void {
  if (namesIn(shape).some((found) => found.name === name && found.path.includes("[]")))
    location.report({ message: `"$${name}" is inside of an array`, hint: "remove the brackets" });
}

/**
 * Returns the JSON Schema of a filled shape.
 *
 * @param describe Returns the schema of a name.
 * @param isRequired Whether objects always contain the member.
 */
export function describeShape(
  shape: Shape,
  describe: (name: string) => Json,
  isRequired: (member: Shape) => boolean = () => false,
): Json {
  const name = nameOf(shape);
  if (name !== undefined) return describe(name);
  if (!isObject(shape)) return { const: shape };
  const members = Object.entries(shape);
  const required = members.flatMap(([key, member]) => (isRequired(member) ? [key] : []));
  const properties = members.map(([key, member]) => [key, describeShape(member, describe, isRequired)]);
  return {
    type: "object",
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
  };
}

/** Values of a shape by name. If a value is undefined, its member is omitted. */
export type ShapeValues = Readonly<Record<string, unknown>>;

/** A key as it is written in bodies: `$name` is replaced by the text of that name. Keys without a text stay unchanged. */
export function fillKey(key: string, values: ShapeValues): string {
  const value = values[nameOf(key) ?? ""];
  return typeof value === "string" ? value : key;
}

/** Fills the members of an object in a shape. Members without a value are omitted. */
export const fillMembers = (
  shape: Readonly<Record<string, Shape>>,
  values: ShapeValues,
  fill: (member: Shape) => unknown,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(shape).flatMap(([key, member]) => {
      const value = fill(member);
      return value === undefined ? [] : [[fillKey(key, values), value]];
    }),
  );

/** Fills a shape. */
export function fillShape(shape: Shape, values: ShapeValues): unknown {
  const name = nameOf(shape);
  if (name !== undefined) return values[name];
  return isObject(shape) ? fillMembers(shape, values, (member) => fillShape(member, values)) : shape;
}

/** Writes the JSON text of a filled shape; undefined if the whole shape is one undefined value. */
type WriteShape = (values: ShapeValues) => string | undefined;

/** Prepares a shape that is written often. Its texts equal those of {@link fillShape}. @param keys Values of keys */
export function compileShape(shape: Shape, keys: ShapeValues): WriteShape {
  const name = nameOf(shape);
  if (name !== undefined)
    return (values) => (values[name] === undefined ? undefined : printJson(values[name]));
  if (!isObject(shape)) {
    const text = printJson(shape);
    return () => text;
  }
  const members = Object.entries(fillMembers(shape, keys, (member) => member)).map(([key, member]) => ({
    start: `${printJson(key)}:`,
    write: compileShape(member, keys),
  }));
  return (values) => {
    let text = "";
    for (const { start, write } of members) {
      const value = write(values);
      if (value !== undefined) text += (text === "" ? "{" : ",") + start + value;
    }
    return text === "" ? "{}" : `${text}}`;
  };
}

/** Returns the value at a path of a body; undefined if the body has no such member. */
export const valueAt = (body: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    body,
  );

/** Returns the keys that lead to a name in a shape; undefined if the shape does not contain it. @param values Values of keys */
export const findPath = (
  shape: Shape,
  name: string,
  values: ShapeValues = {},
): readonly string[] | undefined =>
  namesIn(shape)
    .find((found) => found.name === name)
    ?.path.map((key) => fillKey(key, values));

/** Returns the same path as text, `page.total`. */
export const dottedPath = (shape: Shape, name: string, values?: ShapeValues): string | undefined =>
  findPath(shape, name, values)?.join(".");
