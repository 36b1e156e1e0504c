/** Laws that hold for every pack, checked with generated values: `alpha-gateway check --laws`. */
import { isDeepStrictEqual } from "node:util";
import { isObject, printJson } from "../dialect/json/parse.ts";
import { cursorAt } from "../dialect/json/scan.ts";
import { runInterpreted } from "../jsonata/index.ts";
import type { BodyRules } from "../mapping/compile/body.ts";
import { compileGetter, compileSetter } from "../mapping/compile/member-paths.ts";
import type { Resource } from "../mapping/compile/resource.ts";
import type { Pack } from "../mapping/pack.ts";
import type { CatalogCopy, JsonObject } from "../mapping/translation-context.ts";

/**
 * A finding. `changed`: a client reads another value than it wrote. That can be deliberate. `unstable`: what it reads
 * changes again when it is written back. `compiled`: a compiled expression has another result than JSONata.
 */
export interface LawFinding {
  readonly kind: "changed" | "unstable" | "compiled";
  /** `book.title in "create"`, or the object. */
  readonly subject: string;
  readonly value: unknown;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** How many cases a check ran, and what they found. */
export interface LawReport {
  readonly cases: number;
  /** Members that no value could be generated for. */
  readonly untested: readonly string[];
  readonly findings: readonly LawFinding[];
}

/** A generator of numbers from 0 to 1. The same seed gives the same numbers (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = ReturnType<typeof createRandom>;
type Schema = Readonly<Record<string, unknown>>;

const pick = <T>(values: readonly T[], random: Random): T | undefined =>
  values[Math.floor(random() * values.length)];

const between = (least: number, most: number, random: Random): number =>
  Math.floor(least + random() * (most - least + 1));

/** Names, quotes, letters outside of ASCII, and texts that look like other types. */
const WORDS = [
  "a",
  "Emma",
  "it's",
  "é",
  "a b",
  "0",
  "true",
  "null",
  '"',
  "\\",
  "2026-01-02T03:04:05",
  "日本",
];

/** Values of upstream fields. */
const ANY: readonly unknown[] = [
  ...WORDS,
  0,
  1,
  -1,
  2.5,
  10_000,
  true,
  false,
  null,
  [],
  [1, "a"],
  {},
  { id: 1 },
];

/** A value that a schema allows in most cases; undefined where the schema does not say enough. */
function valueOf(schema: Schema, random: Random): unknown {
  const {
    type,
    enum: values,
    items,
    properties,
    minimum = 0,
    maximum = 1000,
    minLength = 0,
    maxLength = 24,
  } = schema;
  if (Array.isArray(values)) return pick(values, random);
  const kind = Array.isArray(type) ? pick(type, random) : type;
  if (kind === "boolean") return random() < 0.5;
  if (kind === "null") return null;
  if (kind === "integer") return between(Number(minimum), Math.min(Number(maximum), 2 ** 31 - 1), random);
  if (kind === "number")
    return between(Number(minimum) * 100, Math.min(Number(maximum), 1e6) * 100, random) / 100;
  if (kind === "string")
    return (pick(WORDS, random) ?? "").padEnd(Number(minLength), "x").slice(0, Number(maxLength));
  if (kind === "array" && isObject(items))
    return Array.from({ length: between(1, 3, random) }, () => valueOf(items, random));
  if (kind === "object" && isObject(properties))
    return Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, isObject(each) ? valueOf(each, random) : null]),
    );
  return undefined;
}

const NO_CATALOGS: CatalogCopy = {
  isLoaded: () => false,
  find: () => undefined,
  cachedText: () => undefined,
  canonicalSpelling: () => undefined,
};

const READING = { catalogs: NO_CATALOGS, related: {} };

/** The client's object of an upstream object; an error as its message. */
async function read(resource: Resource, upstream: unknown): Promise<unknown> {
  try {
    return JSON.parse(await resource.read(cursorAt(printJson(upstream)), READING));
  } catch (error) {
    return `failed: ${(error as { jsonataCode?: string }).jsonataCode ?? (error as Error).message}`;
  }
}

const schemaAt = (schema: Schema, name: string): Schema =>
  name.split(".").reduce<Schema>((outer, key) => {
    const { properties } = outer;
    const member = isObject(properties) ? properties[key] : undefined;
    return isObject(member) ? member : {};
  }, schema);

