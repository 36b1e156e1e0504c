/** Limits the length of all texts in a body, even of those that no subschema describes. */
import { isObject } from "../../base/index.ts";
import { prepareRegex } from "../../jsonata/index.ts";
import { DEFAULT_LIMITS, hasType, keysOfPointer, type Schema } from "../values/schema-members.ts";

/** A text that exceeds its limit. */
export interface LongText {
  /** The names of members and indexes of items that lead to the text. */
  readonly keys: readonly string[];
  readonly limit: number;
  /** The pack's message for clients about the text. */
  readonly message: string | undefined;
}

type Found = readonly [keys: readonly string[], text: string];

/** Finds the texts that may be too long: a character consists of at most two UTF-16 units. */
function* longTextsOf(value: unknown, keys: readonly string[] = []): Generator<Found> {
  if (typeof value === "string") {
    if (value.length > DEFAULT_LIMITS.maxLength) yield [keys, value];
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* longTextsOf(item, [...keys, String(index)]);
  } else if (isObject(value)) {
    for (const name in value) yield* longTextsOf(value[name], [...keys, name]);
  }
}

/** Whether a body contains a text that may be too long. Runs for each body, so it allocates nothing. */
function hasLongText(value: unknown): boolean {
  if (typeof value === "string") return value.length > DEFAULT_LIMITS.maxLength;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasLongText);
  for (const name in value) if (hasLongText((value as Record<string, unknown>)[name])) return true;
  return false;
}

/** A schema that accepts nothing. */
const NOTHING: Schema = { type: [] };

const schemaOf = (schema: unknown): Schema[] => {
  if (schema === false) return [NOTHING];
  return isObject(schema) ? [schema] : [];
};

const schemasIn = (schemas: unknown): Schema[] =>
  Array.isArray(schemas)
    ? schemas.flatMap(schemaOf)
    : isObject(schemas)
      ? Object.values(schemas).flatMap(schemaOf)
      : [];

/** Returns the schema that a reference inside the same schema names. */
function resolveLocal(root: Schema, reference: unknown): Schema[] {
  if (typeof reference !== "string" || !reference.startsWith("#")) return [];
  return schemaOf(
    keysOfPointer(decodeURIComponent(reference.slice(1))).reduce<unknown>(
      (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
      root,
    ),
  );
}

/** Returns all subschemas that may apply to the same value as one of the given schemas. */
function applicable(schemas: readonly Schema[], root: Schema): Set<Schema> {
  const found = new Set(schemas);
  // Members that are added to a set during its iteration are visited as well.
  for (const schema of found) {
    const others = [
      ...["anyOf", "allOf", "oneOf", "dependentSchemas"].flatMap((keyword) => schemasIn(schema[keyword])),
      ...["then", "else"].flatMap((keyword) => schemaOf(schema[keyword])),
      ...resolveLocal(root, schema["$ref"]),
    ];
    for (const other of others) found.add(other);
  }
  return found;
}

/** Returns the subschemas of the members or items of a value. */
function below(schema: Schema, key: string): Schema[] {
  const { properties, patternProperties, additionalProperties, prefixItems, items } = schema;
  const named = isObject(properties) && Object.hasOwn(properties, key) ? schemaOf(properties[key]) : [];
  const matching = Object.entries(isObject(patternProperties) ? patternProperties : {})
    .filter(([pattern]) => prepareRegex(pattern, "u")().test(key))
    .flatMap(([, each]) => schemaOf(each));
  const others = named.length + matching.length > 0 ? [] : schemaOf(additionalProperties);
  const at: unknown = Array.isArray(prefixItems) ? prefixItems[Number(key)] : undefined;
  const rest = at === undefined ? [items, schema["unevaluatedItems"]] : [at];
  return [
    ...named,
    ...matching,
    ...others,
    ...schemaOf(schema["unevaluatedProperties"]),
    ...rest.flatMap(schemaOf),
  ];
}

/** Returns the limit of a text; undefined if no text is allowed there, so that its type is the problem. */
function boundOf(root: Schema, keys: readonly string[]): Omit<LongText, "keys"> | undefined {
  let schemas = applicable([root], root);
  for (const key of keys)
    schemas = applicable(
      [...schemas].flatMap((schema) => below(schema, key)),
      root,
    );
  const all = [...schemas];
  const takesTexts = (schema: Schema): boolean => schema["type"] === undefined || hasType(schema, "string");
  if (all.length > 0 && !all.some(takesTexts)) return undefined;
  const limits = all.flatMap(({ maxLength }) => (typeof maxLength === "number" ? [maxLength] : []));
  const message = all.map((schema) => schema["message"]).find((text) => typeof text === "string");
  return { limit: limits.length === 0 ? DEFAULT_LIMITS.maxLength : Math.max(...limits), message };
}

/** Counts characters as JSON Schema does. */
const lengthOf = (text: string): number => {
  let length = 0;
  for (const _character of text) length += 1;
  return length;
};

/**
 * Finds the texts of a body that are longer than the schema allows there, or longer than the default if the schema has
 * no limit.
 *
 * @param most maximum number of texts to find
 */
export function findLongTexts(schema: Schema, body: unknown, most: number): LongText[] {
  const found: LongText[] = [];
  if (!hasLongText(body)) return found;
  for (const [keys, text] of longTextsOf(body)) {
    const bound = boundOf(schema, keys);
    if (bound && lengthOf(text) > bound.limit) found.push({ keys, ...bound });
    if (found.length >= most) break;
  }
  return found;
}
