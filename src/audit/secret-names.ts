/** Which member names hold secrets, and where such names stand in text that cannot be read as anything. */
export interface SecretNames {
  /** Whether a member of this name is a secret, however it is spelt (`foldName`). */
  readonly has: (name: string) => boolean;
  /** Whether texts under this name are secret, alone or in a list, but neither objects nor numbers. */
  readonly hasTexts: (name: string) => boolean;
  /** Where the first secret name with something behind it stands in the text, or -1. */
  readonly firstIn: (text: string) => number;
  /**
   * Whether a secret could stand anywhere in the text, under a name or as the user info of a URL, as it is or
   * escaped. Quick, and never wrongly false.
   */
  readonly maybeIn: (text: string) => boolean;
  /** Whether a text with these marks (`marksOf`) could hold a secret name or user info. Quick, and never wrongly false. */
  readonly mayHold: (marks: number) => boolean;
}

/** Marks of a text: a bit for each letter in it, of either case. */
const LETTERS = 0x3ffffff;
/** Something that may set off a name from its value. */
export const SIGN = 1 << 26;
/** Something behind which letters or user info may hide: escapes, `@`, and all that is not ASCII. */
export const HIDING = 1 << 27;

/** The mark of each byte of a text in UTF-8. */
export const MARKS = Int32Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (code > 0x7f || "%\\@".includes(character)) return HIDING;
  if (/[a-z]/i.test(character)) return 1 << ((code & 0x1f) - 1);
  return "=:>\"'\t".includes(character) ? SIGN : 0;
});

/** What stands in a text, whatever the order. */
function marksOf(text: string): number {
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) marks |= MARKS[text.charCodeAt(at)] ?? HIDING;
  return marks;
}

/** Names seen before, so that a list of records costs one look-up for each name. */
type Kind = "secret" | "texts" | "none";
const REMEMBERED = 4096;
const LONGEST = 128;
/** The letters of a longer text are likely to have all of some name among them. */
const SHORT = 256;

/** What letters of a name can be hidden behind: percent-encoding, and JSON's escapes at any depth. */
const ESCAPES = ["%", "\\"];

/** What may stand between the letters of a name without being seen as a part of it; `+` is a blank in forms. */
const UNSEEN = /[\p{DI}\p{C}\p{Z}\p{M}\p{Pc}\p{Pd}\s+\u2800]/gu;
const UNSEEN_ASCII = /[-_+\s\p{Cc}]+/gu;
const BETWEEN = "[\\x00-\\x20+_\\x7f-]*";

/** Characters that stand for whole words: NFKD makes up to 18 of one, and no name is spelt with them. */
const LIGATURES = /[\ufdf0-\ufdff\u3300-\u33ff]/g;

