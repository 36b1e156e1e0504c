import { describe, expect, test } from "@jest/globals";
import { createGrammar } from "../../../src/pack/filters/grammar.ts";
import type { OperatorSpellings } from "../../../src/pack/filters/filter-definition.ts";
import { definition, grammar, upstreamOperators } from "./alpha-grammar.ts";

const changed = (operators: OperatorSpellings) => ({
  ...definition,
  operators: { ...definition.operators, ...operators },
});

const upstreamOf = (operators: OperatorSpellings) => ({ header: "X-Filter", operators });

describe("the filter grammar of a pack", () => {
  test("maps each spelling of the client to its operator", () => {
    expect(grammar.operators.get("+ne")).toBe("neq");
    expect(grammar.operators.get("+order-by")).toBe("order_by");
    expect(grammar.operators.get("+order_by")).toBe("order_by");
  });

  test("has the documented spellings of both sides", () => {
    expect(grammar.upstream("order_by")).toBe("+order_by");
    expect(grammar.upstream("neq")).toBe("+neq");
    expect(grammar.spelling("order_by")).toBe("+order-by");
  });

  test("has the prefix that all spellings share", () => {
    expect(grammar.prefix).toBe("+");
    expect(
      createGrammar({ header: "Q", operators: { or: "$op:any", and: "$op:all" } }, undefined).prefix,
    ).toBe("$op:a");
  });

  test("rejects an operator that the upstream does not have, by the client's spelling", () => {
    const { contains: _contains, ...withoutLike } = upstreamOperators;
    expect(() => createGrammar(definition, upstreamOf(withoutLike)).upstream("contains")).toThrow(
      "+contains is not supported any more.",
    );
  });

  test.each([
    ["a spelling of two operators", changed({ gt: ["+gt", "+ne"] }), "two operators have the spelling +ne"],
    ["no prefix", changed({ or: "any" }), "must have a common prefix"],
  ])("%s is a fault of the pack", (_name, faulty, message) => {
    expect(() => createGrammar(faulty, upstreamOf(upstreamOperators))).toThrow(message);
  });
});
