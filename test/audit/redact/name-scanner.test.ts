import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { NameScanner } from "../../../src/audit/redact/name-scanner.ts";
import { secretNames } from "../../../src/audit/redact/secret-names.ts";
import { packIn } from "../../support/packs.ts";

const { all: names } = secretNames(packIn("mappings").secretNames);
const scanner = new NameScanner(names);
/** Bytes are scanned as a text with a character for each byte. */
const mayHaveName = (bytes: Buffer): boolean => scanner.finds(bytes.toString("latin1"));

const HIDING = /[%\\\x80-\xff]/;
/** What may be between the letters of a name. */
const BETWEEN = "[\\0-\\x20+_\\x7f-]";
/** What follows a name, by where it counts. */
const ENDS = {
  alone: `${BETWEEN}*(?:\\t|(?!${BETWEEN})[^A-Za-z0-9])`,
  part: "\\0*[^a-z\\0]",
  anywhere: `${BETWEEN}*(?:\\t|(?!${BETWEEN})[^])`,
};
const spelt = (name: string): string =>
  Array.from(name, (letter) =>
    /[a-z]/.test(letter) ? `[${letter}${letter.toUpperCase()}]` : `\\${letter}`,
  ).join(`${BETWEEN}*`);
const ANY_NAME = new RegExp(
  [
    ...names.map(({ name, place }) => spelt(name) + ENDS[place]),
    `${spelt("name")}${BETWEEN}*[=*[\\].]`,
    `(?:${spelt("value")}|${spelt("values")})${BETWEEN}*[=*[\\].\\d]`,
  ].join("|"),
);

/** What the scanner must find, as patterns. */
function hasName(bytes: Buffer): boolean {
  const text = bytes.toString("latin1");
  return HIDING.test(text) || ANY_NAME.test(text);
}

/** The bytes of a text at an offset of a larger buffer, so that they are not aligned. */
function bytesAt(offset: number, text: string): Buffer {
  const bytes = Buffer.from("token:".padEnd(offset + 6) + text + "token:", "latin1");
  return bytes.subarray(offset + 6, -6);
}

const word = fc.constantFrom(
  ...names.map(({ name }) => name),
  "name=",
  "name*=",
  "value=",
  "values[",
  "status",
  "label",
  "id",
);
const between = fc.oneof(
  { weight: 8, arbitrary: fc.constant("") },
  fc.constantFrom("_", "-", "+", " ", "\t", "\0", "\x7f", "   ", "_".repeat(70)),
);
/** A name, or its start, with upper-case letters and other characters in it. */
const spelling = fc
  .tuple(word, fc.infiniteStream(fc.tuple(between, fc.boolean())), fc.nat(20))
  .map(([letters, stream, length]) =>
    Array.from(letters.slice(0, length))
      .map((letter) => {
        const [gap, isUpper] = stream.next().value;
        return (isUpper ? letter.toUpperCase() : letter) + gap;
      })
      .join(""),
  );
const part = fc.oneof(
  { weight: 4, arbitrary: spelling },
  { weight: 4, arbitrary: fc.constantFrom('"', ":", ",", "{", "1", "x", "o", "/", "=", "*", ".", "\n") },
  { weight: 2, arbitrary: fc.string({ maxLength: 8 }) },
  { weight: 1, arbitrary: fc.nat(40).map((length) => "z".repeat(length)) },
);
const body = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));

describe("the scan of a body for names of secrets", () => {
  test("finds the same as a pattern of all names, at any alignment", () => {
    fc.assert(
      fc.property(body, fc.nat(17), (text, offset) => {
        const bytes = bytesAt(offset, text);
        expect(mayHaveName(bytes)).toBe(hasName(bytes));
      }),
      { numRuns: 5000 },
    );
  });

  test.each(["%", "\\", "\x80", "\xff", '"cvv"', '"O-t_P":', "PASSPHRASES", "name*="])(
    "finds %j at each place of a body of each length",
    (text) => {
      const missed: string[] = [];
      for (let length = 0; length <= 80; length += 1) {
        for (let at = 0; at <= length; at += 1) {
          const bytes = bytesAt(length & 7, `${"z".repeat(at)}${text}${"z".repeat(length - at)}`);
          if (!mayHaveName(bytes)) missed.push(`${at} of ${length}`);
        }
      }
      expect(missed).toEqual([]);
    },
  );

  test("does not find a name that nothing follows", () => {
    for (let before = 0; before <= 80; before += 1) {
      const text = `${"z".repeat(before)}"token`;
      expect(mayHaveName(bytesAt(before & 7, text))).toBe(false);
      expect(mayHaveName(bytesAt(before & 7, `${text}"`))).toBe(true);
    }
  });

  test("finds names at the end of a long body", () => {
    const start = "z".repeat(200_000);
    expect(mayHaveName(Buffer.from(`${start}"token"`))).toBe(true);
    expect(mayHaveName(Buffer.from(`${start}"t-o-k-e-n"${"z".repeat(100)}`))).toBe(true);
    expect(mayHaveName(Buffer.from(`${start}"taken"${"z".repeat(100)}`))).toBe(false);
  });

  test("finds a name whose letters are far apart", () => {
    const far = Array.from("token").join(" ".repeat(50_000));
    expect(mayHaveName(Buffer.from(`"${far}"`))).toBe(true);
    expect(mayHaveName(Buffer.from(`"${far}`))).toBe(false);
    expect(mayHaveName(Buffer.from(`"${far.replace("k", "x")}"`))).toBe(false);
  });

  test("finds nothing without names", () => {
    expect(new NameScanner([]).finds('{"token":"x"}')).toBe(false);
  });
});
