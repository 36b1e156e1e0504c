/**
 * The tables of docs/reference/pack-format.md, from the schemas of the keys. `npm run docs` writes them, and the schemas of
 * editors; a test compares.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { parse, stringify } from "yaml";
import { exampleSchema } from "../../src/authoring/examples/example.ts";
import { isObject } from "../../src/base/json/parse.ts";
import { type FileKind, fileSchema } from "../../src/pack/schema/file-schema.ts";

export const PAGE = "docs/reference/pack-format.md";

type Json = Readonly<Record<string, unknown>>;

/** A place in a kind of file. `*` is any member of a map, `[]` any item of a list. */
interface Place {
  readonly kind: string;
  readonly path: readonly string[];
}

const schemaOfKind = (kind: string): Json =>
  kind === "example" ? exampleSchema() : fileSchema(kind as FileKind);

/** A schema and its alternatives. */
const alternatives = (schema: Json): Json[] => [
  schema,
  ...[schema["anyOf"], schema["oneOf"]].flatMap((each) =>
    Array.isArray(each) ? each.filter(isObject).flatMap(alternatives) : [],
  ),
];

/** The schemas below another one, each with the step that leads to it. */
const below = (schema: Json): (readonly [step: string, schema: Json])[] =>
  alternatives(schema).flatMap(({ properties, additionalProperties, items }) => [
    ...Object.entries(isObject(properties) ? properties : {}).filter((member): member is [string, Json] =>
      isObject(member[1]),
    ),
    ...(isObject(additionalProperties) ? [["*", additionalProperties] as const] : []),
    ...(isObject(items) ? [["[]", items] as const] : []),
  ]);

const schemasAt = ({ kind, path }: Place): Json[] =>
  path.reduce<Json[]>(
    (schemas, key) =>
      schemas.flatMap((each) => below(each).flatMap(([step, inner]) => (step === key ? [inner] : []))),
    [schemaOfKind(kind)],
  );

const printPlace = ({ kind, path }: Place): string => [kind, ...path].join(".");

const parsePlace = (text: string): Place => {
  const [kind = "", ...path] = text.split(".");
  return { kind, path };
};

/** One key in a table. */
interface Row {
  readonly key: string;
  readonly place: Place;
  readonly schema: Json;
  readonly isRequired: boolean;
  /** Whether the keys below it have rows of their own. */
  readonly hasRows: boolean;
}

/** The keys at a place, and those below them that no other table has. */
function rowsAt(place: Place, tables: ReadonlySet<string>, prefix = ""): Row[] {
  const objects = schemasAt(place).flatMap(alternatives);
  return objects.flatMap((schema) => {
    const { properties, required } = schema;
    return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, member]): Row[] => {
      if (!isObject(member)) return [];
      const own: Place = { ...place, path: [...place.path, name] };
      const inner = [own, ...["*", "[]"].map((step) => ({ ...own, path: [...own.path, step] }))];
      const rows = inner.flatMap((each) =>
        tables.has(printPlace(each)) ? [] : rowsAt(each, tables, `${prefix}${name}.`),
      );
      const isRequired = Array.isArray(required) && required.includes(name);
      return [
        { key: prefix + name, place: own, schema: member, isRequired, hasRows: rows.length > 0 },
        ...rows,
      ];
    });
  });
}

/** A YAML file of a pack that has routes, and its golden cases. */
interface PackFolder {
  readonly folder: string;
  readonly files: readonly { readonly kind: string; readonly content: unknown }[];
  readonly cases: readonly { readonly file: string; readonly request: string }[];
}

function readPack(folder: string): PackFolder {
  const files = globSync(`${folder}/*.yaml`)
    .sort()
    .map((file) => ({
      kind: basename(file) === "pack.yaml" ? "pack" : basename(file, ".yaml"),
      content: parse(readFileSync(file, "utf8"), { merge: true }) as unknown,
    }));
  const cases = globSync(`${folder}/examples/**/*.yaml`)
    .sort()
    .flatMap((file) => {
      const content = parse(readFileSync(file, "utf8")) as unknown;
      return isObject(content) && typeof content["request"] === "string"
        ? [{ file, request: content["request"] }]
        : [];
    });
  return { folder, files, cases };
}

const readPacks = (): PackFolder[] =>
  ["examples/*/pack", "mappings"]
    .flatMap((pattern) => globSync(pattern).sort())
    .filter((folder) => existsSync(join(folder, "pack.yaml")))
    .map(readPack);

/** The paths in a file that a place leads to. */
function find(value: unknown, [step, ...rest]: readonly string[], at: readonly string[] = []): string[][] {
  if (step === undefined) return value === undefined ? [] : [[...at]];
  if (typeof value !== "object" || value === null) return [];
  const isAny = step === "*" || step === "[]";
  return Object.entries(value)
    .filter(([key]) => isAny || key === step)
    .flatMap(([key, inner]) => find(inner, rest, [...at, key]));
}

