/** Values of fields, generated from the pack, so that a new field is covered without code. */

import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { WrittenDialect } from "../../../src/pack/schema/pack-definition.ts";
import type { FieldRule } from "../../../src/pack/fields/field-definition.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import type { FieldType } from "../../../src/pack/routes/surface-definition.ts";

export type Json = Record<string, unknown>;

const { values: kinds } = parse(readFileSync("mappings/pack.yaml", "utf8")) as WrittenDialect;

/** A value kind's table from v4 to alpha; undefined where an expression makes the values. */
export function tableOf(rule: FieldRule): ReadonlyMap<string, unknown> | undefined {
  const kind = kinds[rule.values ?? ""];
  if (kind === undefined || typeof kind.read === "string") return undefined;
  const { same = [], read = {} } = kind;
  const pairs = [...same.map((word) => [word, word] as const), ...Object.entries(read)];
  return pairs.length > 0 ? new Map(pairs) : undefined;
}

/** The v4 ids of a catalog that alpha can see, each as alpha's. */
export function idsOf(pack: Pack, name: string, v4Ids: readonly string[]): ReadonlyMap<string, string> {
  const catalog = pack.resources.get(name)?.catalog;
  const visible = v4Ids.filter((id) => catalog && !catalog.isHidden(id));
  return new Map(visible.map((id) => [id, catalog?.alphaId(id) ?? id]));
}

/** Few and near, so that conditions often hold. */
export const words = fc.constantFrom("a", "b", "ab", "ba", "é", "it's", "a b");

const dateTimes = fc
  .date({ min: new Date("2010-01-01"), max: new Date("2030-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 19));

/** Values of a plain type of the surface; undefined for objects. */
export function ofType({ name, lists, nullable }: FieldType): fc.Arbitrary<unknown> | undefined {
  const plain: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    string: words,
    integer: fc.integer({ min: 0, max: 6 }),
    number: fc.integer({ min: 0, max: 6 }),
    boolean: fc.boolean(),
    "date-time": dateTimes,
  };
  const one = plain[name];
  if (!one || lists > 1) return undefined;
  const some = lists === 1 ? fc.uniqueArray(one, { maxLength: 3 }) : one;
  return nullable ? fc.option(some) : some;
}

/** Values that v4 may have in a field; undefined if the pack does not define them. */
export function v4Values(
  pack: Pack,
  [object, field]: readonly [string, string],
  rule: FieldRule,
  v4Ids: (catalog: string) => readonly string[],
): fc.Arbitrary<unknown> | undefined {
  const table = tableOf(rule);
  if (table) return fc.constantFrom(...table.keys());
  if (rule.catalog !== undefined)
    return fc.constantFrom(...idsOf(pack, rule.catalog, v4Ids(rule.catalog)).keys());
  const type = pack.surface?.objects.get(object)?.get(field);
  return type && ofType(type);
}

/** A pattern with a look-ahead is more than a generator can follow: its words are sought among such letters. */
const letters = fc.string({
  unit: fc.constantFrom("a", "b", "X", "Y", "0", "9", "_", "-"),
  minLength: 1,
  maxLength: 8,
});

function strings({ pattern, format, minLength = 0, maxLength = 24 }: Json): fc.Arbitrary<string> {
  if (format === "ip") return fc.oneof(fc.ipV4(), fc.ipV6());
  const [least, most] = [Number(minLength), Math.min(Number(maxLength), 24)];
  const fits = (text: string) => text.length >= least && text.length <= Number(maxLength);
  if (typeof pattern !== "string") return fc.string({ minLength: least, maxLength: most });
  const expression = new RegExp(pattern, "u");
  if (/\(\?[!=<]/.test(pattern)) return letters.filter((text) => fits(text) && expression.test(text));
  return fc.stringMatching(expression).filter(fits);
}

function objects({ properties, required }: Json): fc.Arbitrary<unknown> | undefined {
  const members = Object.entries((properties ?? {}) as Json).map(([name, each]) => [
    name,
    ofSchema(each as Json),
  ]);
  if (members.length === 0 || members.some(([, values]) => values === undefined)) return undefined;
  const model = Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>;
  return fc.record(model, { requiredKeys: (required ?? []) as string[] });
}

/** Values that a schema of the pack accepts; undefined if they cannot be derived. */
export function ofSchema(schema: Json): fc.Arbitrary<unknown> | undefined {
  const { type, minimum, maximum, items } = schema;
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  if (Array.isArray(type)) {
    const each = type.map((one) => ofSchema({ ...schema, type: one as unknown }));
    return each.includes(undefined) ? undefined : fc.oneof(...(each as fc.Arbitrary<unknown>[]));
  }
  if (type === "string") return strings(schema);
  if (type === "boolean") return fc.boolean();
  if (type === "object") return objects(schema);
  if (type === "null") return fc.constant(null);
  const range = { min: Number(minimum ?? 0), max: Math.min(Number(maximum ?? 100_000), 2 ** 31 - 1) };
  if (type === "integer") return fc.integer(range);
  if (type === "number") return fc.double({ ...range, noNaN: true }).map((number) => number + 0);
  const one = type === "array" && items !== undefined ? ofSchema(items as Json) : undefined;
  return one && fc.array(one, { maxLength: 4 });
}
