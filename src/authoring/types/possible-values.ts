/** The operations of the upstream's document, with the values that it allows in their responses. */
import { generateSync, type JsonSchema } from "json-schema-faker";
import { isObject } from "../../base/index.ts";
import type { FieldRule, Pack } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest } from "../../compare/index.ts";
import { type Operation, operationKey, type Surface } from "../../migration/index.ts";
import { findRoute, segmentsOf } from "../draft/find-route.ts";
import { splitCall, withoutPrefix } from "../examples/example.ts";
import { tableValues } from "../laws/filter-law.ts";
import {
  answerSchema,
  findMismatches,
  FORMATS,
  parentOf,
  placeSchema,
  type Schema,
} from "./answer-schema.ts";

/** An operation of the upstream's document. */
export interface UpstreamOperation {
  /** The key: `GET /books/{}`, without the prefix of all paths. */
  readonly key: string;
  readonly described: Operation;
  /** The schema of its response. */
  readonly schema: Schema;
  /**
   * The places of the response: the keys that lead to them, the values that are tried, and whether these are all
   * possible values. Items of a list have the same place as the list. An undefined value is a missing member.
   */
  readonly places: readonly {
    readonly path: readonly string[];
    readonly values: readonly unknown[];
    readonly isFinite: boolean;
  }[];
}

/** Values that packs often forget. Most documents do not specify that a number is not negative. */
const USUAL = [true, false, 1, 2, 1.5, 0, 2 ** 31 - 1, "text", "", "0", "true", "it's é", "x".repeat(300)];
/** Times in all usual forms: json-schema-faker only generates one of them. */
const TIMES = ["", "Z", ".678Z", "+02:00"].map((end) => `2026-01-02T03:04:05${end}`);
/** A word that no document contains in an enum. */
const UNKNOWN_WORD = "a-word-that-no-document-has";
/** Maximum length of a generated text, and of a text with the length of a limit. */
const [LONG, MOST_CHARACTERS] = [300, 10_000];
/** Number of values that json-schema-faker generates for each type of a place. */
const FAKED = [0, 1, 2, 3, 4];
/** Maximum number of values of one place that only the pack contains. */
const MOST_KNOWN = 40;

/** Returns the key of an operation without the prefix of all paths of an API: `GET /books/{}`. */
export function keyWithout(prefix: string, name: string): string {
  const [method = "", path = ""] = operationKey(name).split(" ");
  return `${method} ${withoutPrefix(path.split("?", 1)[0] ?? "", prefix)}`;
}

/** Returns values that the pack contains for a field of the upstream: those of its tables, and ids of its catalogs. */
function knownValues({ values, catalog: name = "" }: FieldRule, pack: Pack, lists: CatalogLists): unknown[] {
  const { catalog } = pack.resources.get(name) ?? {};
  const rows = (catalog?.calls ?? []).flatMap(({ path }) => lists[catalogRequest(path)] ?? []);
  const ids = rows.flatMap((row) => (catalog && isObject(row) ? [row[catalog.idMember]] : []));
  const words = tableValues(values, pack.dialect.values).map(([word]) => word);
  return [...words, ...(catalog?.fixedIds ?? []), ...ids];
}

/** Returns words, or generated texts and numbers, and those at the limits of a schema. */
function generate({ type = [], enum: words, minLength = 0, maxLength = LONG, ...rules }: Schema): unknown[] {
  if (words) return [...words];
  const lengths = [minLength, maxLength].map((each) => Math.max(0, Math.min(Number(each), MOST_CHARACTERS)));
  const [least = 0, most = LONG] = lengths.map((length) => Math.min(length, LONG));
  const limits = { minimum: 0, ...rules, minLength: least, maxLength: most };
  const faked = type
    .filter((name) => name === "string" || name === "number" || name === "integer")
    .flatMap((name) => FAKED.map((seed) => generateSync({ ...limits, type: name } as JsonSchema, { seed })));
  return [rules["minimum"], rules["maximum"], ...lengths.map((length) => "x".repeat(length)), ...faked];
}

/** Returns the values of a place. Objects stay as they are, because their members have their own places. */
function valuesOf(schema: Schema, isTime: boolean, known: readonly unknown[]): unknown[] {
  const { type = [], items, format } = schema;
  const usual = typeof format === "string" && !FORMATS[format] ? [] : [...USUAL, ...TIMES];
  if (schema.type === undefined) return [];
  const scalars = [null, ...(isTime ? TIMES : [...usual, ...generate(schema), ...generate(items ?? {})])];
  const hasWords = (schema.enum ?? items?.enum) !== undefined;
  const others = [...(hasWords ? [UNKNOWN_WORD] : []), ...known];
  const types = { type, ...(items && { items: { type: items.type ?? [] } }) };
  const allowed = (values: readonly unknown[], rules: Schema): unknown[] =>
    [...values, ...values.map((value) => [value]), []].filter(
      (value) => (items !== undefined || !Array.isArray(value)) && findMismatches(value, rules).length === 0,
    );
  return [...new Set([...allowed(scalars, schema), ...allowed(others, types)])];
}

/** Reads the upstream's document. Returns a function that finds the operation of a call, `GET /books/7`. */
export function describeUpstream(pack: Pack, surface: Surface, lists: CatalogLists) {
  const prefix = pack.dialect.upstream.base_path;
  const rules = [...pack.resources.values()].flatMap(({ members }) => [...members.values()]);
  const rulesOf = Map.groupBy(rules, ({ upstream }) => upstream);
  const valuesBySchema = new Map<string, readonly unknown[]>();

  function placesOf({ answer }: Operation): UpstreamOperation["places"] {
    const objects = new Set([...answer.keys()].map(parentOf));
    // If an object requires no member, its document does not specify which it has.
    const strict = new Set([...answer].flatMap(([name, { required }]) => (required ? [parentOf(name)] : [])));
    return [...answer].map(([name, place]) => {
      const path = name.split(".").slice(1);
      const types = place.types.size === 0 && !objects.has(name) ? new Set(["string"]) : place.types;
      const schema = placeSchema({ ...place, types });
      const found = path.flatMap((_name, index) => rulesOf.get(path.slice(index).join(".")) ?? []);
      const known = found.flatMap((rule) => knownValues(rule, pack, lists)).slice(0, MOST_KNOWN);
      // If a document specifies more than a text, it describes something different from the time that the pack reads.
      const isTime = Object.keys(schema).length === 1 && found.some((rule) => rule.format === "date-time");
      // Many places have the same schema.
      const text = JSON.stringify([schema, isTime, known]);
      const values = valuesBySchema.get(text) ?? valuesOf(schema, isTime, known);
      valuesBySchema.set(text, values);
      const isOptional = !place.required && strict.has(parentOf(name));
      const isFinite =
        schema.enum !== undefined ||
        schema.type?.every((type) => type === "boolean" || type === "null") === true;
      return { path, values: isOptional ? [undefined, ...values] : values, isFinite };
    });
  }

  const operations = [...surface.values()].map((described) => {
    const key = keyWithout(prefix, described.name);
    const [method = "", path = ""] = key.split(" ");
    let operation: UpstreamOperation | undefined;
    const prepare = () => ({ key, described, schema: answerSchema(described), places: placesOf(described) });
    return { method, segments: segmentsOf(path), get: () => (operation ??= prepare()) };
  });
  const find = findRoute(operations, prefix);
  return (call: string): UpstreamOperation | undefined => {
    const { method, path } = splitCall(call, prefix);
    return find(method, path.split("?", 1)[0] ?? "")?.get();
  };
}