/** Whether a request is one of a route, `GET /books/:id`. */
const isOf = (client: string, request: string): boolean => {
  const [method = "", path = ""] = client.split(" ");
  const pattern = path
    .split(/:\w+|\{\w+\}/)
    .map((part) => RegExp.escape(part))
    .join("[^?]+");
  return new RegExp(`^${method} \\S*?${pattern}(?:\\?.*)?$`).test(request);
};

/** A golden case of a route with the key, of a resource with it, or of a pack with it. */
function findCase({ kind, path }: Place, packs: readonly PackFolder[]): string | undefined {
  for (const { files, cases } of packs)
    for (const file of files) {
      if (kind !== (file.kind === "pack" || file.kind === "surface" ? file.kind : "resource")) continue;
      const [found] = find(file.content, path);
      if (!found) continue;
      const all =
        isObject(file.content) && Array.isArray(file.content["routes"]) ? file.content["routes"] : [];
      const [part, name = ""] = found;
      const routes = part === "routes" ? [all[Number(name)]] : all;
      const clients = routes.filter(isObject).filter((route) => part !== "bodies" || route["body"] === name);
      const fits = cases.find(({ request }) =>
        clients.some((route) => isOf(String(route["client"]), request)),
      );
      if (fits) return fits.file;
      if (kind !== "resource" && cases[0]) return cases[0].file;
    }
  return undefined;
}

const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;

/** An example on one line, as YAML. */
const printExample = (value: unknown): string =>
  stringify(value, { collectionStyle: "flow", lineWidth: 0, flowCollectionPadding: false })
    .trim()
    .replaceAll("\n", " ");

const linkTo = (file: string): string => {
  const name = file
    .replace(/^examples\//, "")
    .replace("/pack/", "/")
    .replace("/examples/", "/");
  return `[${name.replace(/\.yaml$/, "")}](${relative(dirname(PAGE), file)})`;
};

/** One line for a key, or for several of the same meaning. A key with rows below it needs no example. */
function printRow(keys: readonly string[], row: Row, side: string, found: string | undefined): string {
  const { schema, isRequired, hasRows } = row;
  const { description = "", examples } = schema;
  const [example] = Array.isArray(examples) && !hasRows ? (examples as unknown[]) : [];
  const cells = [
    `${keys.map((key) => code(key) + (isRequired ? "\\*" : "")).join(", ")}${side}`,
    String(description).replaceAll("|", "\\|"),
    example === undefined ? "" : code(printExample(example)),
    found === undefined ? "" : linkTo(found),
  ];
  return `|${cells.join("|")}|`;
}

const sideOf = ({ path }: Place): string | undefined =>
  path.find((step) => step === "client" || step === "upstream");

/** `response.headers` and `upstream.headers` with one description are one line. */
const meaningOf = ({ key, schema, isRequired }: Row): string =>
  [key.split(".").at(-1), isRequired, schema["description"]].join(" ");

/** The table of some places. A key that only one side has names the side. */
function printTable(
  places: readonly Place[],
  tables: ReadonlySet<string>,
  packs: readonly PackFolder[],
): string {
  const rows = places.flatMap((place) =>
    rowsAt(place, tables).map((row) => ({ ...row, side: sideOf(place) })),
  );
  const sides = new Set(rows.map(({ side }) => side));
  const lines = Map.groupBy(rows, meaningOf);
  const printed = [...lines.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const own = new Set(same.map(({ side }) => side));
    const side = sides.size > 1 && own.size === 1 && first.side !== undefined ? ` (${first.side})` : "";
    const found = same.flatMap(({ place }) => findCase(place, packs) ?? []);
    const keys = [...new Set(same.map(({ key }) => key))];
    return [printRow(keys, first, side, found[0])];
  });
  return ["|Key|Meaning|Example|Golden case|", "|---|---|---|---|", ...printed].join("\n");
}

const TABLE = /<!-- keys: ([^>]+) -->\n[\s\S]*?<!-- end of keys -->/g;

/** The page with its tables. */
export function withTables(page: string): string {
  const packs = readPacks();
  const placesOf = (text: string): Place[] => text.trim().split(/,\s*/).map(parsePlace);
  const tables = new Set(
    [...page.matchAll(TABLE)].flatMap(([, places = ""]) => placesOf(places).map(printPlace)),
  );
  return page.replaceAll(TABLE, (_table, places: string) =>
    [`<!-- keys: ${places} -->`, printTable(placesOf(places), tables, packs), "<!-- end of keys -->"].join(
      "\n",
    ),
  );
}
