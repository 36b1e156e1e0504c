/** Finds unused definitions of a pack, which are mistakes or leftovers. */
import { isObject, type SourceLocation } from "../../base/index.ts";
import { namesInPath } from "../paths/router.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { LocatedFile } from "./resource-files.ts";

type File = LocatedFile<ResourceDefinition>;

/** All texts in a definition, each with the key that it has. */
function* textsIn(value: unknown, key = ""): Generator<readonly [key: string, text: string]> {
  if (typeof value === "string") yield [key, value];
  else if (Array.isArray(value)) for (const each of value) yield* textsIn(each, key);
  else if (isObject(value)) for (const [name, each] of Object.entries(value)) yield* textsIn(each, name);
}

/** Reports the members of a map whose names are not used. */
function reportNames(
  kind: string,
  names: Iterable<string>,
  used: ReadonlySet<string>,
  location: SourceLocation,
): void {
  for (const name of names)
    if (!used.has(name)) location.at(name).reportKey(`nothing uses the ${kind} "${name}"`);
}

/** Keys whose text is the name of a value kind. */
const KIND_KEYS: ReadonlySet<string> = new Set(["values", "ids"]);

/** `$values("kind", …)`. The name may be computed: then every kind may be used. */
const LOOKUP = /\$values\(\s*(?:"([^"]*)"|'([^']*)'|.)/g;

/** The value kinds that definitions name; undefined if that is not known. */
function usedKinds(definitions: readonly unknown[]): ReadonlySet<string> | undefined {
  const used = new Set<string>();
  for (const [key, text] of textsIn(definitions)) {
    if (KIND_KEYS.has(key)) used.add(text);
    for (const [, name, quoted = name] of text.matchAll(LOOKUP)) {
      if (quoted === undefined) return undefined;
      used.add(quoted);
    }
  }
  return used;
}

const routesOf = ({ definition }: File) => definition.routes ?? [];

/** The objects that an object names. */
function objectsOf({ definition }: File): string[] {
  const { fields, inputs = {}, routes = [], extends: base } = definition;
  return [
    ...[...Object.values(fields), ...Object.values(inputs)].flatMap(({ object, catalog }) => [
      object,
      catalog,
    ]),
    ...routes.flatMap((route) => [
      route.without_scopes,
      route.object,
      ...(route.one_of ?? []).map(({ object }) => object),
    ]),
    base,
  ].filter((name) => name !== undefined);
}

/** Objects with routes, and the objects in them. */
function reachableObjects(files: readonly File[], named: readonly string[]): ReadonlySet<string> {
  const byName = new Map(files.map((file) => [file.definition.object, file]));
  const pending = [
    ...named,
    ...files.filter((file) => routesOf(file).length > 0).map((file) => file.definition.object),
  ];
  const reached = new Set<string>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const file = byName.get(name);
    if (!file || reached.has(name)) continue;
    reached.add(name);
    pending.push(...objectsOf(file));
  }
  return reached;
}

/** The path parameters of the routes of a file. */
const parametersOf = (file: File): Set<string> =>
  new Set(
    routesOf(file).flatMap(({ client, bulk }) => [...(bulk ? [bulk.parameter] : []), ...namesInPath(client)]),
  );

/** The schemas and functions of the pack that definitions name, including definitions of the pack itself. */
function usedShared(definitions: readonly unknown[]): Record<"schemas" | "functions", ReadonlySet<string>> {
  const texts = [...textsIn(definitions)];
  return {
    schemas: new Set(texts.flatMap(([key, text]) => (key === "$ref" ? [text] : []))),
    functions: new Set(
      texts.flatMap(([, text]) => [...text.matchAll(/\$(\w+)/g)].map(([, name = ""]) => name)),
    ),
  };
}

/** All keys in a definition, and all words in its texts. */
function* wordsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield* value.match(/[\w.]+/g) ?? [];
  else if (Array.isArray(value)) for (const each of value) yield* wordsIn(each);
  else if (isObject(value))
    for (const [key, each] of Object.entries(value)) {
      yield key;
      yield* wordsIn(each);
    }
}

