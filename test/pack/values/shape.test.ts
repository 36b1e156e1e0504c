import * as fc from "fast-check";
import { expect, test } from "@jest/globals";
import { printJson } from "../../../src/base/json/parse.ts";
import { compileShape, fillShape } from "../../../src/pack/values/shape.ts";

const value = fc.oneof(fc.integer(), fc.string(), fc.constantFrom(null, undefined, true, 'é\u2028"'));
const constant = fc.oneof(fc.integer(), fc.string(), fc.constantFrom(null, false, [1, "two"], []));
const key = fc.oneof(fc.constantFrom("a", "2", "10", "$list"), fc.string());
const shapes = fc.letrec((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("$items", "$page", "$next", "$absent"),
    constant,
    fc.dictionary(key, tie("shape")),
  ),
}));

test("a compiled shape writes what the filled shape prints", () => {
  const values = fc.record({ items: value, page: value, next: value }, { requiredKeys: [] });
  fc.assert(
    fc.property(shapes.shape, values, (shape, given) => {
      const filled = fillShape(shape, { ...given, list: "rows" });
      const expected = filled === undefined ? undefined : printJson(filled);
      expect(compileShape(shape, { list: "rows" })(given)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});
