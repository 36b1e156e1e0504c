/** One law: what the gateway selects itself is what v4 would select by the translated filter. */

import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { parseFilter } from "../../../src/pack/filters/parse-filter.ts";
import { selectRows } from "../../../src/pack/filters/select.ts";
import { translateFilter } from "../../../src/pack/filters/translate.ts";
import { grammar } from "./alpha-grammar.ts";

interface Row {
  readonly n: number;
  readonly text: string | null;
  readonly flag: boolean;
  readonly when: string;
}
type Json = Record<string, unknown>;

const names = ["n", "text", "flag", "when"] as const;
const dateTime = (name: string) => name === "when";
const selectFields = new Map(
  names.map((name) => [name, { value: (row: Row) => row[name], dateTime: dateTime(name) }] as const),
);
const filterFields = new Map(
  names.map((name) => [name, { v4: `v4_${name}`, dateTime: dateTime(name) }] as const),
);

/** V4's filters (V-014 to V-029), written a second time: it shares nothing with the code under test. */
function v4Holds(filter: Json, row: Row): boolean {
  return Object.entries(filter).every(([key, operand]) => {
    if (key === "+order_by" || key === "+order") return true;
    if (key === "+and") return (operand as Json[]).every((member) => v4Holds(member, row));
    if (key === "+or") return (operand as Json[]).some((member) => v4Holds(member, row));
    const value = row[key.replace("v4_", "") as keyof Row];
    if (typeof operand !== "object" || operand === null) return value === operand;
    const [[operator, wanted] = [], ...more] = Object.entries(operand);
    if (more.length > 0) throw new Error("v4 takes one operator in an object");
    if (operator === "+neq") return value !== wanted;
    if (operator === "+contains") return typeof value === "string" && value.includes(wanted as string);
    if (value === null || typeof value !== typeof wanted) return false;
    if (operator === "+gt") return value > (wanted as string);
    if (operator === "+gte") return value >= (wanted as string);
    if (operator === "+lt") return value < (wanted as string);
    if (operator === "+lte") return value <= (wanted as string);
    throw new Error(`v4 knows no ${operator}`);
  });
}

/** Null is before every value, the empty text among them. */
function compared(a: Row[keyof Row], b: Row[keyof Row]): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return a < b ? -1 : 1;
}

function v4List(header: string | undefined, rows: readonly Row[]): Row[] {
  if (header === undefined) return [...rows];
  const filter = JSON.parse(header) as Json;
  const selected = rows.filter((row) => v4Holds(filter, row));
  const by = filter["+order_by"];
  if (typeof by !== "string") return selected;
  const of = (row: Row) => row[by.replace("v4_", "") as keyof Row];
  const sign = filter["+order"] === "desc" ? -1 : 1;
  return selected.sort((a, b) => sign * compared(of(a), of(b)));
}

const n = fc.integer({ min: -2, max: 3 });
const text = fc.constantFrom("", "a", "b", "ab", "é", "__proto__");
const when = fc.constantFrom("2016-12-31T23:59:59", "2017-01-01T00:00:00", "2017-01-01T00:00:01");
const spelledWhen = fc
  .tuple(when, fc.constantFrom("", "Z", ".500Z", "+00:00"))
  .map((parts) => parts.join(""));
const row = fc.record({ n, text: fc.option(text), flag: fc.boolean(), when });

const comparison = fc.constantFrom("+gt", "+gte", "+lt", "+lte");
const not = fc.constantFrom("+neq", "+ne");
const tests = (operand: fc.Arbitrary<unknown>, ...operators: fc.Arbitrary<string>[]) =>
  fc.oneof(operand, fc.dictionary(fc.oneof(...operators), operand, { minKeys: 1, maxKeys: 2 }));
const fieldCondition = fc.record(
  {
    n: tests(n, comparison, not),
    text: fc.oneof(fc.constant(null), tests(text, fc.constant("+contains"), not)),
    flag: tests(fc.boolean(), not),
    when: tests(spelledWhen, comparison, not),
  },
  { requiredKeys: [] },
);
const { filterObject } = fc.letrec<{ filterObject: Json }>((tie) => ({
  filterObject: fc.oneof(
    { maxDepth: 3 },
    fieldCondition,
    fc
      .tuple(
        fieldCondition,
        fc.dictionary(fc.constantFrom("+and", "+or"), fc.array(tie("filterObject"), { maxLength: 2 })),
      )
      .map(([fields, groups]) => Object.assign({}, fields, groups)),
  ),
}));
const order = fc.oneof(
  fc.constant({}),
  fc.record({ "+order-by": fc.constantFrom(...names) }),
  fc.record({ "+order_by": fc.constantFrom(...names), "+order": fc.constantFrom("asc", "desc") }),
);

test("A-020 to A-030 a filter selects the same rows in the gateway and in v4, in the same order", () => {
  fc.assert(
    fc.property(filterObject, order, fc.array(row, { maxLength: 12 }), (conditions, order, rows) => {
      const filter = parseFilter(JSON.stringify({ ...conditions, ...order }), grammar);
      const { header } = translateFilter(filter, filterFields, grammar);
      expect(selectRows(rows, filter, selectFields)).toEqual(v4List(header, rows));
    }),
    { numRuns: 500 },
  );
});
