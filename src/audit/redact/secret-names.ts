import {
  foldName,
  type Folding,
  isAscii,
  NAME_FOLDING,
  PLAIN_FOLDING,
  plainLetters,
  unfoldedOffsets,
} from "./fold-name.ts";
import { copyText } from "../record/truncate.ts";

/** Where a name counts: alone, as a part of a longer name, or anywhere within one. */
type Place = "alone" | "part" | "anywhere";

/** A name as `foldName` has it. */
export interface FoldedName {
  readonly name: string;
  readonly place: Place;
}

/** The names of members that have secret values, in any spelling, and where such names are in text of unknown format. */
export interface SecretNames {
  readonly all: readonly FoldedName[];
  /** Whether a member of this name is a secret, however it is spelt (`foldName`). */
  readonly has: (name: string) => boolean;
  /** Whether texts with this name are secret, alone or in a list, but not objects and numbers. */
  readonly hasTexts: (name: string) => boolean;
  /** The offset of the first secret name that something follows, or -1. */
  readonly firstIn: (text: string) => number;
  /** The offsets of the first secret names that something follows, at most a number of them. One pass over the text. */
  readonly offsetsIn: (text: string, most: number) => readonly number[];
  /**
   * Whether the text may have a secret, with a name or as the user info of a URL, also escaped. Fast, and never wrongly
   * false.
   */
  readonly maybeIn: (text: string) => boolean;
  /** Whether a text with these marks (`marksOf`) may have a secret name or user info. Fast, and never wrongly false. */
  readonly mayHave: (marks: number) => boolean;
}

/** Marks of a text: a bit for each letter in it, of either case. */
const LETTERS = 0x3ffffff;
/** A character that may separate a name from its value. */
export const SIGN = 1 << 26;
/** A character that may hide letters or user info: escapes, `@`, and all that is not ASCII. */
export const HIDING = 1 << 27;

/** The mark of each byte of a text in UTF-8. */
export const MARKS = Int32Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (code > 0x7f || "%\\@".includes(character)) return HIDING;
  if (/[a-z]/i.test(character)) return 1 << ((code & 0x1f) - 1);
  return "=:>\"'\t".includes(character) ? SIGN : 0;
});

/** The marks of all characters of a text. */
function marksOf(text: string): number {
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) marks |= MARKS[text.charCodeAt(at)] ?? HIDING;
  return marks;
}

/** The kinds of earlier names are cached, since the rows of a list repeat their names. */
type Kind = "secret" | "texts" | "none";
const MAX_CACHED = 4096;
const MAX_CACHED_LENGTH = 128;
/** A longer name is not compared part by part: it is secret if a secret name may be in it. */
const MAX_NAME_LENGTH = 1024;
/** A longer text is likely to have all letters of some name. */
const MAX_MARKED_LENGTH = 256;

/** What can hide letters of a name: percent-encoding, and JSON's escapes at any depth. */
const ESCAPES = ["%", "\\"];

/** What may be between the letters of a name. */
const BETWEEN = "[\\x00-\\x20+_\\x7f-]*";

