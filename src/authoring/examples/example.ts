import { readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import {
  about,
  type Diagnostic,
  isObject,
  readYamlFolder,
  validateFile,
  type YamlPath,
  type YamlSource,
} from "../../base/index.ts";
import { headerName, status as httpStatus } from "../../pack/index.ts";

/** The catalogs of the upstream: the rows of each list, by its request. */
const catalogLists = about(
  z.record(z.string(), z.array(z.json())),
  "The rows of each upstream list that a catalog is read from, by its request without the query.",
  { "GET /regions": [{ id: "eu" }] },
);

const headers = about(z.record(headerName, z.string()).optional(), "Headers by name.", {
  "Idempotency-Key": "a1",
});
const expectedHeaders = about(
  z.record(headerName, z.union([z.string(), z.null()])).optional(),
  "The expected headers by name. `null` means no such header. Other headers are not compared.",
  { "Idempotency-Key": "a1", Cookie: null },
);
const body = about(
  z.json().optional(),
  "The JSON body, or a text if the `Content-Type` in `headers` is not JSON.",
  { label: "data" },
);
const file = about(z.string().optional(), "The media type of a file, instead of a body.", "image/png");
/** Matches a method and a path. White space in a path would end it. */
const CALL = /^\s*[A-Za-z]+\s+\S+\s*$/;
const call = z.string().regex(CALL, "is not a method and a path; white space in a query is written as %20");
const status = about(httpStatus.default(200), "The status.", 201);

/**
 * A golden case of a pack: a client's request, the expected upstream requests with the responses of the upstream, and the
 * expected response to the client. {@link expandRepeats} expands long lists.
 */
const exampleDefinition = z.strictObject({
  title: about(z.string(), "The subject of the case.", "Create a volume"),
  request: about(call, "The client's request: method and path with query.", "GET /volumes?page=2"),
  headers: about(
    z.record(headerName, z.union([z.string(), z.null()])).optional(),
    "Headers. `null` means no such header.",
    {
      "Idempotency-Key": "a1",
    },
  ),
  body,
  file,
  now: about(z.iso.datetime().optional(), "The time of the request, for `$now`.", "2026-01-31T12:00:00Z"),
  catalogs: about(catalogLists.optional(), "Catalogs that differ from those of `catalogs.yaml`.", {
    "GET /regions": [{ id: "eu" }],
  }),
  upstream: about(
    z
      .array(
        z.strictObject({
          request: about(call, "The expected upstream request.", "POST /volumes"),
          headers: expectedHeaders,
          filter: about(z.json().optional(), "The expected filter in the filter header.", { label: "data" }),
          body: about(
            z.json().optional(),
            "The expected body, or its text if the `Content-Type` is not JSON.",
            { label: "data" },
          ),
          response: about(
            z.strictObject({ status, headers, body, file }).prefault({}),
            "The response of the upstream.",
            { status: 404, body: { message: "Not found" } },
          ),
        }),
      )
      .default([]),
    "The expected upstream requests. Parallel requests can be in any order.",
    [{ request: "GET /volumes/7", response: { body: { id: 7 } } }],
  ),
  response: about(
    z.strictObject({ status, headers: expectedHeaders, body, file }),
    "The expected response to the client. With `file`, the body is not compared.",
    { status: 200, body: { id: 7 } },
  ),
  losses: about(
    z.array(z.string()).optional(),
    "The expected losses of the record, in any order. Default: not compared.",
    ["price: a part of a cent"],
  ),
});

/** The JSON Schema of an example, for editors and hints. */
export const exampleSchema = () => z.toJSONSchema(exampleDefinition, { io: "input" });

/** The JSON Schema of `examples/catalogs.yaml`. */
export const catalogsSchema = () => z.toJSONSchema(catalogLists);

export type ExampleDefinition = z.infer<typeof exampleDefinition>;

/** Returns the headers of the request in a golden case. */
export const sentHeaders = ({ headers = {} }: Pick<ExampleDefinition, "headers">): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
  );

export interface Example {
  readonly definition: ExampleDefinition;
  readonly source: YamlSource;
}

/** A request in a pack or on the command line. */
export interface WrittenCall {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
}

/** Whether a text is a method and a path. */
export const isCall = (text: string): boolean => CALL.test(text);

/** Parses `GET /path?query`, and adds the prefix if the path does not contain it. */
export function splitCall(text: string, prefix: string): WrittenCall {
  const [method = "", path = ""] = text.trim().split(/\s+/, 2);
  return { method: method.toUpperCase(), path: path.startsWith(`${prefix}/`) ? path : prefix + path };
}

/** Removes the prefix of all paths of an API. */
export const withoutPrefix = (path: string, prefix: string): string =>
  prefix !== "" && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;

/** Matches `{n}`, or `{5200+n}`. */
const NUMBER = /\{(?:(\d+)\+)?n\}/g;
const ONLY_NUMBER = /^\{(?:(\d+)\+)?n\}$/;

