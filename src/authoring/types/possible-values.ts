/** The values that the upstream's document allows at the places of a response. */
import { generateSync, type JsonSchema } from "json-schema-faker";
import { isObject } from "../../base/index.ts";
import type { FieldRule, Pack } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest } from "../../compare/index.ts";
import { type Operation, operationKey, type Surface } from "../../migration/index.ts";
import { findRoute, segmentsOf } from "../draft/find-route.ts";
import { splitCall, withoutPrefix } from "../examples/example.ts";
import { tableValues } from "../laws/filter-law.ts";
import { type FindMismatches, FORMATS, parentOf, type Schema, type Schemas } from "./answer-schema.ts";

/** A place of a response, with the values that are tried. Undefined: the member is missing. */
interface TriedPlace {
  /** The keys that lead to the place. Items of a list have the same place as the list. */
  readonly path: readonly string[];
  readonly values: readonly unknown[];
  /** Whether these are all possible values. */
  readonly isFinite: boolean;
}

/** An operation of the upstream's document. */
export interface UpstreamOperation {
  /** The key: `GET /books/{}`, without the prefix of all paths. */
  readonly key: string;
  readonly places: readonly TriedPlace[];
  /** Finds the values in a response that the document does not allow. */
  readonly findMismatches: FindMismatches;
}

/** Times in all usual forms: json-schema-faker only generates one of them. */
const TIMES = [
  "2026-01-02T03:04:05",
  "2026-01-02T03:04:05Z",
  "2026-01-02T03:04:05.678Z",
  "2026-01-02T03:04:05+02:00",
];
/** Values that packs often forget. Most documents do not specify that a number is not negative. */
const USUAL = [true, false, 1, 2, 1.5, 0, 2 ** 31 - 1, "text", "", "0", "true", "it's é", "x".repeat(300)];
/** A word that no document contains in an enum. */
const UNKNOWN_WORD = "a-word-that-no-document-has";
/** Maximum length of a generated text, and of a text with the length of a limit. */
const [LONG, MOST_CHARACTERS] = [300, 10_000];
/** Number of values that json-schema-faker generates for each type of a place. */
const FAKED = 5;
/** Maximum number of values of one place that only the pack contains. */
const MOST_KNOWN = 40;

/** Returns values that the pack contains for a field of the upstream: those of its tables, and ids of its catalogs. */
function knownValues({ values, catalog: name = "" }: FieldRule, pack: Pack, lists: CatalogLists): unknown[] {
  const { catalog } = pack.resources.get(name) ?? {};
  const rows = (catalog?.calls ?? []).flatMap(({ path }) => lists[catalogRequest(path)] ?? []);
  const ids = rows.flatMap((row) => (catalog && isObject(row) ? [row[catalog.idMember]] : []));
  const words = tableValues(values, pack.dialect.values).map(([word]) => word);
  return [...words, ...(catalog?.fixedIds ?? []), ...ids];
}

/** Generates texts and numbers, and returns those at the limits of a schema. */
function generate({
  type: types = [],
  enum: words,
  minLength = 0,
  maxLength = LONG,
  ...rules
}: Schema): unknown[] {
  if (words) return [...words];
  const lengths = [minLength, maxLength].map((length) =>
    Math.max(0, Math.min(Number(length), MOST_CHARACTERS)),
  );
  const [least = 0, most = LONG] = lengths.map((length) => Math.min(length, LONG));
  const limits = { minimum: 0, ...rules, minLength: least, maxLength: most };
  const faked = ["string", "number", "integer"]
    .filter((type) => types.includes(type))
    .flatMap((type) =>
      Array.from({ length: FAKED }, (_, seed) => generateSync({ ...limits, type } as JsonSchema, { seed })),
    );
  return [rules["minimum"], rules["maximum"], ...lengths.map((length) => "x".repeat(length)), ...faked];
}

/** Returns the key of an operation without the prefix of all paths of an API: `GET /books/{}`. */
export function keyWithout(prefix: string, name: string): string {
  const [method = "", path = ""] = operationKey(name).split(" ");
  return `${method} ${withoutPrefix(path.split("?", 1)[0] ?? "", prefix)}`;
}

