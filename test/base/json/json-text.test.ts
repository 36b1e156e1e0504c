import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createListParser } from "../../../src/pack/lists/envelope.ts";
import { parseJson, printJson } from "../../../src/base/json/parse.ts";
import { createMemberTable, forEachMember, itemsOf } from "../../../src/base/json/members.ts";
import { checkJson, cursorAt, expectEnd, isJson, readRaw } from "../../../src/base/json/scan.ts";
import { fromJsonText } from "../../../src/base/json/text.ts";

function parses(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON with some characters taken out, put in or doubled. */
const damaged = fc
  .tuple(
    fc.json(),
    fc.nat(),
    fc.nat(3),
    fc.constantFrom(...'[]{}",:\\/1.eE+-0 \n\t\u0001tfnu\ufeff'.split(""), ""),
  )
  .map(([json, at, cut, put]) => {
    const place = at % (json.length + 1);
    return json.slice(0, place) + put + json.slice(place + cut);
  });

const nearlyJson = fc.string({ unit: fc.constantFrom(...'[]{}",:\\1.eE-+0 \ntrufalsn'.split("")) });

const anyText = fc.oneof(fc.json(), damaged, nearlyJson, fc.string());

describe("validating JSON text (L-5)", () => {
  test("accepts exactly what the parser reads", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(isJson(text)).toBe(parses(text));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    '"\\u00e9\\/\\b\\f\\n\\r\\t\\"\\\\"',
    '"\\ud800"',
    "-0",
    "0.10e-7",
    "1E400",
    ' \n\t\r{ "a" : [ 1 , { } , [ ] ] } ',
    '{"a":1,"a":2}',
    '{"__proto__":1}',
  ])("accepts %j", (text) => expect(isJson(text)).toBe(true));

  test.each([
    "",
    " ",
    "{",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "[1,]",
    "[,1]",
    "[1 2]",
    '"',
    '"\\',
    '"\\u12',
    '"\\x41"',
    '"a\nb"',
    '"\u0000"',
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "--1",
    "-",
    "truely",
    "tru",
    "nul",
    "{}x",
    "{}{}",
    "\ufeff{}",
    "\u00a0{}",
    "NaN",
    "{a:1}",
  ])("rejects %j", (text) => expect(isJson(text)).toBe(false));

  test("finds the end of a string, and what it must not have, at any offset", () => {
    for (let length = 0; length < 10; length += 1) {
      const text = "é€xy".repeat(3).slice(0, length);
      for (const behind of ["", "1", "12345"]) {
        for (const valid of ["", " ", '\\"', "\\\\", "\\u0022", "\u007f", "\u00a2"])
          expect(isJson(`["${text}${valid}${behind}"]`)).toBe(true);
        for (const invalid of ['"', "\\x", "\\u002g", "\u0000", "\u001f"])
          expect(isJson(`["${text}${invalid}${behind}"]`)).toBe(false);
        expect(isJson(`["${text}${behind}`)).toBe(false);
      }
    }
  });

  test("has the depth limit of the parser", () => {
    const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;
    expect(isJson(nested(100))).toBe(true);
    expect(isJson(nested(102))).toBe(false);
    expect(isJson("[".repeat(1_000_000))).toBe(false);
  });

  test("accepts numbers of up to 1000 characters, in every form and at every place", () => {
    const forms = ["%", "-%", "1.%", "-1.%e5", "1e%", "%E+1", "%.5", "0.%"];
    const places = ["%", " % ", "[%]", "[1,%,2]", '{"a":%}', '{"a":[{"b":% }]}'];
    for (const length of [990, 998, 999, 1000, 1001, 1002, 1010, 5000])
      for (const form of forms) {
        const digits = "1".repeat(length - form.length + 1);
        for (const place of places) {
          const text = place.replace("%", form.replace("%", digits));
          expect([length, form, place, isJson(text)]).toEqual([length, form, place, length <= 1000]);
        }
      }
    expect(() => checkJson("1".repeat(1001))).toThrow(RangeError);
    expect(isJson(`["${"1".repeat(5000)}",${"1,".repeat(5000)}1]`)).toBe(true);
  });

  test("reads the text of a value", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const from = cursorAt(` ${json} `);
        expect(fromJsonText(readRaw(from))).toEqual(JSON.parse(json));
        expectEnd(from);
      }),
    );
  });

  test("keeps the digits of an integer of any length", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (integer) => {
        expect(printJson(fromJsonText(String(integer)))).toBe(String(integer));
      }),
    );
    for (let length = 1; length < 25; length += 1) {
      const digits = "9007199254740993900719925".slice(0, length);
      expect(printJson(fromJsonText(digits))).toBe(digits);
    }
  });

  test("reads the texts of an array's items", () => {
    fc.assert(
      fc.property(fc.array(fc.json()), fc.constantFrom(",", " , ", "\n,"), (items, comma) => {
        expect(itemsOf(`[${items.join(comma)}]`)).toEqual(items.map((item) => item.trim()));
      }),
    );
  });
});

