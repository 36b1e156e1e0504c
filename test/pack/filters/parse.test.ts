import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { maxDepth, maxLength, maxNodes, parseFilter } from "../../../src/pack/filters/parse-filter.ts";
import { translateFilter } from "../../../src/pack/filters/translate.ts";
import type { FilterField, FilterFields } from "../../../src/pack/filters/translate.ts";
import { HttpError } from "../../../src/pack/errors/http-error.ts";
import { grammar } from "./alpha-grammar.ts";
import { reasonOf } from "./refused.ts";

const parse = (text: string) => parseFilter(text, grammar);

describe("A-020 the header holds one JSON object", () => {
  test("{} selects everything", () => expect(parse("{}")).toEqual({ conditions: [] }));

  test.each([
    ["nothing", "", "X-Filter"],
    ["no JSON", "label=x", "X-Filter"],
    ["cut JSON", '{"label":', "X-Filter"],
    ["two filters joined", '{"label":"x"}, {"label":"y"}', "X-Filter"],
    ["an array", '[{"label":"x"}]', "one JSON object"],
    ["a string", '"label"', "one JSON object"],
    ["null", "null", "one JSON object"],
    ["a number beyond doubles", "123456789012345678901234567890", "one JSON object"],
    ["an array as a value", '{"label":["x"]}', "label"],
    ["an empty object as a value", '{"label":{}}', "label"],
    ["operators mixed with plain keys", '{"label":{"+contains":"x","id":"y"}}', "label"],
    ["an id that would change its digits", '{"id":9007199254740993}', "id"],
  ])("%s is rejected", (_name, text, reason) => {
    expect(reasonOf(() => parse(text))).toContain(reason);
  });

  test("an error contains nothing of an invalid text", () => {
    expect(reasonOf(() => parse('{"token": secret'))).not.toContain("secret");
  });
});

describe("A-022 to A-025 operators accept only their type of value", () => {
  test.each([
    ['{"+and":{"label":"x"}}', "+and"],
    ['{"+or":"x"}', "+or"],
    ['{"+or":[{"label":"x"},"y"]}', "+or"],
    ['{"+or":[[{"label":"x"}]]}', "+or"],
    ['{"+and":[null]}', "+and"],
    ['{"size":{"+gt":true}}', "size"],
    ['{"size":{"+gte":null}}', "size"],
    ['{"size":{"+lt":[1]}}', "size"],
    ['{"size":{"+lte":{"id":1}}}', "size"],
    ['{"size":{"+lt":1e999}}', "size"],
    ['{"label":{"+contains":5}}', "+contains"],
    ['{"label":{"+contains":["x"]}}', "+contains"],
    ['{"label":{"+neq":{"id":"x"}}}', "label"],
    ['{"label":{"+ne":["x"]}}', "label"],
    ['{"+contains":"x"}', "+contains"],
    ['{"label":{"+or":[{"label":"x"}]}}', "+or"],
  ])("%s is rejected", (text, reason) => {
    expect(reasonOf(() => parse(text))).toContain(reason);
  });
});

describe("A-026 to A-028 ordering", () => {
  test.each(["+order-by", "+order_by"])("%s orders by the field", (key) => {
    expect(parse(JSON.stringify({ [key]: "label" }))).toEqual({
      conditions: [],
      order: [{ field: "label" }],
    });
  });

  test.each([
    ["asc", false],
    ["desc", true],
  ])("%s is a direction", (order, descending) => {
    expect(parse(JSON.stringify({ "+order": order, "+order-by": "label" }))).toMatchObject({
      order: [{ descending }],
    });
  });

  test.each([
    ["both spellings", '{"+order-by":"label","+order_by":"label"}', "+order-by"],
    ["a field that is not a name", '{"+order-by":["label"]}', "+order-by"],
    ["a direction alone", '{"+order":"asc"}', "+order"],
    ["another direction", '{"+order-by":"label","+order":"DESC"}', "+order"],
    ["a direction that is null", '{"+order-by":"label","+order":null}', "+order"],
    ["order below the top level", '{"+and":[{"+order-by":"label"}]}', "+order-by"],
    ["a direction below the top level", '{"+order-by":"id","+or":[{"+order":"asc"}]}', "+order"],
    ["order inside a field", '{"label":{"+order_by":"label"}}', "+order_by"],
  ])("%s is rejected", (_name, text, reason) => {
    expect(reasonOf(() => parse(text))).toContain(reason);
  });
});

