import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { compile, type Expression, type ExpressionError } from "../../src/jsonata/index.ts";
import { interpret } from "../../src/jsonata/interpret.ts";

/** Errors of JavaScript inside the interpreter, and endless recursion, are the interpreter's own mistakes. */
const MISTAKES = new Set<string | undefined>(["unknown", "D1011"]);

interface Outcome {
  readonly value?: unknown;
  readonly code?: string;
}

async function outcome(
  make: (source: string) => Expression,
  source: string,
  input: unknown,
): Promise<Outcome> {
  try {
    return { value: await make(source).evaluate(input, {}) };
  } catch (error) {
    return { code: (error as ExpressionError).jsonataCode };
  }
}

/** The results of the compiled expression and of the interpreter. */
async function outcomesOf(source: string, input: unknown): Promise<[compiled: object, interpreted: object]> {
  const interpreted = await outcome(interpret, source, input);
  fc.pre(!MISTAKES.has(interpreted.code));
  const { engine } = compile(source);
  return [
    { ...(await outcome(compile, source, input)), engine },
    { ...interpreted, engine: "compiled" },
  ];
}

const oneOf = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);

const joined = (...parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(""));

const presentation = oneOf(
  ..."|1|01|001|0001|#1|#,##1|9,999|01:01|I|i|A|a|w|W|Ww|n|N|Nn|1o|wo|01t|Z|٠١|1.1,1|o|0٠".split("|"),
);
const width = oneOf("", "", "", "", ",2", ",2-2", ",*-3", ",3-3", ",1-4", ",*", ",*-*", ",0-1", ",x");
const component = joined(
  oneOf(..."Y M D d F W w X x H h P m s f Z z C E q ,".split(" ")),
  presentation,
  width,
).map((text) => `[${text}]`);
const text = oneOf("-", " ", "/", ":", "T", ".", "[[", "]]", "", "", "年", "(", "\\");
const timePicture = fc.array(joined(component, text), { maxLength: 7 }).map((parts) => parts.join(""));

/** The turns of years and months, where weeks are hard, among any times. */
const millis = fc.oneof(
  fc.integer({ min: -62_000_000_000_000, max: 253_000_000_000_000 }),
  fc
    .tuple(
      fc.integer({ min: -1, max: 2200 }),
      fc.integer({ min: 0, max: 11 }),
      fc.integer({ min: -7, max: 7 }),
    )
    .map(([year, month, day]) => new Date(0).setUTCFullYear(year, month, 1 + day)),
  fc.constantFrom(0, -1, 8.64e15, -8.64e15, 0.5, 1_521_801_216_617),
);

const zone = fc.option(oneOf("+0000", "+0100", "-0500", "+0530", "-0130", "0", "x", "", "+9959"), {
  nil: undefined,
});

describe("$fromMillis with a picture", () => {
  test("prints what the interpreter prints, for any picture, time and zone", async () => {
    await fc.assert(
      fc.asyncProperty(timePicture, millis, zone, async (picture, time, at) => {
        const [compiled, interpreted] = await outcomesOf(
          `$fromMillis(time, ${JSON.stringify(picture)}, zone)`,
          { time, zone: at },
        );
        expect(compiled).toEqual(interpreted);
      }),
      { numRuns: 1000 },
    );
  }, 60_000);

  test.each(["[d00a1b1]", "[Y#a#b#c#d#e#f#g1]", "[d00 ?:ists$#$i#$i$join#$i#$iype1]"])(
    "prints what the interpreter prints, for separators before the first digit: %s",
    async (picture) => {
      const [compiled, interpreted] = await outcomesOf(`$fromMillis(0, "${picture}")`, {});
      expect(compiled).toEqual(interpreted);
    },
  );

  test("takes the picture from the input, too", async () => {
    await fc.assert(
      fc.asyncProperty(timePicture, millis, async (picture, time) => {
        const [compiled, interpreted] = await outcomesOf("$fromMillis(time, picture)", { time, picture });
        expect(compiled).toEqual(interpreted);
      }),
      { numRuns: 300 },
    );
  });
});

/** Pictures that are not ambiguous, with texts that match them, most of the time. */
const dateText = fc.oneof(
  ...(
    [
      ["[Y0001]-[M01]-[D01]"],
      ["[Y]-[M]-[D]T[H]:[m]:[s].[f][Z]"],
      ["[Y0001][M01][D01]T[H01][m01][s01][Z0001]"],
      ["[D1o] [MNn] [Y], [h]:[m] [P]"],
      ["[FNn,3-3], [D] [MNn,3-3] [Y] [H01]:[m01] [z]"],
      ["[Y]/[d] [H]"],
      ["[YI] [MA] [Di] [ha] [PN]"],
      ["[Y]-[M]-[D] [H] [s]"],
      ["[X]-[W]-[F1] [Y]"],
      ["[Y] [x] [w] [Z01:01]"],
      ["[Y]-[D] (x.y)"],
    ] as const
  ).map(([picture]) => fc.tuple(fc.constant(picture as string), millis, zone)),
);