describe("reading the members of objects of one kind", () => {
  /** Names of all lengths that are equal up to some character. */
  const names = fc.oneof(
    fc.nat(12).map((length) => "abcdefghijkl".slice(0, length)),
    fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength: 9 }),
  );
  const members = fc.array(fc.tuple(names, fc.constantFrom("", " "), fc.nat(9)), { maxLength: 6 });
  const table = createMemberTable(["abcd", "a", "abcdefg", "abcdefgh", "aé", ""]);

  const print = (object: readonly (readonly [string, string, number])[]): string =>
    `{${object.map(([name, space, value]) => `${JSON.stringify(name)}${space}:${value}`).join()}}`;

  test("finds each name, whatever names the object before had", () => {
    fc.assert(
      fc.property(fc.array(members, { minLength: 1, maxLength: 4 }), (objects) => {
        for (const object of objects) {
          const found: unknown[] = [];
          const from = cursorAt(print(object));
          forEachMember(from, table, (number) => found.push([number, readRaw(from)]));
          expectEnd(from);
          const wanted = object.map(([name, , value]) => [table.numbers.get(name) ?? -1, String(value)]);
          expect(found).toEqual(wanted);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("finds a name that is written with escapes", () => {
    for (const written of ["\\u0061bcd", "a\\u0062cd", "abc\\u0064"]) {
      const found: number[] = [];
      const from = cursorAt(`{"${written}":1,"x${written}":2}`);
      forEachMember(from, createMemberTable(["abcd"]), (number) => {
        found.push(number);
        readRaw(from);
      });
      expect(found).toEqual([0, -1]);
    }
  });

  test("reads at most 100 000 names that are not expected (L-33)", () => {
    const textOf = (count: number): string =>
      `{${Array.from({ length: count }, (_, index) => `"n${index}":1`).join()}}`;
    const read = (text: string): void => {
      const from = cursorAt(text);
      forEachMember(from, createMemberTable(["abcd"]), () => void readRaw(from));
    };
    expect(() => read(textOf(100_000))).not.toThrow();
    expect(() => read(textOf(100_001))).toThrow(RangeError);
  });

  test("rejects a text that ends in a name", () => {
    for (const end of ['{"abcd":1}'.length, ...'{"abcd":'.split("").keys()])
      expect(isJson('{"abcd":1}'.slice(0, end))).toBe(end === '{"abcd":1}'.length);
    const read = (text: string) => forEachMember(cursorAt(text), table, () => undefined);
    expect(() => read('{"abcd"')).toThrow(SyntaxError);
    expect(() => read('{"abc')).toThrow(SyntaxError);
  });
});

describe("reading a list's envelope", () => {
  const open = createListParser({ data: "$items", page: "$page", pages: "$pages", results: "$total" });
  const opened = (text: string) => {
    const from = cursorAt(text);
    const list = open(from, readRaw);
    expectEnd(from);
    return list;
  };

  test("accepts any order of members, and further members", () => {
    const members = fc.shuffledSubarray(
      ['"data":[1,{"a":2}]', '"page":2', '"pages":3', '"results":51', '"more":{"data":[]}', '"Page":9'],
      { minLength: 6 },
    );
    fc.assert(
      fc.property(members, fc.constantFrom(",", " ,\n "), (parts, comma) => {
        const list = opened(`{${parts.join(comma)}}`);
        expect(list).toEqual({ items: ["1", '{"a":2}'], page: 2, pages: 3, total: 51 });
      }),
    );
  });

  test("takes the last of two values with one name", () => {
    expect(opened('{"data":[1],"page":1,"pages":1,"results":1,"page":2}')).toEqual({
      items: ["1"],
      page: 2,
      pages: 1,
      total: 1,
    });
  });

  test.each([
    "[]",
    "null",
    '{"data":[]}',
    '{"data":{},"page":1,"pages":1,"results":1}',
    '{"data":[],"data":null,"page":1,"pages":1,"results":1}',
    '{"data":[1],"data":[2],"page":1,"pages":1,"results":1}',
    '{"data":[],"page":"1","pages":1,"results":1}',
    '{"data":[],"page":-1,"pages":1,"results":1}',
    '{"data":[],"page":1.5,"pages":1,"results":1}',
    '{"data":[],"page":1,"pages":9007199254740993,"results":1}',
  ])("rejects %s", (text) => expect(opened(text)).toHaveProperty("fault"));

  test.each(['{"data":[1', '{"data":[1],}', '{"data":[1]}x', '{"data":[1],"page":01}'])(
    "rejects invalid JSON: %s",
    (text) => expect(() => opened(text)).toThrow(SyntaxError),
  );
});