describe("A-029 operators that alpha does not have", () => {
  test.each(["+limit", "+page", "+", "+OR", "+order by", "+__proto__"])("%s is rejected", (key) => {
    expect(reasonOf(() => parse(JSON.stringify({ label: "x", [key]: 1 })))).toContain(key);
    expect(reasonOf(() => parse(JSON.stringify({ label: { [key]: 1 } })))).toContain(key);
    expect(reasonOf(() => parse(JSON.stringify({ "+or": [{ [key]: 1 }] })))).toContain(key);
  });
});

describe("filter limits", () => {
  const nested = (depth: number) => '{"+and":['.repeat(depth) + '{"a":1}' + "]}".repeat(depth);
  const members = (count: number, member: string) => `{"+or":[${Array(count).fill(member).join(",")}]}`;
  const wide = (tests: number) => members(tests, '{"a":1}');
  const empty = (count: number) => members(count, "{}");
  const long = (length: number) => JSON.stringify({ a: "x".repeat(length - '{"a":""}'.length) });

  test.each([
    ["length", long(maxLength), long(maxLength + 1)],
    ["depth", nested(maxDepth), nested(maxDepth + 1)],
    ["conditions", wide(maxNodes - 1), wide(maxNodes)],
    ["empty members", empty(maxNodes - 1), empty(maxNodes)],
    [
      "tests of one field",
      '{"a":{"+gt":1},'.concat(wide(maxNodes - 2).slice(1)),
      '{"a":{"+gt":1,"+lt":3},'.concat(wide(maxNodes - 2).slice(1)),
    ],
  ])("%s is rejected above its limit", (_name, largest, tooLarge) => {
    expect(() => parse(largest)).not.toThrow();
    expect(reasonOf(() => parse(tooLarge))).toContain("X-Filter");
  });

  test("the depth is checked before anything is parsed", () => {
    expect(reasonOf(() => parse("[".repeat(maxLength)))).toContain("deeper");
  });

  test("an error does not repeat a long name", () => {
    expect(reasonOf(() => parse(JSON.stringify({ ["+x".repeat(2000)]: 1 }))).length).toBeLessThan(120);
  });
});

describe("arbitrary input", () => {
  const fields: FilterFields = new Map<string, FilterField>([
    ["id", { v4: "id" }],
    ["created", { v4: "created", dateTime: true }],
    ["datacenter", { v4: "region", reference: true, idName: "id", translate: (id) => [id, id] }],
  ]);

  /** "refused" by a rejection; any other error passes and fails the test. */
  function outcome(text: string): "taken" | "refused" {
    try {
      translateFilter(parse(text), fields, grammar);
      return "taken";
    } catch (error) {
      if (error instanceof HttpError) return "refused";
      throw error;
    }
  }
  const outcomes = /^(taken|refused)$/;

  test("any text gives a filter or an error", () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(text, (text) => {
        expect(outcome(text)).toMatch(outcomes);
      }),
    );
  });

  test("any JSON gives a filter or an error", () => {
    const names = [...grammar.operators.keys(), ...fields.keys(), "__proto__", "constructor"];
    const key = fc.oneof(fc.constantFrom(...names), fc.string());
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
        fc.array(tie("tree"), { maxLength: 4 }),
      ),
    }));
    const json = fc.dictionary(key, tree).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(json, (text) => {
        expect(outcome(text)).toMatch(outcomes);
      }),
    );
  });

  test("__proto__ is an ordinary field", () => {
    expect(parse('{"__proto__":"x"}').conditions).toEqual([
      { kind: "field", field: "__proto__", tests: [{ operator: "eq", value: "x" }] },
    ]);
  });
});
