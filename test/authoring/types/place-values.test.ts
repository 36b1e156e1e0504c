/** The values that are tried at a place whose texts have a pattern. */
import { expect, test } from "@jest/globals";
import { Patterns, textOfPattern } from "../../../src/authoring/types/pattern.ts";
import { valuesOf } from "../../../src/authoring/types/place-values.ts";

const place = (pattern: string): Parameters<typeof valuesOf>[0] => ({
  types: new Set(["string"]),
  items: new Set(),
  words: undefined,
  required: true,
  limits: { pattern },
});

const patterns = new Patterns();
const usualOf = (pattern: string): unknown =>
  valuesOf(place(pattern), new Set(["string"]), {
    isTime: false,
    words: [],
    fits: (text) => patterns.test(pattern, text) === true,
  }).usual;

test.each([
  "^u-[0-9]+$",
  String.raw`^[A-Z]{2}\d{3}$`,
  String.raw`^a\.b[^/]?\w*.$`,
  "^[A-Z-]{3,}$",
  "^(a|b)-[0-9]$",
  "^(x+x+)+y$",
])("the usual text of %s has it: null is no text", (pattern) =>
  expect(usualOf(pattern)).toMatch(new RegExp(pattern, "u")),
);

test("the text of a pattern is short", () => expect(textOfPattern("^u-[0-9]+$")).toHaveLength(3));

test.each(["^(?!a)b$", String.raw`^(x)\1$`, "("])(
  "look-arounds and back references are not read: %s",
  (pattern) => expect(textOfPattern(pattern)).toBeUndefined(),
);
