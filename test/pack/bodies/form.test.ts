import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { parseForm, printForm } from "../../../src/pack/bodies/form.ts";

const parse = (text: string) => parseForm(text, { maxDepth: 4, maxValues: 10 });

/** The kind of the result of a text. */
function outcome(text: string): string {
  try {
    return typeof parse(text);
  } catch (error) {
    return (error as Error).name;
  }
}

describe("parsing a form", () => {
  test.each([
    ["pairs, with + for a blank and escapes in UTF-8", "a=x+y&b=%C3%BC%2B", { a: "x y", b: "ü+" }],
    ["names without a value, and empty pairs", "a&b=&&=c", { a: "", b: "", "": "c" }],
    ["members of objects", "a[b]=1&a[c][d]=2", { a: { b: "1", c: { d: "2" } } }],
    ["escaped brackets", "a%5Bb%5D=1", { a: { b: "1" } }],
    ["lists by brackets", "a[]=1&b[]=1&b[]=2", { a: ["1"], b: ["1", "2"] }],
    [
      "objects in lists without indexes, where a member that comes again begins the next",
      "a[][b]=1&a[][c]=2&a[][b]=3",
      { a: [{ b: "1", c: "2" }, { b: "3" }] },
    ],
    ["lists in such objects", "a[][t][]=1&a[][t][]=2&a[][b]=3", { a: [{ t: ["1", "2"], b: "3" }] }],
    ["lists by repeated names", "a=1&a=2", { a: ["1", "2"] }],
    ["indexes as members", "a[1]=x&a[0]=y", { a: { 1: "x", 0: "y" } }],
    [
      "incomplete brackets as plain names",
      "a[b=1&a]b=2&[a]=3&a[b[c]]=4",
      { "a[b": "1", "a]b": "2", "[a]": "3", "a[b[c]]": "4" },
    ],
  ])("reads %s", (_case, text, expected) => expect(parse(text)).toEqual(expected));

  test("keeps names of the object prototype as plain members", () => {
    const form = parse("__proto__[polluted]=1&constructor=2&a[__proto__]=3");
    expect(JSON.stringify(form)).toBe(
      '{"__proto__":{"polluted":"1"},"constructor":"2","a":{"__proto__":"3"}}',
    );
    expect("polluted" in {}).toBe(false);
  });

  test.each([
    ["a malformed escape", "a=%zz"],
    ["an escape that is not UTF-8", "a=%ff"],
    ["a malformed escape in a name", "%=1"],
    ["a name with a value and with members", "a=1&a[b]=2"],
    ["a list with members", "a[]=1&a[b]=2"],
    ["a list of lists without indexes", "a[][]=1"],
    ["a list of texts and of objects", "a[]=1&a[][b]=1"],
    ["an object and a list of objects", "a[b]=1&a[][b]=1"],
  ])("rejects %s", (_case, text) => expect(() => parse(text)).toThrow(SyntaxError));

  test.each([
    ["nesting", "a[b][c][d][e]=1"],
    ["members", Array.from({ length: 11 }, (_, index) => `a${index}=1`).join("&")],
    ["repeated values", "a=1&".repeat(12)],
    ["objects", "a[b][c]=1&d[e][f]=1&g[h][i]=1&j[k]=1"],
  ])("limits %s", (_case, text) => expect(() => parse(text)).toThrow(RangeError));

  test("never fails in another way, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "[", "]", "=", "&", "%", "0", "f", "+", "ü") }),
        (text) => {
          expect(["object", "SyntaxError", "RangeError"]).toContain(outcome(text));
        },
      ),
    );
  });
});

describe("printing a form", () => {
  const value = { a: ["x", "y"], b: { c: 1.5, d: [{ e: true }, { e: null }] }, f: [], g: {} };

  test.each([
    ["brackets", "a[]=x&a[]=y&b[c]=1.5&b[d][0][e]=true&b[d][1][e]=&f=&g="],
    ["indexes", "a[0]=x&a[1]=y&b[c]=1.5&b[d][0][e]=true&b[d][1][e]=&f=&g="],
    ["repeat", "a=x&a=y&b[c]=1.5&b[d][0][e]=true&b[d][1][e]=&f=&g="],
  ] as const)("writes lists with %s, and what is empty as an empty text", (lists, expected) =>
    expect(decodeURIComponent(printForm(value, lists))).toBe(expected),
  );

  test("writes objects in brackets, if a member of each is in the one before", () => {
    const rows = { a: [{ b: 1, c: [2, 3] }, { b: 4 }] };
    expect(decodeURIComponent(printForm(rows, "brackets", "brackets"))).toBe(
      "a[][b]=1&a[][c][]=2&a[][c][]=3&a[][b]=4",
    );
    for (const second of [{ c: 1 }, {}, { b: [1] }])
      expect(() => printForm({ a: [{ b: 1 }, second] }, "brackets", "brackets")).toThrow(SyntaxError);
  });

  test("is undone by parsing, for texts in objects", () => {
    const name = fc.string({ minLength: 1 }).filter((text) => !/[[\]]/.test(text));
    const { object } = fc.letrec<{ object: object; value: unknown }>((tie) => ({
      object: fc.dictionary(name, tie("value"), { minKeys: 1, noNullPrototype: true }),
      value: fc.oneof({ maxDepth: 2 }, fc.string(), tie("object")),
    }));
    fc.assert(
      fc.property(object, (form) => {
        const text = printForm(form as Record<string, unknown>, "brackets");
        expect(parseForm(text, { maxDepth: 100, maxValues: 10_000 })).toEqual(form);
      }),
    );
  });
});
