import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { spawnSync } from "node:child_process";
import { shellQuote, shellComment } from "../../../src/compare/dry-run/curl.ts";

/** The words that a shell makes of a command line, from a program that prints them. */
function wordsOf(line: string): string[] {
  const { stdout, status } = spawnSync("bash", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the shell ended with ${status}`);
  return stdout.split("\0").slice(0, -1);
}

/** No shell can hand a NUL to a program. */
const hostile = fc
  .oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({
      unit: fc.constantFrom("'", '"', "$", "`", "\\", "\n", "\u001b", "\u202e", "!", "$(id)", " ", "a"),
    }),
  )
  .map((text) => text.replaceAll("\0", ""));

describe("text for a shell", () => {
  test("each quoted text is one argument with the same text", () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 30, maxLength: 60 }), (words) => {
        expect(wordsOf(words.map(shellQuote).join(" "))).toEqual(words);
      }),
      { numRuns: 20 },
    );
  });

  test.each([
    ["it's", String.raw`'it'\''s'`],
    ["$(rm -rf /)", "'$(rm -rf /)'"],
    ["a\u001b[2J'\\b", String.raw`$'a\033[2J\047\134b'`],
    ["", "''"],
  ])("%j is quoted as %s", (text, word) => expect(shellQuote(text)).toBe(word));

  test("a comment is one line without an effect", () => {
    const text = "GET /a\nrm -rf /\r\u2028b\u001b[2J";
    expect(shellComment(text)).toBe("# GET /a rm -rf /  b [2J");
    expect(wordsOf(`a ${shellComment(text)}\n`)).toEqual(["a"]);
  });
});
