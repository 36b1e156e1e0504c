/** Writes the files of a small pack for a new pair of APIs: one list and one object. */
import { stringify } from "yaml";

/** The subject of the pack. */
export interface NewPackOptions {
  /** Name of one object: `book`. */
  readonly object: string;
  /** Path of the list in the old API: `/v1/books`. */
  readonly clientPath: string;
  /** Path of the list in the new API: `/api/items`. */
  readonly upstreamPath: string;
  /** Scheme of the `Authorization` header on both sides. `none` for APIs without tokens. */
  readonly scheme: string;
  /** Fields of the object: old name → new name. */
  readonly fields: ReadonlyMap<string, string>;
}

/** A file and its text, by its path in the folder of the pack. */
export type NewFile = readonly [path: string, text: string];

/** Splits `/api/v2/items` into the prefix of all paths and the path of the list. */
function splitListPath(path: string): { readonly base: string; readonly list: string } {
  const at = path.lastIndexOf("/");
  return { base: path.slice(0, at), list: path.slice(at) };
}

/** Splits `/boats.json` into the path of the list and the suffix that paths of the API have. */
function splitSuffix(path: string): { readonly stem: string; readonly suffix: string } {
  const suffix = /(?<=[^/])\.[A-Za-z][A-Za-z0-9]*$/.exec(path)?.[0] ?? "";
  return { stem: path.slice(0, path.length - suffix.length), suffix };
}

/** The path of one object: the suffix of the list's path comes after the id. */
function objectPath(list: string, id: string): string {
  const { stem, suffix } = splitSuffix(list);
  return `${stem}/${id}${suffix}`;
}

/** Writes a text in YAML. Without quotation marks, `null`, `true` and `7` would not be texts. */
const scalar = (text: string): string => stringify(text, { lineWidth: 0 }).trimEnd();

const side = (key: string, name: string, base: string, scheme: string): string =>
  [
    `${key}:`,
    `  name: ${name}`,
    ...(base === "" ? [] : [`  base_path: ${scalar(base)}`]),
    ...(scheme === "none" ? [] : [`  credentials: { scheme: ${scalar(scheme)} }`]),
  ].join("\n");

/** Writes a value as YAML on one line. */
const inline = (values: Readonly<Record<string, unknown>>): string =>
  `{ ${Object.entries(values)
    .map(([name, value]) => `${scalar(name)}: ${JSON.stringify(value)}`)
    .join(", ")} }`;

function packFile({ clientPath, upstreamPath, scheme }: NewPackOptions): string {
  return `# yaml-language-server: $schema=.vscode/pack.schema.json
# What both APIs have everywhere.
format: 2

${side("client", "old", splitListPath(clientPath).base, scheme)}
  path_parameters: { id: text }

${side("upstream", "new", splitListPath(upstreamPath).base, scheme)}
`;
}

function resourceFile({ object, clientPath, upstreamPath, scheme, fields }: NewPackOptions): string {
  const [client, upstream] = [splitListPath(clientPath).list, splitListPath(upstreamPath).list];
  const access = scheme === "none" ? "public" : "token";
  const lines = [...fields].map(([name, other]) => `  ${scalar(name)}: ${scalar(other)}`);
  return `# yaml-language-server: $schema=.vscode/resource.schema.json
# The object "${object}": its fields (old name: new name) and its routes.
object: ${scalar(object)}
list: ${scalar(splitSuffix(client).stem.slice(1))}

fields:
${lines.join("\n")}

routes:
  - { client: GET ${client}, scope: ${access}, upstream: GET ${upstream}, response: list }
  - { client: "GET ${objectPath(client, ":id")}", scope: ${access}, upstream: "GET ${objectPath(upstream, "{id}")}", response: object }
`;
}

function exampleFile({ clientPath, upstreamPath, fields }: NewPackOptions): string {
  const [client, upstream] = [splitListPath(clientPath).list, splitListPath(upstreamPath).list];
  const valueOf = (name: string): unknown => (name === "id" ? 1 : `a ${name}`);
  const now = Object.fromEntries([...fields.values()].map((other) => [other, valueOf(other)]));
  const old = Object.fromEntries([...fields].map(([name, other]) => [name, valueOf(other)]));
  return `# yaml-language-server: $schema=../../.vscode/example.schema.json
title: A list with one item
request: GET ${client}
upstream:
  - request: GET ${upstream}
    response:
      body: [${inline(now)}]
response:
  body: [${inline(old)}]
`;
}

const README = ({ object, clientPath }: NewPackOptions, folder: string): string => `# A mapping pack

Translates requests to \`${clientPath}\` of the old API to the new one.

| File | Contents |
|---|---|
| \`pack.yaml\` | What both APIs have everywhere |
| \`${object}.yaml\` | The fields and routes of one object |
| \`examples/\` | Golden cases, which \`check\` runs |

\`\`\`sh
npx alpha-gateway check --watch ${folder}
npx alpha-gateway explain --mappings-dir ${folder} 'GET ${clientPath}'
npx alpha-gateway serve --mappings-dir ${folder} --upstream-url https://api.example.com
\`\`\`
`;

const settings = (): string =>
  `${JSON.stringify(
    {
      "yaml.schemas": {
        ".vscode/pack.schema.json": "pack.yaml",
        ".vscode/surface.schema.json": "surface.yaml",
        ".vscode/accepted-differences.schema.json": "accepted-differences.yaml",
        ".vscode/example.schema.json": "examples/*/*.yaml",
      },
    },
    null,
    2,
  )}\n`;

/** Returns the settings of an editor. @param schemas JSON Schemas of the files of a pack, by kind. */
export const editorFiles = (schemas: Readonly<Record<string, unknown>>): NewFile[] => [
  [".vscode/settings.json", settings()],
  ...Object.entries(schemas).map(([kind, schema]): NewFile => [
    `.vscode/${kind}.schema.json`,
    `${JSON.stringify(schema, null, 2)}\n`,
  ]),
];

/** Returns the files of a new pack. @param folder the pack's folder, for the commands in its README */
export const newPackFiles = (options: NewPackOptions, folder: string): NewFile[] => [
  ["pack.yaml", packFile(options)],
  [`${options.object}.yaml`, resourceFile(options)],
  [`examples/${options.object}/list.yaml`, exampleFile(options)],
  ["README.md", README(options, folder)],
];
