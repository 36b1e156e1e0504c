/** The search for secret values in the bytes of a body leaves most bytes out, and misses nothing. */
import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { includesAny } from "../../../src/audit/redact/find-needle.ts";

test("finds a needle of any length at every offset", () => {
  for (let length = 1; length <= 34; length += 1) {
    const needle = Buffer.from("a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8".slice(0, length));
    for (let before = 0; before < 70; before += 1)
      for (const after of [0, 1, 30]) {
        const bytes = Buffer.from("#".repeat(before) + needle.toString() + "#".repeat(after));
        expect([length, before, includesAny(bytes, [needle])]).toEqual([length, before, true]);
        expect(includesAny(bytes.subarray(0, before + length - 1), [needle])).toBe(false);
      }
  }
});

test("finds the same as a search for one needle after the other", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "é"), minLength: 1, maxLength: 24 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), fc.array(text, { maxLength: 40 }), (values, parts) => {
      const needles = values.map((value) => Buffer.from(value));
      const bytes = Buffer.from(parts.join(""));
      expect(includesAny(bytes, needles)).toBe(needles.some((needle) => bytes.includes(needle)));
    }),
    { numRuns: 500 },
  );
});

test("finds a needle behind thousands of its beginnings", () => {
  const start = "0123456789abcdef".repeat(5000);
  const needle = Buffer.from("0123456789abcdef0123456789abcdeX");
  expect(includesAny(Buffer.from(start + needle.toString()), [needle])).toBe(true);
  expect(includesAny(Buffer.from(start), [needle])).toBe(false);
});