const addBase = (base: string | undefined, n: number): number => Number(base ?? 0) + n;

function numberItem(value: unknown, n: number): unknown {
  if (typeof value === "string") {
    const only = ONLY_NUMBER.exec(value);
    return only
      ? addBase(only[1], n)
      : value.replace(NUMBER, (_all, base?: string) => String(addBase(base, n)));
  }
  if (Array.isArray(value)) return value.map((item) => numberItem(item, n));
  if (!isObject(value)) return value;
  const { cycle, ...others } = value;
  if (Array.isArray(cycle) && Object.keys(others).length === 0)
    return numberItem(cycle[(n - 1) % cycle.length], n);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, numberItem(item, n)]));
}

/** Parses a list item that represents several items. */
function readRepeat(item: unknown): { readonly repeat: number; readonly of: unknown } | undefined {
  const { repeat, of, ...others } = isObject(item) ? item : {};
  const isRepeat = typeof repeat === "number" && of !== undefined && Object.keys(others).length === 0;
  return isRepeat ? { repeat, of } : undefined;
}

/** Maximum total number of values in the repeated items of a file, including nested ones. */
const MAX_REPEATED_VALUES = 100_000;

const countValues = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((count, item) => count + countValues(item), 1)
    : 1;

/** Returns the path of the repeated item that exceeds {@link MAX_REPEATED_VALUES}; undefined if not found. */
function findExcessiveRepeat(data: unknown): YamlPath | undefined {
  let left = MAX_REPEATED_VALUES;
  function find(value: unknown, path: YamlPath): YamlPath | undefined {
    const repeated = Array.isArray(value) ? value.map(readRepeat) : [];
    if (typeof value !== "object" || value === null) return undefined;
    for (const [key, item] of Object.entries(value)) {
      const here = [...path, Array.isArray(value) ? Number(key) : key];
      const { repeat = 0, of } = repeated[Number(key)] ?? {};
      if (repeat > 0) left -= repeat * countValues(of);
      const found = left < 0 ? here : find(item, here);
      if (found) return found;
    }
    return undefined;
  }
  return find(data, []);
}

/**
 * Expands the long lists of an example. A list item `{ repeat: 25, of: … }` represents 25 items, numbered from 1. In
 * them, `{n}` is the number and `{5200+n}` a number above 5200: a number if it is the whole text, otherwise a part of
 * the text. `{ cycle: [a, b] }` represents a, b, a, b and so on.
 */
export function expandRepeats(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const repeated = readRepeat(item);
      if (!repeated) return [expandRepeats(item)];
      return Array.from({ length: repeated.repeat }, (_, index) => numberItem(repeated.of, index + 1));
    });
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, expandRepeats(item)]));
}

/** The name of the folder with golden cases in the folder of a pack. */
export const EXAMPLES_FOLDER = "examples";
const CATALOGS_FILE = "catalogs.yaml";

function listFolders(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    return [];
  }
}

/** The examples of a pack, and the catalogs that they share. */
export interface Examples {
  readonly examples: readonly Example[];
  readonly catalogs: z.infer<typeof catalogLists>;
  /** The file `catalogs.yaml`; undefined if the pack has none, or if it is invalid. */
  readonly catalogsFile: YamlSource | undefined;
}

/**
 * Reads the examples of a pack, `examples/<resource>/<case>.yaml`.
 *
 * @param diagnostics receives the problems of files that do not match the schema
 */
export function readExamples(packDirectory: string, diagnostics: Diagnostic[]): Examples {
  const top = join(packDirectory, EXAMPLES_FOLDER);
  const examples: Example[] = [];
  let catalogs: z.infer<typeof catalogLists> = {};
  let catalogsFile: YamlSource | undefined;
  const sources = [top, ...listFolders(top)].flatMap((folder) =>
    listFolders(packDirectory).includes(folder) ? readYamlFolder(folder) : [],
  );
  for (const source of sources) {
    const isCatalogs = source.file.endsWith(join(EXAMPLES_FOLDER, CATALOGS_FILE));
    const found: Diagnostic[] = [];
    const excess = findExcessiveRepeat(source.data);
    if (excess) {
      const message = `the repeated items of a file have at most ${MAX_REPEATED_VALUES} values`;
      diagnostics.push(source.diagnosticAt(excess, { message, hint: 'lower "repeat"' }));
      continue;
    }
    const expanded = { ...source, data: expandRepeats(source.data) };
    const definition = isCatalogs
      ? validateFile(expanded, catalogLists, () => ({}), found)
      : validateFile(expanded, exampleDefinition, exampleSchema, found);
    diagnostics.push(...found);
    if (found.length > 0 || definition === undefined) continue;
    if (isCatalogs) [catalogs, catalogsFile] = [definition as typeof catalogs, source];
    else examples.push({ source, definition: definition as ExampleDefinition });
  }
  return { examples, catalogs, catalogsFile };
}