/** Quicker than any look at the characters. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** User info of a URL (RFC 3986, 3.2.1), also where its slashes are escaped. A run of slashes is looked at once. */
export const USER_INFO = /(?<![\\/])([\\/]{2,})([^\\/?#\s]*)@/g;
const ANY_USER_INFO = new RegExp(USER_INFO.source);

/** How much may stand behind a word in a name before the sign that a value follows. */
const WORD_ENDS = "[a-z0-9]{0,24}";

/**
 * @param names As the pack spells them, e.g. `["root_pass", "card_number"]`. One between asterisks counts within longer
 *   names as well: `*password*` is in `new_password`. `!token_type`: this one does not. `tokens[]`: texts in such a
 *   list do, and objects are looked through.
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
  const seen = new Map<string, Kind>();
  const pattern = namePattern(plain, new Set(words), [...lists, ...others]);
  const anywhere = anyName(new Set([...plain, ...lists]));
  const letters = [...new Set([...plain, ...lists].map((name) => marksOf(name) & LETTERS))];
  // Of two names the one whose letters are all in the other is enough.
  const fewest = letters.filter(
    (some) => !letters.some((other) => other !== some && (other & some) === other),
  );

  function mayHold(marks: number): boolean {
    if ((marks & HIDING) !== 0) return true;
    for (const name of fewest) if ((marks & name) === name) return true;
    return false;
  }

  const isSecret = (name: string): boolean =>
    plain.has(name) || (words.some((word) => name.includes(word)) && !others.has(name) && !lists.has(name));

  /** `server[root_pass]` and `server.root_pass` name the same member. */
  const isSecretPath = (name: string): boolean =>
    isSecret(foldName(name)) ||
    (/[[\]./]/.test(name) && name.split(/[[\]./]/).some((part) => isSecret(foldName(part))));

  function kindOf(name: string): Kind {
    const known = seen.get(name);
    if (known !== undefined) return known;
    const otherwise = lists.has(foldName(name)) ? "texts" : "none";
    const kind = isSecretPath(name) ? "secret" : otherwise;
    // Clients choose names: neither their number nor their length may grow the memory.
    if (seen.size >= REMEMBERED) seen.clear();
    if (name.length <= LONGEST) seen.set(name, kind);
    return kind;
  }

  const has = (name: string): boolean => kindOf(name) === "secret";
  const hasTexts = (name: string): boolean => kindOf(name) === "texts";

  function firstIn(text: string): number {
    if (!pattern) return -1;
    // A tab separates a name from its value, or is one of the signs that nobody sees.
    const places = (text.includes("\t") ? [text, text.replaceAll("\t", "=")] : [text])
      .map((each) => [each, foldName(each).search(pattern)] as const)
      .filter(([, at]) => at !== -1)
      .map(([each, at]) => unfolded(each, at));
    return places.length === 0 ? -1 : Math.min(...places);
  }

  function maybeIn(text: string): boolean {
    if (text.length <= SHORT && !mayHold(marksOf(text))) return false;
    if (text.includes("@") && ANY_USER_INFO.test(text)) return true;
    if (!anywhere) return false;
    if (ESCAPES.some((escape) => text.includes(escape))) return true;
    return anywhere.test(isAscii(text) ? text : foldName(text));
  }

  return { has, hasTexts, firstIn, maybeIn, mayHold };
}

/**
 * A name without what makes two spellings of it differ: case, width and other forms of compatibility (Unicode's NFKD),
 * accents, separators, characters that nobody sees, and letters of other alphabets that look like Latin ones.
 */
function foldName(name: string): string {
  if (isAscii(name)) return name.toLowerCase().replaceAll(UNSEEN_ASCII, "");
  return name
    .replaceAll(LIGATURES, "")
    .normalize("NFKD")
    .replaceAll(UNSEEN, "")
    .replaceAll(FOREIGN, (letter) => LOOKS_LIKE.get(letter) ?? letter)
    .toLowerCase();
}

/** Cyrillic and Greek letters, and a few more, by the Latin letter that they look like (Unicode TR 39, confusables). */
const LOOKS_LIKE = new Map(
  [
    ["авсԁеһіјкӏмпорԛгѕтүхуԝ", "abcdehijklmnopqrstyxyw"],
    ["АВСԀЕНІЈКМОРԚЅТХУҮԜ", "abcdehijkmopqstxyyw"],
    ["αβϲεηικνορτυχγω", "abcenikvoptuxyw"],
    ["ΑΒϹΕΗΙΚΜΝΟΡΤΥΧΖ", "abcehikmnoptyxz"],
    ["ıɑɡɩøđł", "iagiodl"],
  ].flatMap(([from = "", to = ""]) =>
    Array.from(from).map((letter, index) => [letter, to[index] ?? ""] as const),
  ),
);
const FOREIGN = /[\u0111\u0131\u0142\u00f8\u0251\u0261\u0269\u0370-\u052f]/g;

/** Where in a text the character stands that is the one at this place of the folded text. */
function unfolded(text: string, place: number): number {
  let before = 0;
  let at = 0;
  for (const character of text) {
    before += foldName(character).length;
    if (before > place) return at;
    at += character.length;
  }
  return text.length;
}

/**
 * A name counts where a value can follow: before `:`, `=` and `>` (also quoted or escaped), before a quotation mark
 * alone, as in the `name="…"` of a multipart part, and there without quotation marks as well. Of folded text.
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
 * All names in one pattern that looks at each letter once: what they begin with alike stands in it once. Between
 * letters stand the signs that a spelling may have there. Of ASCII.
 */
function anyName(names: ReadonlySet<string>): RegExp | undefined {
  return names.size === 0 ? undefined : new RegExp(beginnings([...names]), "iu");
}

function beginnings(names: readonly string[]): string {
  // A name that ends here is found, whatever follows.
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
