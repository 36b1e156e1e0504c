import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import {
  compareNumbers,
  isExactNumber,
  parseJson,
  parseNumber,
  printJson,
  type ExactNumber,
} from "../../../src/base/json/parse.ts";

const through = (text: string) => printJson(parseJson(text));

describe("lossless JSON parsing", () => {
  test.each([
    "9007199254740993",
    "-9007199254740993",
    "12345678901234567890123456789012345678901234567890",
    "0.1234567890123456789",
    "3.14159265358979323846",
    "1e400",
    "-1E-400",
    "123456789012345678901e-5",
    '{"a":[1,{"b":9007199254740993}],"c":0.1000000000000000055511151231257827}',
    '{"z":1,"a":2,"m":{"y":[],"b":[null],"x":{}}}',
    '{"__proto__":{"polluted":true},"a":1}',
    '{"__proto__":9007199254740993,"constructor":1}',
    '"9007199254740993"',
    '["\\\\",9007199254740993,"\\"",12345678901234567]',
  ])("keeps %s", (text) => expect(through(text)).toBe(text));

  test.each([
    ["9007199254740992", 9007199254740992],
    ["1.50", 1.5],
    ["10000000000000000000000", 1e22],
    ["1e3", 1000],
    ["0.1000000000000000000", 0.1],
    ["0e999", 0],
    ["1E2", 100],
    ["15e-1", 1.5],
  ])("reads %s as a number", (text, value) => expect(parseJson(text)).toBe(value));

  test("distinguishes a number that no double can represent", () => {
    expect(isExactNumber(parseJson("9007199254740993"))).toBe(true);
    expect(isExactNumber(parseJson("9007199254740991"))).toBe(false);
    expect(isExactNumber(parseJson('{"rawJSON":"1"}'))).toBe(false);
  });

  test("keeps the digits of numbers at any position", () => {
    const digits = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String);
    fc.assert(
      fc.property(fc.array(digits), fc.string(), (numbers, text) => {
        const json = `{"text":${JSON.stringify(text)},"numbers":[${numbers.join(",")}]}`;
        const printed = through(json);
        const back = /"numbers":\[([^"]*)\]\}$/.exec(printed)?.[1]?.split(",").filter(Boolean) ?? [];
        // Numbers that a double holds may be printed in another form (1e+22), and are still the same.
        expect(back.map((number) => BigInt(toInteger(number)))).toEqual(numbers.map(BigInt));
      }),
    );
  });

  test("reads the same values as JSON.parse", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("reads __proto__ as an ordinary member", () => {
    const value = parseJson('{"__proto__":{"polluted":true}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect("polluted" in value).toBe(false);
  });

  test("writes null for values that JSON does not have", () => expect(printJson(undefined)).toBe("null"));
});

function outcome(text: string): string {
  try {
    parseJson(text, { maxDepth: 3 });
    return "read";
  } catch (error) {
    return (error as Error).message;
  }
}

function toInteger(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d)(?:\.(\d+))?e\+(\d+)$/.exec(number) ?? [];
  return whole === "" ? number : sign + whole + fraction.padEnd(Number(exponent), "0");
}

describe("numbers are compared by all their digits", () => {
  const numberOf = (text: string) => parseNumber(text) as number | ExactNumber;
  const compare = (one: string, other: string): number =>
    Math.sign(compareNumbers(numberOf(one), numberOf(other))) || 0;

  test("whatever form they have", () => {
    const digits = fc.oneof(
      fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
      fc.bigInt({ min: 10n ** 20n, max: 10n ** 20n + 9n }),
    );
    const number = fc.record({ digits, places: fc.integer({ min: 0, max: 4 }) });
    const textOf = ({ digits, places }: { digits: bigint; places: number }) => `${digits}e-${places}`;
    fc.assert(
      fc.property(number, number, (one, other) => {
        const scaled = ({ digits, places }: { digits: bigint; places: number }) =>
          digits * 10n ** BigInt(4 - places);
        const [a, b] = [scaled(one), scaled(other)];
        expect(compare(textOf(one), textOf(other))).toBe(a === b ? 0 : a < b ? -1 : 1);
      }),
    );
  });

  test.each([
    ["1e400", "1e401", -1],
    ["-1e400", "1e400", -1],
    ["-1e400", "-1e401", 1],
    ["1e-400", "0", 1],
    ["-1e-400", "-0", -1],
    ["1e-400", "1e-401", 1],
    ["10e399", "1e400", 0],
    ["0.12345678901234567891", "0.123456789012345678911", -1],
  ])("%s and %s", (one, other, expected) => {
    expect([compare(one, other), compare(other, one)]).toEqual([expected, expected === 0 ? 0 : -expected]);
  });

  test.each(["", "1.", ".5", "01", "+1", "1 ", "0x1", "Infinity", "1e", "one"])("%j is no number", (text) => {
    expect(parseNumber(text)).toBeUndefined();
  });
});

describe("invalid JSON", () => {
  test.each([
    "",
    "{",
    '{"a":1}}',
    "secret",
    '{"password":"secret" oops}',
    '"secret',
    "\ufeff{}",
    "NaN",
    "01",
  ])("rejects %j with a message that contains nothing of it", (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
    expect(() => parseJson(text)).toThrow(/^not JSON$/);
  });

  test.each([
    ["arrays", (depth: number) => "[".repeat(depth) + "]".repeat(depth)],
    ["objects", (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth)],
    ["siblings before it", (depth: number) => `[[[]],{},${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}]`],
  ])("limits the depth of %s", (_name, nested) => {
    expect(() => parseJson(nested(5), { maxDepth: 5 })).not.toThrow();
    expect(() => parseJson(nested(6), { maxDepth: 5 })).toThrow(RangeError);
    expect(() => parseJson(nested(100))).not.toThrow();
    expect(() => parseJson(nested(101))).toThrow(RangeError);
  });

  test.each([
    ["one value", 1, "1,"],
    ["ten values, a number that a double may not hold", 10, "12345678901234567890,"],
    ["ten values, a number with an exponent", 10, "1.5e300,"],
  ])("counts as %s", (_name, weight, item) => {
    const parse = (items: number): unknown =>
      parseJson(`[${item.repeat(items)}null]`, { maxValues: 2 + 50 * weight });
    expect(() => parse(50)).not.toThrow();
    expect(() => parse(51)).toThrow(RangeError);
  });

  test.each([
    '{"a":1,"a":1}',
    '{"a":{"b":1},"a":{}}',
    '[{"\\u0061":12345678901234567890,"b":":","a":null}]',
    '{"__proto__":1,"__proto__":2}',
  ])("rejects %s where names must be unique", (text) => {
    expect(() => parseJson(text)).not.toThrow();
    expect(() => parseJson(text, { hasUniqueNames: true })).toThrow(RangeError);
  });

  test.each(['{"a:":":","b":{"a:":[{"a:":12345678901234567890}]},"__proto__":{"\\":":"}"}}', '"a:b"', "[]"])(
    "accepts %s where names must be unique",
    (text) => expect(parseJson(text, { hasUniqueNames: true })).toEqual(parseJson(text)),
  );

  test.each(['"[[[[["', '"\\"[[[[["', '["\\\\","[[[["]', '{"[{[{[{":"\\\\\\"[[["}'])(
    "does not count brackets in the string %s",
    (text) => expect(parseJson(text, { maxDepth: 1 })).toEqual(JSON.parse(text)),
  );

  test("any text is parsed or rejected with one error class", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'[]{}",:\\1.eE-'.split("")) })),
        (text) => {
          expect(outcome(text)).toMatch(/^(read|not JSON|JSON nested deeper than 3 levels)$/);
        },
      ),
    );
  });

  test("rejects a megabyte of the worst input without delay", () => {
    const zeros = "0".repeat(1_000_000);
    expect(isExactNumber(parseJson(`1${zeros}1`))).toBe(true);
    expect(parseJson(`0.${zeros}`)).toBe(0);
    expect(parseJson(JSON.stringify('\\"'.repeat(500_000)))).toBe('\\"'.repeat(500_000));
    expect(() => parseJson("[".repeat(1_000_000))).toThrow(RangeError);
    expect(() => parseJson('"'.repeat(1_000_001))).toThrow(SyntaxError);
  });
});