/** Cuts something out of a text, or puts something in. */
const damaged = fc.tuple(fc.nat(40), fc.nat(3), oneOf("", "0", "9", "x", "AM", "March", "-", "١"));

describe("$toMillis with a picture", () => {
  test("reads what the interpreter reads, from texts that match the picture, or nearly", async () => {
    await fc.assert(
      fc.asyncProperty(dateText, fc.option(damaged), async ([picture, time, at], damage) => {
        const literal = JSON.stringify(picture);
        const { value } = await outcome(compile, `$fromMillis(time, ${literal}, zone)`, { time, zone: at });
        // A time or a zone that no date has is not printed.
        const printed = typeof value === "string" ? value : "";
        const [from, cut, put] = damage ?? [0, 0, ""];
        const written = printed.slice(0, from) + put + printed.slice(from + cut);
        const [compiled, interpreted] = await outcomesOf(`$toMillis(written, ${literal})`, { written });
        expect(compiled).toEqual(interpreted);
      }),
      { numRuns: 1000 },
    );
  }, 60_000);

  test.each([
    ["'[H]:[m]'", "no year: the clock decides"],
    ["picture", "not a literal"],
    ["'[Y'", "not closed"],
    ["'[Yw]'", "in words"],
    ["'[Y]-[C]'", "nothing to read"],
  ])("is left to the interpreter for the picture %s (%s)", (picture) => {
    expect(compile(`$toMillis(text, ${picture})`)).toMatchObject({
      engine: "interpreted",
      fallback: expect.stringContaining("$toMillis with"),
    });
  });

  test.each(["text ~> $toMillis('[Y]')", "$map(['1970'], $toMillis(?, '[Y]'))"])(
    "is compiled in %s",
    (source) => {
      const expression = compile(source);
      expect(expression.engine).toBe("compiled");
      expect(expression.evaluate({ text: "1970" }, {})).toBe(0);
    },
  );

  test("reads in linear time by a picture for which the interpreter's regular expression explodes", () => {
    const picture = `[Y]${"[Z]".repeat(30)}x`;
    const text = `1970${"+1".repeat(30)}${"1".repeat(3000)}`;
    const expression = compile(`$toMillis(text, '${picture}')`);
    expect(expression.engine).toBe("compiled");
    expect(expression.evaluate({ text }, {})).toBeUndefined();
  });
});

describe("$formatNumber", () => {
  const part = joined(
    oneOf("", "(", "a"),
    oneOf("", "#", "##", "#,##", "#,#"),
    oneOf("0", "00", "0,000", "", "#"),
    oneOf("", ".", ".0", ".00##", ".#", ".0,0"),
    oneOf("", "", "e0", "e00", "%", "‰"),
    oneOf("", ")", " b"),
  );
  const picture = fc.oneof(part, joined(part, fc.constant(";"), part), fc.string({ maxLength: 5 }));
  const number = fc.oneof(
    fc.integer({ min: -2_000_000, max: 2_000_000 }),
    fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
    fc.constantFrom(0, 0.5, -0.5, 1e15, 1.005),
  );

  test("prints what the interpreter prints, for any picture and number", async () => {
    await fc.assert(
      fc.asyncProperty(picture, number, async (by, value) => {
        const [compiled, interpreted] = await outcomesOf(`$formatNumber(value, ${JSON.stringify(by)})`, {
          value,
        });
        expect(compiled).toEqual(interpreted);
      }),
      { numRuns: 1000, examples: [["7{\\", -4.4e-323]] },
    );
  }, 60_000);

  test("remembers the picture without the options of another call", () => {
    const input = { options: [{}, { "decimal-separator": "," }, {}] };
    const expression = compile("options.$formatNumber(1.5, '0,0', $)");
    expect(expression.evaluate(input, {})).toEqual(["0,2", "1,5", "0,2"]);
    expect(compile("$formatNumber(1.5, '0.0')").evaluate({}, {})).toBe("1.5");
  });
});

describe("a hostile picture", () => {
  const long = "0".repeat(1001);

  test.each([
    ["$fromMillis(0, picture)", `[Y${long}]`],
    ["$fromMillis(0, picture)", "[Y,1000000000]"],
    ["$fromMillis(0, picture)", "[H,*-5000]"],
    ["$formatNumber(0, picture)", long],
    ["$formatNumber(0, picture, {'digit': '?'})", long],
    ["$formatInteger(0, picture)", long],
    ["$parseInteger('0', picture)", long],
  ])("%s is rejected for a picture of more than 1000 characters or digits", (source, picture) => {
    expect(() => compile(source).evaluate({ picture }, {})).toThrow(
      expect.objectContaining({ jsonataCode: "too_large" }),
    );
  });

  test("is forgotten: pictures from data do not fill the memory", () => {
    const expression = compile("$fromMillis(0, picture)");
    for (let index = 0; index < 5000; index += 1)
      expect(expression.evaluate({ picture: `[Y]${index}` }, {})).toBe(`1970${index}`);
  });
});
