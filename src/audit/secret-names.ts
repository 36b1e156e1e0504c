import { foldName, isAscii, unfoldedOffset } from "./fold-name.ts";
import { copyText } from "./truncate.ts";

/** A name as `foldName` has it. */
export interface FoldedName {
  readonly name: string;
  /** Whether it counts within longer names, too. */
  readonly isWord: boolean;
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

/**
 * Compiles the names of secret members.
 *
 * @param all As the pack spells them, e.g. `["root_pass", "card_number"]`. A name between asterisks is also secret within
 *   longer names: `*password*` matches `new_password`. `!token_type` is an exception. `tokens[]`: texts in such a list are
 *   secret, and objects are searched.
 */
export function secretNames(all: readonly string[]): SecretNames {
  const names = all.filter((name) => !name.startsWith("!") && !name.endsWith("[]"));
  const lists = new Set(all.filter((name) => name.endsWith("[]")).map((name) => foldName(name.slice(0, -2))));
  const others = new Set(all.filter((name) => name.startsWith("!")).map((name) => foldName(name.slice(1))));
  const folded = names.map((name) => foldName(name.replaceAll("*", ""))).filter((name) => name !== "");
  const words = names
    .filter((name) => name.startsWith("*"))
    .map((name) => foldName(name.replaceAll("*", "")));
  const plain = new Set(folded);
  const cache = new Map<string, Kind>();
  /** Texts without a secret name: paths and user agents are the same in many requests. */
  const harmless = new Set<string>();
  const pattern = namePattern(plain, new Set(words), [...lists, ...others]);
  const anywhere = anyName(new Set([...plain, ...lists]));
  const letters = [...new Set([...plain, ...lists].map((name) => marksOf(name) & LETTERS))];
  // A name that has all letters of another one needs no check.
  const fewest = letters.filter(
    (some) => !letters.some((other) => other !== some && (other & some) === other),
  );

  function mayHave(marks: number): boolean {
    if ((marks & HIDING) !== 0) return true;
    for (const name of fewest) if ((marks & name) === name) return true;
    return false;
  }

  const isSecret = (name: string): boolean =>
    plain.has(name) || (words.some((word) => name.includes(word)) && !others.has(name) && !lists.has(name));

  /** `server[root_pass]` and `server.root_pass` name the same member. Signs of a query may be escaped in a name. */
  const isSecretPath = (name: string): boolean =>
    isSecret(foldName(name)) ||
    (NAME_PARTS.test(name) && name.split(NAME_PARTS).some((part) => isSecret(foldName(part))));

  function kindOf(name: string): Kind {
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

  function firstIn(text: string): number {
    if (!pattern) return -1;
    // A tab separates a name from its value, or is one of the invisible characters within a name.
    const places = (text.includes("\t") ? [text, text.replaceAll("\t", "=")] : [text])
      .map((each) => [each, foldName(each).search(pattern)] as const)
      .filter(([, at]) => at !== -1)
      .map(([each, at]) => unfoldedOffset(each, at));
    return places.length === 0 ? -1 : Math.min(...places);
  }

  function maybeIn(text: string): boolean {
    if (text.length <= MAX_MARKED_LENGTH && !mayHave(marksOf(text))) return false;
    const isCached = text.length <= MAX_CACHED_LENGTH;
    if (isCached && harmless.has(text)) return false;
    if (text.includes("@") && ANY_USER_INFO.test(text)) return true;
    if (!anywhere) return false;
    if (ESCAPES.some((escape) => text.includes(escape))) return true;
    const mayBeIn = anywhere.test(isAscii(text) ? text : foldName(text));
    if (isCached && !mayBeIn) {
      if (harmless.size >= MAX_CACHED) harmless.clear();
      harmless.add(copyText(text));
    }
    return mayBeIn;
  }

  const everyName = [...plain, ...lists].map((name) => ({ name, isWord: words.includes(name) }));
  return { all: everyName, has, hasTexts, firstIn, maybeIn, mayHave };
}

/**
 * A pattern of names that a value can follow, for folded text: before `:`, `=` and `>` (also quoted or escaped), before a
 * quotation mark, as in the `name="…"` of a multipart part, and there also without quotation marks.
 */
function namePattern(
  names: ReadonlySet<string>,
  words: ReadonlySet<string>,
  others: readonly string[],
): RegExp | undefined {
  if (names.size === 0) return undefined;
  const any = [...names]
    .map((name) => name.split("").map(literally).join("") + (words.has(name) ? WORD_ENDS : ""))
    .join("|");
  const signs = `["'\\\\:=>]`;
  const none = others.map((name) => name.split("").map(literally).join("")).join("|");
  const unless = none === "" ? "" : `(?!(?:${none})${signs})`;
  // `name*=utf-8''root%5Fpass` (RFC 8187).
  return new RegExp(`${unless}(?:${any})${signs}|name(?:=|\\*=[a-z0-9]{0,20}'[a-z0-9]{0,20}')(?:${any})`);
}

/**
 * A pattern of all names, for ASCII text. Common starts of names are in it once, so that it reads each letter once.
 * Between letters it allows the characters that a spelling may have there.
 */
function anyName(names: ReadonlySet<string>): RegExp | undefined {
  return names.size === 0 ? undefined : new RegExp(beginnings([...names]), "iu");
}

function beginnings(names: readonly string[]): string {
  // A name that ends here matches, whatever follows.
  if (names.includes("")) return "";
  const letters = new Set(names.map(([letter = ""]) => letter));
  const branches = [...letters].map((letter) => {
    const rest = beginnings(names.filter((name) => name.startsWith(letter)).map((name) => name.slice(1)));
    return rest === "" ? literally(letter) : `${literally(letter)}${BETWEEN}${rest}`;
  });
  return `(?:${branches.join("|")})`;
}

function literally(letter: string): string {
  return /[a-z0-9]/.test(letter) ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
