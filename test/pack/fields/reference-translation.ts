import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { normalizeDateTime } from "../../../src/pack/fields/keys/date-time.ts";
import type { Scopes } from "../../../src/pack/credentials/scopes.ts";
import { isObject } from "../../../src/base/json/parse.ts";
import { compile, runInterpreted } from "../../../src/jsonata/compiler/compile.ts";
import { networkAddress } from "../../../src/pack/values/ip-address.ts";

/**
 * What a pack's files say, done field by field and value by value, every expression by the interpreter: what the
 * functions that are made of a pack are compared with.
 */

export type Json = Record<string, unknown>;

export interface Rule {
  readonly upstream?: string;
  readonly format?: string;
  readonly values?: string;
  readonly arguments?: Json;
  readonly catalog?: string;
  readonly id_only?: boolean;
  readonly object?: string;
  readonly as_array?: boolean;
  readonly read?: string;
  readonly const?: unknown;
  readonly default?: unknown;
}

interface Kind {
  readonly same?: readonly string[];
  readonly read?: string | Json;
  readonly otherwise?: unknown;
  readonly scopes?: true;
}

export interface ObjectFile {
  readonly object: string;
  readonly extends?: string;
  readonly catalog?: { readonly hidden_prefix?: string; readonly stub: string; readonly ids?: string };
  readonly fields: Readonly<Record<string, string | Rule>>;
}

export interface ReferencePack {
  readonly files: ReadonlyMap<string, ObjectFile>;
  readonly kinds: Readonly<Record<string, Kind>>;
}

export function readPack(folder: string): ReferencePack {
  const read = (name: string) => parse(readFileSync(join(folder, name), "utf8")) as Json;
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".yaml") && name !== "pack.yaml")
    .map((name) => read(name) as unknown as ObjectFile)
    .filter(({ object }) => object !== undefined);
  return {
    files: new Map(files.map((file) => [file.object, file])),
    kinds: read("pack.yaml")["values"] as Record<string, Kind>,
  };
}

export function rulesOf(pack: ReferencePack, name: string): Map<string, Rule> {
  const file = pack.files.get(name);
  const fields = { ...(file?.extends && pack.files.get(file.extends)?.fields), ...file?.fields };
  return new Map(
    Object.entries(fields).map(([field, rule]) => [
      field,
      typeof rule === "string" ? { upstream: rule } : rule,
    ]),
  );
}

/** Alpha objects of catalogs by name and v4 id. */
export type KnownCatalogs = Readonly<Record<string, Readonly<Record<string, Json>>>>;

export interface Surroundings {
  readonly pack: ReferencePack;
  readonly catalogs: KnownCatalogs;
  readonly with: Json;
  readonly scopes: Scopes;
}

const interpreted = new Map<string, ReturnType<typeof compile>>();

async function evaluate(source: string, input: unknown, bindings: Json): Promise<unknown> {
  const expression = interpreted.get(source) ?? runInterpreted(() => compile(source));
  interpreted.set(source, expression);
  return expression.evaluate(input, bindings);
}

const at = (value: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce((found, key) => (isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined), value);

function tableOf({ same = [], read }: Kind): Map<unknown, unknown> {
  const table = typeof read === "object" ? Object.entries(read) : [];
  return new Map<unknown, unknown>([...same.map((word) => [word, word] as const), ...table]);
}

const lookup = (pack: ReferencePack) => (kind: string, value: unknown) =>
  tableOf(pack.kinds[kind] ?? {}).get(value);

async function byKind(
  value: unknown,
  rule: Rule,
  { pack, scopes }: Pick<Surroundings, "pack" | "scopes">,
): Promise<unknown> {
  const kind = pack.kinds[rule.values ?? ""] ?? {};
  if (kind.scopes) return typeof value === "string" ? scopes.toAlpha(value) : value;
  if (typeof kind.read === "string") return evaluate(kind.read, value, { ...rule.arguments, value });
  if (Array.isArray(value))
    return Promise.all(value.map((item) => (item === null ? item : byKind(item, rule, { pack, scopes }))));
  const table = tableOf(kind);
  return table.has(value) ? table.get(value) : kind.otherwise === undefined ? value : kind.otherwise;
}

/** A text, and each text in a list, converted. */
function mapTexts(value: unknown, convert: (text: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, convert));
  return typeof value === "string" ? convert(value) : value;
}

async function byCatalog(value: unknown, rule: Rule, row: unknown, around: Surroundings): Promise<unknown> {
  const name = rule.catalog ?? "";
  const { hidden_prefix: hidden, stub, ids } = around.pack.files.get(name)?.catalog ?? { stub: "null" };
  const catalogObject = (id: string): Json | undefined =>
    Object.hasOwn(around.catalogs[name] ?? {}, id) ? around.catalogs[name]?.[id] : undefined;
  const isHidden = (id: string): boolean => hidden !== undefined && id.startsWith(hidden);
  const values = lookup(around.pack);
  const alphaId = (id: string) => (ids === undefined ? undefined : values(ids, id)) ?? id;
  if (rule.id_only) return mapTexts(value, alphaId);
  if (Array.isArray(value)) {
    const displayed = value.filter((id) => typeof id === "string").filter((id) => !isHidden(id));
    return displayed.map(catalogObject).filter((object) => object !== undefined);
  }
  if (typeof value !== "string" || isHidden(value)) return null;
  return catalogObject(value) ?? evaluate(stub, row, { id: value, name: alphaId(value), values });
}

async function valueOf(rule: Rule, v4: unknown, around: Surroundings): Promise<unknown> {
  let value = rule.const ?? (rule.upstream === undefined ? undefined : at(v4, rule.upstream));
  if (rule.read !== undefined) {
    const scopesOf = (given: unknown, asked: unknown) =>
      typeof given === "string"
        ? around.scopes.toAlpha(given, typeof asked === "string" ? asked : undefined)
        : undefined;
    const functions = { values: lookup(around.pack), networkOf: networkAddress, scopesOf };
    value = await evaluate(rule.read, v4, { value, related: around.with, ...functions });
  }
  if (rule.format === "date-time") value = mapTexts(value, (text) => normalizeDateTime(text) ?? text);
  if (rule.values !== undefined && value !== undefined && value !== null)
    value = await byKind(value, rule, around);
  if (rule.catalog !== undefined) value = await byCatalog(value, rule, v4, around);
  const { object } = rule;
  if (object !== undefined) {
    if (Array.isArray(value)) value = await Promise.all(value.map((item) => translate(object, item, around)));
    else value = (value ?? null) === null ? null : await translate(object, value, around);
  }
  if (rule.as_array === true) value = (value ?? null) === null ? [] : [value];
  return value ?? rule.default ?? null;
}

/** The alpha object of a v4 object. Values that are not objects have no members. */
export async function translate(name: string, v4: unknown, around: Surroundings): Promise<Json> {
  const alpha: Json = {};
  for (const [field, rule] of rulesOf(around.pack, name)) {
    const keys = field.split(".");
    const last = keys.pop() ?? field;
    let object = alpha;
    for (const key of keys) object = (object[key] ??= {}) as Json;
    object[last] = await valueOf(rule, isObject(v4) ? v4 : {}, around);
  }
  return alpha;
}
