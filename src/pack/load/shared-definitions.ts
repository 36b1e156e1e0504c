/** Schemas in `pack.yaml`, which schemas of all files can reference by name, and its functions. */
import { credentialHeaders, type CredentialsPlaces } from "../credentials/credentials.ts";
import { isObject, resolveReference, type SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { LocatedFile } from "./resource-files.ts";

type Schemas = DialectDefinition["schemas"];

/** The key of a schema that references another schema and inherits its keywords. Own keywords take precedence. */
const REFERENCE = "$ref";

/** Whether a reference is the name of a schema of the pack. `#/$defs/text` is a location in its own schema. */
const isName = (reference: unknown): reference is string =>
  typeof reference === "string" && !reference.startsWith("#");

const hasReference = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(hasReference)
    : isObject(value) && (isName(value[REFERENCE]) || Object.values(value).some(hasReference));

/**
 * Replaces the references in all schemas of a definition. Other values stay the same objects.
 *
 * @param around names of the enclosing schemas; undefined outside of all schemas
 */
function inlineSchemas(
  value: unknown,
  schemas: ReadonlyMap<string, Schemas[string]>,
  location: SourceLocation,
  around?: readonly string[],
): unknown {
  if (!hasReference(value)) return value;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => inlineSchemas(item, schemas, location.at(index), around));
  if (!isObject(value)) return value;
  const { [REFERENCE]: reference, ...others } = value;
  const name = around && isName(reference) ? reference : undefined;
  const own = Object.fromEntries(
    Object.entries(name === undefined ? value : others).map(([key, member]) => [
      key,
      inlineSchemas(member, schemas, location.at(key), around ?? (key === "schema" ? [] : undefined)),
    ]),
  );
  if (name === undefined) return own;
  if (around?.includes(name)) {
    location.at(REFERENCE).report(`the schema "${name}" is inside of itself`);
    return own;
  }
  const found = resolveReference(location.at(REFERENCE), "schema", name, schemas);
  const shared = inlineSchemas(found, schemas, location, [...(around ?? []), name]);
  return isObject(shared) ? { ...shared, ...own } : own;
}

/** Returns the headers that may contain the client's token, in lower case. */
const tokenHeadersOf = (credentials: CredentialsPlaces | undefined): readonly string[] =>
  credentialHeaders(credentials).map((name) => name.toLowerCase());

/** Returns a file whose schemas contain no references, and whose expressions can call the functions of the pack. */
export const withShared = <T>(
  { definition, location }: LocatedFile<T>,
  { schemas, functions, client }: Pick<DialectDefinition, "schemas" | "functions" | "client">,
): LocatedFile<T> => {
  const at = location.with({
    functions: new Map(Object.entries(functions)),
    hiddenHeaders: tokenHeadersOf(client.credentials),
  });
  return { definition: inlineSchemas(definition, new Map(Object.entries(schemas)), at) as T, location: at };
};
