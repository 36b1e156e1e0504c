/** One law of every field that may be filtered by: v4 selects the rows that the translated list would give. */

import { beforeAll, describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { parseFilter } from "../../../src/pack/filters/parse-filter.ts";
import { translateFilter, type FilterFields } from "../../../src/pack/filters/translate.ts";
import { HttpError } from "../../../src/pack/errors/http-error.ts";
import { compileGetter, compileSetter } from "../../../src/pack/values/member-paths.ts";
import type { CatalogCopy } from "../../../src/pack/translation-context.ts";
import { exampleCatalogs } from "./catalogs.ts";
import { packIn } from "../../support/packs.ts";
import { readObject } from "../../support/read-object.ts";
import { v4Values, words, type Json } from "./values.ts";

const pack = packIn("mappings");
const { grammar } = pack;
let catalogs: CatalogCopy;
let v4Ids: (catalog: string) => string[];
beforeAll(async () => {
  ({ catalogs, v4Ids } = await exampleCatalogs(pack));
});

/** Every field of a list that may be filtered by. */
const filterable = [...pack.resources.values()]
  .filter(({ list }) => list !== undefined)
  .flatMap((resource) =>
    [...resource.fields]
      .filter(([, rule]) => rule.filter === true)
      .map(([field, rule]) => [`${resource.name}.${field}`, resource, field, rule] as const),
  );

type Operator = "eq" | "+neq" | "+contains" | "+gt" | "+gte" | "+lt" | "+lte";

/** Both documents' words, read again: it shares nothing with the code under test. */
function holds(value: unknown, operator: Operator, wanted: unknown): boolean {
  if (Array.isArray(value)) {
    if (operator === "+neq") return !value.includes(wanted);
    return value.some((each) => holds(each, operator, wanted));
  }
  if (operator === "eq") return value === wanted;
  if (operator === "+neq") return value !== wanted;
  if (operator === "+contains") return typeof value === "string" && value.includes(wanted as string);
  if (typeof value !== typeof wanted || value === null) return false;
  const [one, other] = [value, wanted] as [number, number];
  if (operator === "+gt") return one > other;
  if (operator === "+gte") return one >= other;
  return operator === "+lt" ? one < other : one <= other;
}

function v4Holds(filter: Json, row: Json): boolean {
  return Object.entries(filter).every(([key, operand]) => {
    if (key === "+and") return (operand as Json[]).every((member) => v4Holds(member, row));
    if (key === "+or") return (operand as Json[]).some((member) => v4Holds(member, row));
    const value = compileGetter(key)(row);
    if (typeof operand !== "object" || operand === null) return holds(value, "eq", operand);
    return Object.entries(operand).every(([operator, wanted]) => holds(value, operator as Operator, wanted));
  });
}

const plain = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Json)[pack.dialect.client.id]
    : value;

function operatorsFor(wanted: unknown): Operator[] {
  if (typeof wanted === "number") return ["eq", "+neq", "+gt", "+gte", "+lt", "+lte"];
  return typeof wanted === "string" ? ["eq", "+neq", "+contains"] : ["eq", "+neq"];
}

/** The filter in v4's words, or why it can't be said in them. */
function translated(alpha: Json, fields: FilterFields): string | HttpError {
  try {
    return translateFilter(parseFilter(JSON.stringify(alpha), grammar), fields, grammar).header ?? "{}";
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

/** A field with a mark holds for all rows up to one and for none after it: rows numbered so, and that one's number. */
function numbered(rows: readonly Json[], field: string, mark: string): number {
  const [holds, number] = [compileGetter(field), compileSetter(mark)];
  const inOrder = [
    ...rows.filter((row) => holds(row) === true),
    ...rows.filter((row) => holds(row) !== true),
  ];
  inOrder.forEach((row, at) => number(row, at + 1));
  return rows.filter((row) => holds(row) === true).length;
}

describe("filters in v4 and in the translated list select the same rows", () => {
  test.each(filterable)("A-020 %s", async (name, resource, field, rule) => {
    const type = pack.surface?.objects.get(resource.name)?.get(field);
    // A field that alpha's surface does not have may hold anything: a text is compared by most operators.
    const values = v4Values(pack, [resource.name, field], rule, v4Ids) ?? (type ? undefined : words);
    if (!values) throw new Error(`${name}: no values can be generated`);
    const put = compileSetter(rule.upstream ?? field);
    const pick = compileGetter(field);
    const usual = resource.filterFields(catalogs);
    const { boundary: mark } = rule;
    let asked = 0;
    const law = async (held: readonly unknown[], index: number, chosen: number) => {
      const rows = held.map((value) => {
        const row: Json = {};
        put(row, value);
        return row;
      });
      const marked = usual.get(field);
      const fields =
        mark === undefined || !marked
          ? usual
          : new Map([
              ...usual,
              [field, { ...marked, boundary: numbered(rows, rule.upstream ?? field, mark) }],
            ]);
      const displayed = await Promise.all(
        rows.map(async (row) => plain(pick(await readObject(resource, row, { catalogs, calls: {} })))),
      );
      const some = [displayed[index % displayed.length]].flat();
      const wanted = some.length > 0 ? some[0] : "none";
      const operators = operatorsFor(wanted);
      const operator = operators[chosen % operators.length] ?? "eq";
      const alpha = { [field]: operator === "eq" ? wanted : { [operator]: wanted } };
      const header = translated(alpha, fields);
      // A condition without an exact translation is rejected. Equality with a value from a list always has one.
      if (header instanceof HttpError && operator !== "eq") return;
      asked += 1;
      const filter = JSON.parse(String(header)) as Json;
      expect([alpha, rows.filter((row) => v4Holds(filter, row))]).toEqual([
        alpha,
        rows.filter((_row, at) => holds(displayed[at], operator, wanted)),
      ]);
    };
    const rows = fc.array(values, { minLength: 1, maxLength: 8 });
    await fc.assert(fc.asyncProperty(rows, fc.nat(7), fc.nat(5), law), { numRuns: 80 });
    expect(asked).toBeGreaterThan(10);
  });

  test("every list with filters is tested", () => expect(filterable.length).toBeGreaterThan(20));
});
