/** Writes JSON in unusual but valid ways, which changes of single characters would seldom produce. */
import { isObject } from "../src/base/json/parse.ts";
import type { Random } from "./random.ts";

const ODD_VALUES = [
  ..."null true false [] {} [null] [{}] -0 1.0 1e2 100E-2 0.1e-7 1e400 12345678901234567890 -1 0.30".split(
    " ",
  ),
  ...'9007199254740993 1.50 "" "\\ud800" "\\ud83d\\ude00" "\\/" "é😀" "\\u00e9" "null" [[[["\\""]]]]'.split(
    " ",
  ),
  ...'"2026-01-02T03:04:05.5Z" "2026-01-02T03:04:05+02:00" {"id":1,"id":2}'.split(" "),
  `${"[".repeat(40)}${"]".repeat(40)}`,
  `"${"long".repeat(10_000)}"`,
];

const SPACES = [" ", "\n", "\t", "\r\n", "         "];

/** With a hundred as the chance of everything. */
const happens = (random: Random, percent: number): boolean => random.below(100) < percent;

const space = (random: Random): string => (happens(random, 5) ? random.pick(SPACES) : "");

const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A string, seldom with an escape that it does not need. */
function writeString(text: string, random: Random): string {
  if (text === "" || !happens(random, 4)) return JSON.stringify(text);
  const at = random.below(text.length);
  const [before, after] = [text.slice(0, at), text.slice(at + 1)];
  return `${JSON.stringify(before).slice(0, -1)}${escape(text.charAt(at))}${JSON.stringify(after).slice(1)}`;
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const shuffled = [...items];
  for (let at = shuffled.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [shuffled[at], shuffled[other]] = [shuffled[other] as T, shuffled[at] as T];
  }
  return shuffled;
}

function writeMembers(object: Readonly<Record<string, unknown>>, random: Random): string {
  const entries = Object.entries(object);
  const ordered = happens(random, 15) ? shuffle(entries, random) : entries;
  const members = ordered.flatMap(([name, value]) => {
    if (happens(random, 2)) return [];
    const count = happens(random, 2) ? 2 : 1;
    return Array.from(
      { length: count },
      () =>
        `${space(random)}${writeString(name, random)}${space(random)}:${space(random)}${writeOdd(value, random)}`,
    );
  });
  if (happens(random, 5)) members.push(`"unknown":${random.pick(ODD_VALUES)}`);
  return `{${members.join(`${space(random)},`)}${space(random)}}`;
}

/**
 * Writes a value with spaces and escapes that it does not need. Some members are in another order, missing or repeated,
 * some items are repeated, and some values are replaced.
 */
export function writeOdd(value: unknown, random: Random): string {
  if (happens(random, 3)) return random.pick(ODD_VALUES);
  if (typeof value === "string") return writeString(value, random);
  if (isObject(value)) return writeMembers(value, random);
  if (!Array.isArray(value)) return JSON.stringify(value);
  const items = value.flatMap((item) => (happens(random, 5) ? [item, item, item] : [item]));
  return `[${items.map((item) => space(random) + writeOdd(item, random)).join(`${space(random)},`)}${space(random)}]`;
}
