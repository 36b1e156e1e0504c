/** Finds unused definitions of a pack, which are mistakes or leftovers. */
import { isObject, type SourceLocation } from "../../base/index.ts";
import { namesInPath } from "../paths/router.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { LocatedFile } from "./resource-files.ts";

type File = LocatedFile<ResourceDefinition>;

/** Returns all texts in a definition, each with its key. */
function* textsIn(value: unknown, key = ""): Generator<readonly [key: string, text: string]> {
  if (typeof value === "string") yield [key, value];
  else if (Array.isArray(value)) for (const each of value) yield* textsIn(each, key);
  else if (isObject(value)) for (const [name, each] of Object.entries(value)) yield* textsIn(each, name);
}

/** Returns all keys and texts in a definition, and all words in its texts. */
const wordsIn = (value: unknown): string[] => {
  if (typeof value === "string") return value.match(/[\w.]+/g) ?? [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...wordsIn(each)]);
};

/** Reports the names of a map that are not used. */
function reportNames(
  kind: string,
  map: object | undefined,
  isUsed: (name: string) => boolean,
  location: SourceLocation,
): void {
  for (const name of Object.keys(map ?? {}))
    if (!isUsed(name)) location.at(name).reportKey(`nothing uses the ${kind} "${name}"`);
}

/** Matches `$values("kind", …)`. The name may be computed. */
const LOOKUP = /\$values\(\s*(?:"([^"]*)"|'([^']*)'|.)/g;

const routesOf = ({ definition }: File) => definition.routes ?? [];

/** Returns the objects that an object references. */
function objectsOf({ definition }: File): (string | undefined)[] {
  const { fields, inputs, extends: base } = definition;
  return [
    ...Object.values({ ...fields, ...inputs }).flatMap(({ object, catalog }) => [object, catalog]),
    ...(definition.routes ?? []).flatMap((route) => [
      route.without_scopes,
      route.object,
      ...(route.one_of ?? []).map(({ object }) => object),
    ]),
    base,
  ];
}

/** Returns the objects with routes, and the objects that they contain. @param named further objects that are used */
function reachableObjects(
  files: readonly File[],
  named: readonly (string | undefined)[],
): ReadonlySet<unknown> {
  const withRoutes = files.filter((file) => routesOf(file).length > 0);
  const reached = new Set([...named, ...withRoutes.map(({ definition }) => definition.object)]);
  // Members that are added to a set during its iteration are visited as well.
  for (const name of reached)
    for (const file of files.filter(({ definition }) => definition.object === name))
      for (const object of objectsOf(file)) reached.add(object);
  return reached;
}

/** The path parameters of the routes of a file. */
const parametersOf = (file: File): Set<string> =>
  new Set(
    routesOf(file).flatMap(({ client, bulk }) => [...(bulk ? [bulk.parameter] : []), ...namesInPath(client)]),
  );

/** Reports inputs without a filter whose last name does not occur in any schema of a body or any expression. */
function reportInputs(files: readonly File[], shared: unknown): void {
  const definitions = files.map(({ definition }) => ({
    ...definition,
    inputs: Object.values(definition.inputs ?? {}).map(({ upstream: _upstream, ...rule }) => rule),
  }));
  const words = new Set(wordsIn([shared, definitions]));
  for (const { definition, location } of files) {
    const { inputs } = definition;
    const isUsed = (name: string): boolean =>
      inputs?.[name]?.filter !== undefined || words.has(name.split(".").at(-1) ?? "");
    reportNames("input", inputs, isUsed, location.at("inputs"));
  }
}

/** Reports path parameters that no route uses. */
function reportParameters(
  files: readonly File[],
  client: DialectDefinition["client"],
  location: SourceLocation,
) {
  const ofPack = new Set<string>();
  for (const file of files) {
    const { path_parameters: ofFile = {} } = file.definition;
    const used = parametersOf(file);
    reportNames("path parameter", ofFile, (name) => used.has(name), file.location.at("path_parameters"));
    for (const name of used) if (!Object.hasOwn(ofFile, name)) ofPack.add(name);
  }
  const at = location.at("client", "path_parameters");
  reportNames("path parameter", client.path_parameters, (name) => ofPack.has(name), at);
}

/** Returns a file whose diagnostics report unused definitions. */
const markUnused = <T>({ definition, location }: LocatedFile<T>): LocatedFile<T> => ({
  definition,
  location: location.with({ code: "unused" }),
});

/** Reports objects, inputs, value kinds, schemas, functions, path parameters, calls, parts and messages that nothing uses. */
export function reportUnused(dialect: LocatedFile<DialectDefinition>, resourceFiles: readonly File[]): void {
  const { definition, location } = markUnused(dialect);
  const files = resourceFiles.map(markUnused);
  const { values: _tables, ...withoutTables } = definition;
  const texts = [...textsIn([withoutTables, ...files.map((file) => file.definition)])];
  const expressions = [
    ...texts,
    ...Object.values(definition.values).flatMap(({ read, write }) => [...textsIn({ read, write })]),
  ].map(([, text]) => text);
  const matches = (pattern: RegExp) => expressions.flatMap((text) => [...text.matchAll(pattern)]);
  /** Returns the texts of some keys. */
  const textsOf = (...keys: string[]) => texts.flatMap(([key, text]) => (keys.includes(key) ? [text] : []));

  const sharedInputs = Object.values(definition.parts).flatMap(({ inputs }) => Object.values(inputs));
  const objects = reachableObjects(
    files,
    sharedInputs.flatMap(({ object, catalog }) => [object, catalog]),
  );
  for (const { definition: file, location: at } of files)
    if (!objects.has(file.object)) at.at("object").report(`no route uses the object "${file.object}"`);

  const lookups = matches(LOOKUP).map(([, name, quoted = name]) => quoted);
  const choices = files.flatMap(routesOf).flatMap((route) => Object.values(route.where_values ?? {}));
  const used: readonly (readonly [key: keyof DialectDefinition, kind: string, names: readonly unknown[]])[] =
    [
      // If a name is computed, every kind may be used.
      ...(lookups.includes(undefined)
        ? []
        : [["values", "value kind", [...textsOf("values", "ids"), ...lookups, ...choices]] as const]),
      ["schemas", "schema", textsOf("$ref")],
      ["functions", "function", matches(/\$(\w+)/g).map(([, name]) => name)],
      ["calls", "call", textsOf("calls")],
      ["parts", "part", textsOf("parts")],
      // The engine itself uses the first message.
      ["messages", "message", ["unknown_record", ...textsOf("reject", "message", "empty")]],
    ];
  for (const [key, kind, names] of used)
    reportNames(kind, definition[key] as object, (name) => names.includes(name), location.at(key));
  reportInputs(files, definition.schemas);
  reportParameters(files, definition.client, location);
}
