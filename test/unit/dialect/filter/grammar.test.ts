import { describe, expect, test } from "vitest";
import { createGrammar } from "../../../../src/dialect/filter/grammar.ts";
import type { FilterDefinition, OperatorDefinition } from "../../../../src/dialect/filter/grammar.ts";
import { definition, grammar } from "./alpha-grammar.ts";

function changed(operators: Record<string, OperatorDefinition | undefined>): FilterDefinition {
  const entries = Object.entries({ ...definition.operators, ...operators }).filter(([, value]) => value);
  return { ...definition, operators: Object.fromEntries(entries) as FilterDefinition["operators"] };
}

describe("the filter grammar of a pack", () => {
  test("maps each alpha spelling to its operator", () => {
    expect(grammar.operators.get("+ne")).toBe("neq");
    expect(grammar.operators.get("+order-by")).toBe("order_by");
    expect(grammar.operators.get("+order_by")).toBe("order_by");
  });

  test("uses v4's spelling if alpha has none", () => {
    expect(grammar.v4.order_by).toBe("+order_by");
    expect(grammar.v4.neq).toBe("+neq");
    expect(grammar.alpha.order_by).toBe("+order-by");
  });

  test("has the prefix that all spellings share", () => {
    expect(grammar.prefix).toBe("+");
    const operators = Object.entries(definition.operators).map(([key, { is }]) => [`$op:${key}`, { is }]);
    expect(createGrammar({ header: "Q", operators: Object.fromEntries(operators) }).prefix).toBe("$op:+");
  });

  test.each([
    ["an unknown operator", changed({ "+like": { is: "like" as "contains" } }), '"like" is not one of'],
    ["an operator defined twice", changed({ "+not": { is: "neq" } }), "are both neq"],
    [
      "a spelling of two operators",
      changed({ "+gt": { is: "gt", also: ["+ne"] } }),
      "two operators have the spelling +ne",
    ],
    ["a missing operator", changed({ "+or": undefined }), "no spelling is given for or"],
    ["no prefix", changed({ "+or": undefined, any: { is: "or" } }), "must have a common prefix"],
  ])("%s is a fault of the pack", (_name, faulty, message) => {
    expect(() => createGrammar(faulty)).toThrow(message);
  });
});