/** User info of a URL (RFC 3986, 3.2.1), also if its slashes are escaped. A run of slashes is scanned once. */
export const USER_INFO = /(?<![\\/])([\\/]{2,})([^\\/?#\s]*)@/g;
const ANY_USER_INFO = new RegExp(USER_INFO.source);

/** What separates the names in a path of names. */
const NAME_PARTS = /[[\]./?&#;,]/;

/** What may follow a word in a name, before the sign that separates it from its value. */
const WORD_ENDS = "[a-z0-9]{0,24}";
/** The same behind a part of a name in a text as it is, with the sign. */
const PART_ENDS = `[\\w .\\]-]{0,24}["'\\\\:=>\\t\uff1a\uff1d\uff1e]`;

/** What the names of a pack say. */
interface ReadNames {
  /** Each secret name, with the widest of its places. */
  readonly places: ReadonlyMap<string, Place>;
  /** Names of which only texts are secret. */
  readonly lists: ReadonlySet<string>;
  /** Names that are not secret, although they have a secret word in them. */
  readonly others: ReadonlySet<string>;
  /** Words that are not secret, although they have a secret word in them. */
  readonly otherWords: readonly string[];
}

function readNames(all: readonly string[]): ReadNames {
  const places = new Map<string, Place>();
  const lists = new Set<string>();
  const others = new Set<string>();
  const otherWords: string[] = [];
  for (const written of all) {
    const name = foldName(written.replace("!", "").replaceAll("*", "").replace(/\[\]$/, ""));
    if (written.startsWith("!*")) otherWords.push(name);
    else if (written.startsWith("!")) others.add(name);
    else if (written.endsWith("[]")) lists.add(name);
    else if (name !== "") {
      const place = written.startsWith("*") ? "anywhere" : /^_.*_$/.test(written) ? "part" : "alone";
      const before = places.get(name) ?? "alone";
      places.set(name, place === "alone" || before === "anywhere" ? before : place);
    }
  }
  return { places, lists, others, otherWords };
}

/**
 * Compiles the names of secret members.
 *
 * @param all As the pack spells them, e.g. `["root_pass", "card_number"]`. A name between asterisks is also secret within
 *   longer names: `*password*` matches `new_password`. A name between underscores is also secret as a part of a longer name:
 *   `_pin_` matches `card_pin` and `pinCode`, but not `spin`. `!token_type` and `!*secretar*` are exceptions from both.
 *   `tokens[]`: texts in such a list are secret, and objects are searched.
 */
export function secretNames(all: readonly string[]): SecretNames {
  const { places, lists, others, otherWords } = readNames(all);
  const everyName = [
    ...[...places].map(([name, place]) => ({ name, place })),
    ...[...lists].filter((name) => !places.has(name)).map((name) => ({ name, place: "alone" as const })),
  ];
  const words = [...places].flatMap(([name, place]) => (place === "anywhere" ? [name] : []));
  const parts = [...places].flatMap(([name, place]) => (place === "part" ? [name] : []));
  const part = parts.length === 0 ? undefined : new RegExp(partForms(parts));
  const cache = new Map<string, Kind>();
  /** Texts without a secret name: paths and user agents are the same in many requests. */
  const harmless = new Set<string>();
  const pattern = namePattern(places, [...lists, ...others], otherWords);
  const partPattern = part && new RegExp(`(?:${part.source})${PART_ENDS}`, "g");
  const anywhere = anyName(everyName);
  /** The same for folded text, in which nothing is between the parts of a name. */
  const anywhereFolded = anyName(everyName.map(({ name }) => ({ name, place: "anywhere" })));
  const letters = [...new Set(everyName.map(({ name }) => marksOf(name) & LETTERS))];
  // A name that has all letters of another one needs no check.
  const fewest = letters.filter(
    (some) => !letters.some((other) => other !== some && (other & some) === other),
  );

  function mayHave(marks: number): boolean {
    if ((marks & HIDING) !== 0) return true;
    for (const name of fewest) if ((marks & name) === name) return true;
    return false;
  }

  /** Whether a name has a secret word in it. */
  function hasWord(name: string): boolean {
    const folded = foldName(name);
    if (others.has(folded) || lists.has(folded)) return false;
    if (places.has(folded)) return true;
    const searched = otherWords.reduce((rest, word) => rest.replaceAll(word, " "), folded);
    return words.some((word) => searched.includes(word)) || part?.test(plainLetters(name)) === true;
  }

  const isSecret = (name: string): boolean => places.get(foldName(name)) === "alone" || hasWord(name);

  /** `server[root_pass]` and `server.root_pass` name the same member. Signs of a query may be escaped in a name. */
  const isSecretPath = (name: string): boolean =>
    NAME_PARTS.test(name)
      ? places.has(foldName(name)) || name.split(NAME_PARTS).some(isSecret)
      : isSecret(name);

  function kindOf(name: string): Kind {
    if (name.length <= MAX_CACHED_LENGTH && !mayHave(marksOf(name))) return "none";
    if (name.length > MAX_NAME_LENGTH) return maybeIn(name) ? "secret" : "none";
    const cached = cache.get(name);
    if (cached !== undefined) return cached;
    const otherwise = lists.has(foldName(name)) ? "texts" : "none";
    const kind = isSecretPath(name) ? "secret" : otherwise;
    // Clients choose names, so both their number and their length are limited.
    if (cache.size >= MAX_CACHED) cache.clear();
    if (name.length <= MAX_CACHED_LENGTH) cache.set(copyText(name), kind);
    return kind;
  }

  const has = (name: string): boolean => kindOf(name) === "secret";
  const hasTexts = (name: string): boolean => kindOf(name) === "texts";

  function offsetsIn(text: string, most: number): readonly number[] {
    if (!pattern) return [];
    // A tab separates a name from its value, or is one of the invisible characters within a name.
    const found = (text.includes("\t") ? [text, text.replaceAll("\t", "=")] : [text]).flatMap((each) =>
      findOffsets(each, pattern, NAME_FOLDING, most),
    );
    if (partPattern) found.push(...findOffsets(text, partPattern, PLAIN_FOLDING, most));
    return [...new Set(found)].sort((one, other) => one - other).slice(0, most);
  }
  const firstIn = (text: string): number => offsetsIn(text, 1)[0] ?? -1;

  function maybeIn(text: string): boolean {
    if (text.length <= MAX_MARKED_LENGTH && !mayHave(marksOf(text))) return false;
    const isCached = text.length <= MAX_CACHED_LENGTH;
    if (isCached && harmless.has(text)) return false;
    if (text.includes("@") && ANY_USER_INFO.test(text)) return true;
    if (!anywhere || !anywhereFolded) return false;
    if (ESCAPES.some((escape) => text.includes(escape))) return true;
    const mayBeIn = isAscii(text) ? anywhere.test(text) : anywhereFolded.test(foldName(text));
    if (isCached && !mayBeIn) {
      if (harmless.size >= MAX_CACHED) harmless.clear();
      harmless.add(copyText(text));
    }
    return mayBeIn;
  }

  return { all: everyName, has, hasTexts, firstIn, offsetsIn, maybeIn, mayHave };
}

/** Where a global pattern matches the folded text, as offsets of the text. A match may begin within the one before. */
function findOffsets(text: string, pattern: RegExp, folding: Folding, most: number): number[] {
  const folded = folding.fold(text);
  const found: number[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(folded); match && found.length < most; match = pattern.exec(folded)) {
    found.push(match.index);
    pattern.lastIndex = match.index + 1;
  }
  return unfoldedOffsets(text, found, folding);
}

/** A pattern of names as parts of a longer one: between signs, digits and changes of case. */
const partForms = (parts: readonly string[]): string =>
  parts
    .flatMap((part) => [
      `(?<![A-Za-z])${literal(part)}(?![a-z])`,
      `${literal(part.slice(0, 1).toUpperCase() + part.slice(1))}(?![a-z])`,
      `(?<![A-Z])${literal(part.toUpperCase())}(?![a-z]|[A-Z](?![a-z]))`,
    ])
    .join("|");

/**
 * A pattern of names that a value can follow, for folded text: before `:`, `=` and `>` (also quoted or escaped), before a
 * quotation mark, as in the `name="…"` of a multipart part, and there also without quotation marks.
 */
function namePattern(
  names: ReadonlyMap<string, Place>,
  others: readonly string[],
  otherWords: readonly string[],
): RegExp | undefined {
  if (names.size === 0) return undefined;
  const any = [...names]
    .map(([name, place]) => literal(name) + (place === "anywhere" ? WORD_ENDS : ""))
    .join("|");
  const signs = `["'\\\\:=>]`;
  const none = [...others.map((name) => literal(name) + signs), ...otherWords.map(literal)].join("|");
  const unless = none === "" ? "" : `(?!${none})`;
  // `name*=utf-8''root%5Fpass` (RFC 8187).
  return new RegExp(
    `${unless}(?:${any})${signs}|name(?:=|\\*=[a-z0-9]{0,20}'[a-z0-9]{0,20}')(?:${any})`,
    "g",
  );
}

/** Ends a name that counts as a part: no small letter follows it. */
const END_OF_PART = "\0";

/**
 * A pattern of all names, for ASCII text. Common starts of names are in it once, so that it reads each letter once.
 * Between letters it allows the characters that a spelling may have there.
 */
function anyName(names: readonly FoldedName[]): RegExp | undefined {
  const ends = names.map(({ name, place }) => (place === "part" ? name + END_OF_PART : name));
  return ends.length === 0 ? undefined : new RegExp(beginnings(ends), "u");
}

function beginnings(names: readonly string[]): string {
  // A name that ends here matches, whatever follows.
  if (names.includes("")) return "";
  const letters = new Set(names.map(([letter = ""]) => letter));
  const branches = [...letters].map((letter) => {
    if (letter === END_OF_PART) return "(?![a-z])";
    const rest = beginnings(names.filter((name) => name.startsWith(letter)).map((name) => name.slice(1)));
    const either = /[a-z]/.test(letter) ? `[${letter}${letter.toUpperCase()}]` : literally(letter);
    return rest === "" ? either : `${either}${BETWEEN}${rest}`;
  });
  return `(?:${branches.join("|")})`;
}

function literally(letter: string): string {
  return /[A-Za-z0-9]/.test(letter) ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const literal = (name: string): string => name.split("").map(literally).join("");