/** Reads the upstream's document. Only the operations that the golden cases call are prepared. */
export class Upstream {
  readonly #pack: Pack;
  readonly #lists: CatalogLists;
  readonly #schemas: Schemas;
  readonly #find: (
    method: string,
    path: string,
  ) => { readonly operation: () => UpstreamOperation } | undefined;
  readonly #rulesOf: ReadonlyMap<string | undefined, readonly FieldRule[]>;
  /** Functions that find the mismatches of the value at a place, by its schema. */
  readonly #compiled = new Map<string, FindMismatches>();

  /** @param lists The objects of the upstream's catalogs */
  constructor(pack: Pack, surface: Surface, lists: CatalogLists, schemas: Schemas) {
    const prefix = pack.dialect.upstream.base_path;
    this.#pack = pack;
    this.#lists = lists;
    this.#schemas = schemas;
    const rules = [...pack.resources.values()].flatMap(({ members }) => [...members.values()]);
    this.#rulesOf = Map.groupBy(rules, ({ upstream }) => upstream);
    const operations = [...surface.values()].map((described) => {
      const key = keyWithout(prefix, described.name);
      const [method = "", path = ""] = key.split(" ");
      let prepared: UpstreamOperation | undefined;
      return {
        method,
        segments: segmentsOf(path),
        operation: () => (prepared ??= this.#prepare(key, described)),
      };
    });
    this.#find = findRoute(operations, prefix);
  }

  /** Finds the operation of a call, `GET /books/7`; undefined if the document does not describe it. */
  find(call: string): UpstreamOperation | undefined {
    const { method, path } = splitCall(call, this.#pack.dialect.upstream.base_path);
    return this.#find(method, path.split("?", 1)[0] ?? "")?.operation();
  }

  #prepare(key: string, operation: Operation): UpstreamOperation {
    const { answer } = operation;
    const objects = new Set([...answer.keys()].map(parentOf));
    // If an object requires no member, its document does not specify which it has.
    const strict = new Set([...answer].flatMap(([name, { required }]) => (required ? [parentOf(name)] : [])));
    const places = [...answer].map(([name, place]) => {
      const path = name.split(".").slice(1);
      const schema = this.#schemas.ofPlace(place);
      const isAny = place.types.size === 0;
      const values =
        isAny && objects.has(name) ? [] : this.#valuesAt(path, isAny ? { type: ["string"] } : schema);
      const isOptional = !place.required && strict.has(parentOf(name));
      const isFinite =
        schema.enum !== undefined ||
        (!isAny && [...place.types].every((type) => type === "boolean" || type === "null"));
      return { path, values: isOptional ? [undefined, ...values] : values, isFinite };
    });
    return { key, places, findMismatches: this.#schemas.compile(this.#schemas.ofAnswer(operation)) };
  }

  /** Returns the values of a place. Objects stay as they are, because their members have their own places. */
  #valuesAt(path: readonly string[], schema: Schema): unknown[] {
    const found = path.flatMap((_name, index) => this.#rulesOf.get(path.slice(index).join(".")) ?? []);
    const { type = [], items, format } = schema;
    // If a document specifies more than a text, it describes something different from the time that the pack reads.
    const isPlain = Object.keys(schema).length === 1;
    const isTime = isPlain && found.some((rule) => rule.format === "date-time");
    const usual = format === undefined || FORMATS.has(format) ? [...USUAL, ...TIMES] : [];
    const scalars = [null, ...(isTime ? TIMES : [...usual, ...generate(schema), ...generate(items ?? {})])];
    const known = found.flatMap((rule) => knownValues(rule, this.#pack, this.#lists));
    const hasWords = (schema.enum ?? items?.enum) !== undefined;
    const others = [...new Set([...known, ...(hasWords ? [UNKNOWN_WORD] : [])])].slice(0, MOST_KNOWN);
    const kinds = { type, ...(items && { items: { type: items.type ?? [] } }) };
    const withLists = (all: readonly unknown[]) =>
      items ? [...all, ...all.map((value) => [value]), []] : all;
    return [
      ...new Set([
        ...withLists(scalars).filter((value) => this.#isAllowed(value, schema)),
        ...withLists(others).filter((value) => this.#isAllowed(value, kinds)),
      ]),
    ];
  }

  #isAllowed(value: unknown, schema: Schema): boolean {
    const key = JSON.stringify(schema);
    const find = this.#compiled.get(key) ?? this.#schemas.compile(schema);
    this.#compiled.set(key, find);
    return find(value).length === 0;
  }
}
