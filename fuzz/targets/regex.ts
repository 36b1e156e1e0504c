/** A regular expression and a text, in the linear-time engine and in JavaScript's: both find the same matches. */
import { isDeepStrictEqual } from "node:util";
import { LinearRegex } from "../../src/jsonata/regex/linear.ts";
import { parseRegex, UnsupportedRegexError } from "../../src/jsonata/regex/parse-regex.ts";
import { compileRegex } from "../../src/jsonata/regex/pattern-program.ts";
import { hold, type Target } from "../target.ts";

const FLAGS = ["g", "gi", "gm", "gu"];

/** JavaScript's engine would backtrack too long on these. */
const LONGEST_TEXT = 16;

/** Undefined if JavaScript or the linear-time engine rejects the expression. */
function both(source: string, flags: string): { native: RegExp; linear: LinearRegex } | undefined {
  try {
    const native = new RegExp(source, flags);
    return { native, linear: new LinearRegex(compileRegex(parseRegex(source, flags)), source) };
  } catch (error) {
    hold(
      "what can't be run is refused by its own error",
      error instanceof UnsupportedRegexError || error instanceof SyntaxError,
    );
    return undefined;
  }
}

export const target: Target = {
  name: "regex",
  subject: "A regular expression, run in linear time and by JavaScript's own engine: both find the same",
  covers: ["/src/jsonata/regex/"],
  longest: 60,
  seeds: [
    "(a+)+$\naaaaaaaa!",
    "(a|ab)(c|bcd)(d*)\nabcd",
    "(?=a.*c)a.\nabc",
    "(?<!x)b{2,3}?\\b\nxbbb bbb",
    "^(?:(a)|b)*$\nabab",
    "[^a-c\\]]+\\d\n]x1",
    "(.*?)d(.*)$\nabdde",
    "\\u{1F600}?.\\p{L}\n\u{1F600}ax",
  ],
  dictionary:
    "( ) (?: (?= (?! (?<= (?<! [ ] ^ $ * + ? *? +? ?? {2} {1,} {0,2} | \\d \\w \\s \\b \\B . \\n \\u0061".split(
      " ",
    ),
  run(input) {
    const [pattern = "", ...lines] = input.split("\n");
    const text = lines.join("\n").slice(0, LONGEST_TEXT);
    for (const flags of FLAGS) {
      const engines = both(pattern, flags);
      if (!engines) continue;
      const { native, linear } = engines;
      for (
        let found: RegExpExecArray | null = null, first = true;
        first || (found && found[0] !== "");
        first = false
      ) {
        found = native.exec(text);
        const other = linear.exec(text);
        hold(
          "both find the same",
          isDeepStrictEqual(found && [...found, found.index], other && [...other, other.index]),
        );
        hold("both go on from the same place", native.lastIndex === linear.lastIndex);
      }
    }
  },
};
