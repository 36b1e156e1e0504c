/** Finds the keys and values that the JSON Schema of a file allows at a path. */

/** A JSON Schema. */
export type Json = Readonly<Record<string, unknown>>;

const KINDS: Readonly<Record<string, string>> = {
  record: "map",
  object: "map",
  array: "list",
  int: "integer",
};

/** Returns the name of a type of JSON Schema, of zod or of JavaScript, as the author of a file knows it: `a map`. */
export function nameOfType(type: string): string {
  const kind = KINDS[type] ?? type;
  return `${/^[aeio]/.test(kind) ? "an" : "a"} ${kind}`;
}

const isSchema = (value: unknown): value is Json => typeof value === "object" && value !== null;

/** Returns a schema with all its alternatives, recursively. */
const alternatives = (schema: Json): Json[] => {
  const { anyOf } = schema;
  return [...(Array.isArray(anyOf) ? anyOf.filter(isSchema).flatMap(alternatives) : []), schema];
};

/** Returns the subschemas of one member. */
function memberSchemas(schema: Json, key: PropertyKey): Json[] {
  return alternatives(schema).flatMap(({ properties, additionalProperties, items }) => {
    const named = isSchema(properties) ? properties[String(key)] : undefined;
    return [named, typeof key === "number" ? items : additionalProperties].filter(isSchema);
  });
}

/** The schemas of the value at a path of a file, with all their alternatives. */
function schemasAt(schema: Json, path: readonly PropertyKey[]): Json[] {
  const reached = path.reduce<Json[]>(
    (schemas, key) => schemas.flatMap((each) => memberSchemas(each, key)),
    [schema],
  );
  return reached.flatMap(alternatives);
}

/** Returns the keys of a map that a schema names. */
const keysOf = ({ properties, propertyNames }: Json): string[] => [
  ...Object.keys(isSchema(properties) ? properties : {}),
  ...(isSchema(propertyNames) && Array.isArray(propertyNames["enum"])
    ? propertyNames["enum"].map(String)
    : []),
];

/** Returns the valid keys of the map at a path of a file. */
export const keysAt = (schema: Json, path: readonly PropertyKey[]): string[] => [
  ...new Set(schemasAt(schema, path).flatMap(keysOf)),
];

/** Whether the value at a path of a file may be any text. */
export const takesText = (schema: Json, path: readonly PropertyKey[]): boolean =>
  schemasAt(schema, path).some(
    (each) => each["type"] === "string" && !each["enum"] && each["const"] === undefined,
  );

/** Describes the value at a path: an example, the valid values, or its type. Empty if the schema does not define it. */
export function describeValue(schema: Json, path: readonly PropertyKey[]): string {
  const found = schemasAt(schema, path);
  const [example] = found.flatMap(({ examples }) => (Array.isArray(examples) ? examples : []));
  const [description] = found.flatMap(({ description: text }) => (typeof text === "string" ? [text] : []));
  const comment = description === undefined ? "" : ` # ${description}`;
  if (example !== undefined) return JSON.stringify(example) + comment;
  const kinds = found.flatMap((each) => describeType(each));
  return [...new Set(kinds)].join(" or ") + comment;
}

function describeType({ type, enum: values, const: constant, required, properties }: Json): string[] {
  if (Array.isArray(values)) return [values.join(", ")];
  if (constant !== undefined) return [JSON.stringify(constant)];
  const needed = Array.isArray(required) ? required : [];
  if (type === "object" && properties && needed.length > 0) return [`{ ${needed.join(": …, ")}: … }`];
  return typeof type === "string" ? [nameOfType(type)] : [];
}
