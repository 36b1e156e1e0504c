/** Converts the texts of a form to the types in the schema of the body. */
import { isObject } from "../../base/index.ts";
import { parseScalar } from "../paths/query.ts";
import { hasType, schemaOf, type Schema } from "../values/schema-members.ts";

type Convert = (value: unknown) => unknown;

/** Matches an index of a list. */
const INDEX = /^(?:0|[1-9]\d{0,5})$/;

/** Returns the items of a list with indexes, in order; undefined for any other object. */
function indexedItems(value: Readonly<Record<string, unknown>>): unknown[] | undefined {
  const entries = Object.entries(value);
  if (!entries.every(([name]) => INDEX.test(name))) return undefined;
  return entries.sort(([one], [other]) => Number(one) - Number(other)).map(([, item]) => item);
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/** Converts a text to the first matching type. Other texts stay unchanged, and the schema rejects them. */
function compileText(schema: Schema): (text: string) => unknown {
  const [isBoolean, isNullable] = [hasType(schema, "boolean"), hasType(schema, "null")];
  const isNumber = hasType(schema, "number") || hasType(schema, "integer");
  if (schema["type"] === undefined || hasType(schema, "string")) return (text) => text;
  return (text) => {
    if (text === "" && isNullable) return null;
    return (
      (isNumber ? parseScalar(text, "number") : undefined) ??
      (isBoolean ? BOOLEANS.get(text) : undefined) ??
      text
    );
  };
}

/** Converts values that no schema describes: names that count from 0 become a list. */
function convertUntyped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convertUntyped);
  if (!isObject(value)) return value;
  const items = Object.hasOwn(value, "0") ? indexedItems(value) : undefined;
  if (items) return items.map(convertUntyped);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, convertUntyped(member)]));
}

/**
 * Compiles a function that converts the values of a form to the types of a schema: `"5"` becomes a number, a single
 * value becomes a list, `items[0]` becomes the first item of a list, and an empty text becomes null or an empty list.
 */
export function compileFormValues(schema: Schema): Convert {
  const { properties, items, additionalProperties } = schema;
  const convertText = compileText(schema);
  const isList = hasType(schema, "array");
  const convertItem = isObject(items) ? compileFormValues(items) : convertUntyped;
  const convertOther = isObject(additionalProperties)
    ? compileFormValues(additionalProperties)
    : convertUntyped;
  const members = new Map(
    Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => [
      name,
      compileFormValues(schemaOf(member)),
    ]),
  );
  const convertObject = (value: Readonly<Record<string, unknown>>): unknown => {
    const list = isList ? indexedItems(value) : undefined;
    if (list) return list.map(convertItem);
    if (schema["type"] === undefined && members.size === 0) return convertUntyped(value);
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, (members.get(name) ?? convertOther)(member)]),
    );
  };
  return (value) => {
    if (Array.isArray(value)) return value.map(convertItem);
    if (isObject(value)) return convertObject(value);
    if (typeof value !== "string") return value;
    if (!isList || hasType(schema, "string")) return convertText(value);
    return value === "" ? [] : [convertItem(value)];
  };
}
