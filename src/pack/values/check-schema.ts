/** Checks the JSON Schemas of a pack, and reports each problem at its location. */
import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import { errorText, isObject, type SourceLocation, suggestionFor } from "../../base/index.ts";
import { prepareRegex } from "../../jsonata/index.ts";
import { keysOfPointer, type Schema } from "./schema-members.ts";

/** A nested schema, with its path below the outer schema. */
type InnerSchema = readonly [path: readonly (string | number)[], schema: Schema];

/** Keywords whose schemas apply to the same object as the schema that contains them. */
const SAME_OBJECT = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/** Keywords whose value is a schema or a list of schemas, and keywords whose value is a map of schemas. */
const WITH_SCHEMAS = [...SAME_OBJECT, "items", "additionalProperties", "contains", "propertyNames"];
const WITH_MAPS = ["properties", "patternProperties", "dependentSchemas", "$defs"];

/** Returns the schemas of some keywords: a single schema, a list, or a map. */
const schemasOf = (schema: Schema, keywords: readonly string[]): InnerSchema[] =>
  keywords.flatMap((keyword): InnerSchema[] => {
    const value = schema[keyword];
    if (isObject(value) && WITH_SCHEMAS.includes(keyword)) return [[[keyword], value]];
    const inner = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
    return inner.flatMap(([key, each]): InnerSchema[] => (isObject(each) ? [[[keyword, key], each]] : []));
  });

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];

/** Reports an unknown format, and a pattern that does not run in linear time. */
function reportFormats({ format, pattern }: Schema, ajv: Ajv2020, location: SourceLocation): boolean {
  const isKnown = typeof format !== "string" || Object.hasOwn(ajv.formats, format);
  if (!isKnown)
    location.at("format").report({
      message: `unknown format "${format}"`,
      hint: suggestionFor(format, Object.keys(ajv.formats)),
    });
  if (typeof pattern !== "string") return isKnown;
  try {
    const { source, flags } = RegExp(pattern, "u");
    prepareRegex(source, flags);
    return isKnown;
  } catch (error) {
    location.at("pattern").report(`not a regular expression of a pack: ${errorText(error)}`);
    return false;
  }
}

/** Reports unknown keywords, here and in nested schemas. */
function reportKeywords(schema: Schema, ajv: Ajv2020, location: SourceLocation): boolean {
  const unknown = Object.keys(schema).filter((keyword) => !Object.hasOwn(ajv.RULES.keywords, keyword));
  for (const keyword of unknown)
    location.at(keyword).reportKey({
      message: `not a JSON Schema: unknown keyword "${keyword}"`,
      hint: suggestionFor(keyword, Object.keys(ajv.RULES.keywords)),
    });
  const isReadable = reportFormats(schema, ajv, location);
  const inner = schemasOf(schema, [...WITH_SCHEMAS, ...WITH_MAPS]);
  const results = inner.map(([path, each]) => reportKeywords(each, ajv, location.at(...path)));
  return unknown.length === 0 && isReadable && !results.includes(false);
}

/** Formats an error of the meta schema as text. */
function describe({ keyword, message = "", params }: ErrorObject, value: unknown) {
  const { allowedValues } = params as { readonly allowedValues?: readonly unknown[] };
  if (keyword === "enum" && allowedValues)
    return {
      message: `not a JSON Schema: ${JSON.stringify(value)} is not allowed here`,
      hint: suggestionFor(String(value), allowedValues.map(String)),
    };
  return `not a JSON Schema: ${message.replaceAll(",", " or ")}`;
}

/**
 * Checks a schema. Reports the deepest problem of each member, because the outer ones only repeat it.
 *
 * @param ajv Contains the keywords and formats of packs.
 */
export function reportInvalidSchema(schema: Schema, ajv: Ajv2020, place: SourceLocation): boolean {
  const location = place.with({ code: "invalid-schema" });
  const isKnown = reportKeywords(schema, ajv, location);
  if (ajv.validateSchema(schema) === true) return isKnown;
  const errors = ajv.errors ?? [];
  const deepest = errors.filter(
    ({ instancePath }, index) =>
      !errors.some((other) => other.instancePath.startsWith(`${instancePath}/`)) &&
      errors.findIndex((other) => other.instancePath === instancePath) === index,
  );
  for (const error of deepest) {
    // Indexes of lists are numbers.
    const path = keysOfPointer(error.instancePath).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    location.at(...path).report(describe(error, error.data));
  }
  return false;
}

/**
 * Reports members in a schema that can never occur: names with a dot, and required members without a property. The
 * gateway removes members without a property.
 *
 * @param shared Properties that other schemas add to this one.
 */
export function reportUnknownMembers(
  schema: Schema,
  place: SourceLocation,
  shared: readonly string[] = [],
): void {
  const location = place.with({ code: "invalid-schema" });
  const { properties, items } = schema;
  if (isObject(items)) reportUnknownMembers(items, location.at("items"));
  if (!isObject(properties)) return;
  for (const [path, each] of schemasOf(schema, ["properties"]))
    reportUnknownMembers(each, location.at(...path));
  for (const name of Object.keys(properties).filter((each) => each.includes("."))) {
    const [outer = "", ...inner] = name.split(".");
    location.at("properties", name).reportKey({
      message: `the property "${name}" has a dot in its name, so no member is ever found under it`,
      hint: `write a nested object: ${outer}: { type: object, properties: { ${inner.join(".")}: … } }`,
    });
  }
  reportUnknownNames(schema, [...Object.keys(properties), ...shared], location);
}

function reportUnknownNames(schema: Schema, known: readonly string[], location: SourceLocation): void {
  const report = (name: string, at: SourceLocation): void => {
    if (!known.includes(name))
      at.report({ message: `"${name}" is not a property of this schema`, hint: suggestionFor(name, known) });
  };
  stringsOf(schema["required"]).forEach((name, index) => report(name, location.at("required", index)));
  const dependent = isObject(schema["dependentRequired"]) ? schema["dependentRequired"] : {};
  for (const [name, others] of Object.entries(dependent)) {
    report(name, location.at("dependentRequired", name));
    stringsOf(others).forEach((other, index) => report(other, location.at("dependentRequired", name, index)));
  }
  for (const [path, inner] of schemasOf(schema, [...SAME_OBJECT, "dependentSchemas"])) {
    const at = location.at(...path);
    for (const name of Object.keys(isObject(inner["properties"]) ? inner["properties"] : {}))
      report(name, at.at("properties", name));
    reportUnknownNames(inner, known, at);
  }
}