/**
 * Reports inputs without a filter whose last name occurs nowhere else: in no schema of a body, and in no expression.
 */
function reportInputs(files: readonly File[], shared: unknown): void {
  const words = new Set(wordsIn(shared));
  for (const { definition } of files) {
    const inputs = Object.values(definition.inputs ?? {}).map(({ upstream: _upstream, ...rule }) => rule);
    for (const word of wordsIn({ ...definition, inputs })) words.add(word);
  }
  for (const { definition, location } of files) {
    const inputs = Object.entries(definition.inputs ?? {});
    const used = inputs.filter(
      ([name, { filter }]) => filter !== undefined || words.has(name.split(".").at(-1) ?? ""),
    );
    const names = inputs.map(([name]) => name);
    reportNames("input", names, new Set(used.map(([name]) => name)), location.at("inputs"));
  }
}

/** A file whose diagnostics say that nothing uses a definition. */
const markUnused = <T>({ definition, location }: LocatedFile<T>): LocatedFile<T> => ({
  definition,
  location: location.with({ code: "unused" }),
});

/** Reports objects, inputs, value kinds, schemas, functions, path parameters, calls, parts and messages that nothing uses. */
export function reportUnused(dialect: LocatedFile<DialectDefinition>, resourceFiles: readonly File[]): void {
  const { definition, location } = markUnused(dialect);
  const files = resourceFiles.map(markUnused);
  const { values, calls, parts, client, messages } = definition;
  const inputs = Object.values(parts).flatMap((part) => Object.values(part.inputs));
  const objects = reachableObjects(
    files,
    inputs.flatMap(({ object, catalog }) => [object, catalog]).filter((name) => name !== undefined),
  );
  for (const { definition: file, location: at } of files)
    if (!objects.has(file.object)) at.at("object").report(`no route uses the object "${file.object}"`);

  const routes = files.flatMap(routesOf);
  const kinds = usedKinds([
    { ...definition, values: undefined },
    ...Object.values(values).map(({ read, write }) => ({ read, write })),
    ...files.map((file) => file.definition),
    ...routes.map(({ where_values: choices = {} }) => ({ values: Object.values(choices) })),
  ]);
  if (kinds) reportNames("value kind", Object.keys(values), kinds, location.at("values"));

  const shared = usedShared([definition, ...files.map((file) => file.definition)]);
  reportNames("schema", Object.keys(definition.schemas), shared.schemas, location.at("schemas"));
  reportNames("function", Object.keys(definition.functions), shared.functions, location.at("functions"));

  const globalParameters = new Set<string>();
  reportInputs(files, definition.schemas);
  for (const file of files) {
    const ofFile = file.definition.path_parameters ?? {};
    const used = parametersOf(file);
    reportNames("path parameter", Object.keys(ofFile), used, file.location.at("path_parameters"));
    for (const name of used) if (!Object.hasOwn(ofFile, name)) globalParameters.add(name);
  }
  const parameters = Object.keys(client.path_parameters);
  reportNames("path parameter", parameters, globalParameters, location.at("client", "path_parameters"));

  const usedCalls = new Set(
    routes.flatMap((route) => (route.calls ?? []).filter((call) => typeof call === "string")),
  );
  reportNames("call", Object.keys(calls), usedCalls, location.at("calls"));
  const usedParts = new Set(
    files.flatMap((file) => Object.values(file.definition.bodies ?? {}).flatMap((body) => body.parts ?? [])),
  );
  reportNames("part", Object.keys(parts), usedParts, location.at("parts"));

  const usedMessages = new Set([
    // The engine uses it.
    "unknown_record",
    ...[...textsIn([client.query, routes])].flatMap(([key, text]) =>
      key === "reject" || key === "message" || key === "empty" ? [text] : [],
    ),
  ]);
  reportNames("message", Object.keys(messages), usedMessages, location.at("messages"));
}
