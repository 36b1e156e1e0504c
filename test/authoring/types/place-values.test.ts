/** The values that are tried at a place whose texts have a pattern. */
import { expect, test } from "@jest/globals";
import { textOfPattern } from "../../../src/authoring/types/pattern-text.ts";
import { valuesOf } from "../../../src/authoring/types/place-values.ts";

const place = (pattern: string): Parameters<typeof valuesOf>[0] => ({
  types: new Set(["string"]),
  items: new Set(),
  words: undefined,
  required: true,
  limits: { pattern },
});

const usualOf = (pattern: string): unknown =>
  valuesOf(place(pattern), new Set(["string"]), { isTime: false, words: [] }, (text) =>
    new RegExp(pattern, "u").test(text),
  ).usual;

test.each([
  ["^u-[0-9]+$", "u-0"],
  [String.raw`^[A-Z]{2}\d{3}$`, "AA111"],
  [String.raw`^a\.b[^/]?\w*.$`, "a.ba"],
  ["^[A-Z-]{3,}$", "AAA"],
])("the usual text of %s has it: null is no text", (pattern, text) => expect(usualOf(pattern)).toBe(text));

test.each(["^(a|b)-[0-9]$", "^a|b$"])("groups and choices are not read: %s", (pattern) =>
  expect(textOfPattern(pattern)).toBeUndefined(),
);