interface MutableReport {
  cases: number;
  readonly untested: string[];
  readonly findings: LawFinding[];
}

/** What a client reads after it has written a value; undefined where the value is invalid or not shown. */
async function readBack(
  field: string,
  body: BodyRules,
  resource: Resource,
  value: unknown,
): Promise<unknown> {
  const sent: JsonObject = {};
  compileSetter(field)(sent, value);
  const { body: normal, faults } = body.normalise(sent);
  const isInvalid = [...faults, ...body.check(normal)].some((fault) => fault.field?.startsWith(field));
  if (isInvalid || compileGetter(field)(normal) === undefined) return undefined;
  const context = { catalogs: NO_CATALOGS, prerequisites: {}, path: {}, client: "192.0.2.1" };
  const { v4, faults: writeFaults } = await body.write(normal, context);
  if (writeFaults.some((fault) => fault.field?.startsWith(field))) return undefined;
  return compileGetter(field)(await read(resource, v4)) ?? undefined;
}

/** What a client writes is what it reads, for each member that is a field too and declares no loss. */
async function checkRoundTrips(
  [name, body]: readonly [string, BodyRules],
  resource: Resource,
  { runs, random }: { readonly runs: number; readonly random: Random },
  report: MutableReport,
): Promise<void> {
  for (const { name: field, rule } of body.members) {
    const subject = `${resource.name}.${field} in "${name}"`;
    if (resource.fields.get(field) !== rule || rule.loss !== undefined) continue;
    const schema = schemaAt(body.schema, field);
    if (rule.catalog !== undefined || valueOf(schema, random) === undefined) {
      report.untested.push(subject);
      continue;
    }
    for (let run = 0; run < runs; run += 1) {
      const value = valueOf(schema, random);
      const once = await readBack(field, body, resource, value);
      if (once === undefined) continue;
      report.cases += 1;
      const twice = await readBack(field, body, resource, once);
      const isStable = twice === undefined || isDeepStrictEqual(twice, once);
      if (isStable && isDeepStrictEqual(once, value)) continue;
      const finding = isStable
        ? ({ kind: "changed", value, expected: value, actual: once } as const)
        : ({ kind: "unstable", value: once, expected: once, actual: twice } as const);
      report.findings.push({ subject, ...finding });
      break;
    }
  }
}

/** An upstream object with values in all places that the fields of a resource read. */
function upstreamObject(resource: Resource, random: Random): JsonObject {
  const object: JsonObject = {};
  for (const { upstream } of resource.fields.values())
    if (upstream !== undefined && random() < 0.9) compileSetter(upstream)(object, pick(ANY, random));
  return object;
}

/** A compiled expression gives what JSONata gives, and fails where JSONata fails. */
async function checkExpressions(
  resource: Resource,
  interpreted: Resource | undefined,
  { runs, random }: { readonly runs: number; readonly random: Random },
  report: MutableReport,
): Promise<void> {
  if (!interpreted) return;
  for (let run = 0; run < runs; run += 1) {
    const value = upstreamObject(resource, random);
    const [actual, expected] = [await read(resource, value), await read(interpreted, value)];
    report.cases += 1;
    if (isDeepStrictEqual(actual, expected)) continue;
    report.findings.push({ kind: "compiled", subject: resource.name, value, expected, actual });
    return;
  }
}

/**
 * Checks the laws of a pack with generated values.
 *
 * @param load Loads the pack. It is called twice: for compiled and for interpreted expressions.
 * @param seed The same seed gives the same values.
 * @param runs Number of values of each member and of each object.
 */
export async function checkLaws(
  load: () => Pack,
  { seed, runs }: { readonly seed: number; readonly runs: number },
): Promise<LawReport> {
  const pack = load();
  const interpreted = runInterpreted(load);
  const report = { cases: 0, untested: [] as string[], findings: [] as LawFinding[] };
  const options = { runs, random: createRandom(seed) };
  for (const resource of pack.resources.values()) {
    for (const body of resource.bodies) await checkRoundTrips(body, resource, options, report);
    await checkExpressions(resource, interpreted.resources.get(resource.name), options, report);
  }
  return report;
}
