import { copyText } from "../record/truncate.ts";
import { MAX_NAME_LENGTH } from "./escapes.ts";
import { type FoldedName, joinWords, wordsOf } from "./fold-name.ts";
import { NameScanner } from "./name-scanner.ts";

/**
 * The kind of a name: its value is secret, or only if it is a text or a list with texts, or if a text beside it is a
 * secret name, as in `{"key":"password","value":"…"}`.
 */
export type NameKind = "secret" | "texts" | "value" | "none";

/** The names of members that have secret values, in any spelling. */
export interface SecretNames {
  readonly all: readonly FoldedName[];
  /** The kind of a name, in any spelling (`wordsOf`). */
  readonly kindOf: (name: string) => NameKind;
  /** Whether the values of a name are secret. For some names only texts are. */
  readonly has: (name: string) => boolean;
  /**
   * Whether one of the texts of an object or a form, or of a list in it, is a secret name. Such a text is a name or a
   * path of names, as in JSON Patch (`/user/password`) or SCIM (`user.password`).
   */
  readonly hasIn: (members: Iterable<readonly [name: string, text: unknown]>) => boolean;
  /** Whether a text ends with a secret name before a separator, such as `the new password` before `: x`. */
  readonly endText: (text: string) => boolean;
  /**
   * Whether a text may contain a secret: a name with something after it, or the user info of a URL. It is fast, and
   * never misses one.
   */
  readonly maybeIn: (text: string) => boolean;
  /** The same for a text in UTF-8. */
  readonly maybeInBytes: (bytes: Uint8Array) => boolean;
}

/** User info of a URL (RFC 3986, 3.2.1), also if its slashes are escaped. A run of slashes is scanned once. */
export const USER_INFO = /(?<![\\/])([\\/]{2,})([^\\/?#\s]*)@/g;
const ANY_USER_INFO = new RegExp(USER_INFO.source);

/**
 * The user and the password in an option of curl: `--user admin:X`. Two numbers are a user id and a group id of other
 * programs.
 */
export const USER_OPTION =
  /((?<![\w-])(?:-u|--(?:proxy-)?user)(?:\s{1,16}|=)["']?)(?!\d{1,6}:\d{1,6}(?!\S))([^\s"':]{0,64}:[^\s"']+)/gi;
const ANY_USER_OPTION = new RegExp(USER_OPTION.source, "i");

const hasUserOption = (text: string): boolean =>
  (text.includes("-u") || text.includes("-U")) && ANY_USER_OPTION.test(text);

/** Whether a text in UTF-8 contains the user info of a URL, or such an option. */
function hasUser(bytes: Buffer): boolean {
  if (!bytes.includes("@") && !bytes.includes("-u") && !bytes.includes("-U")) return false;
  const text = bytes.toString("latin1");
  return ANY_USER_INFO.test(text) || hasUserOption(text);
}

/**
 * `value`, also as the last word of a longer name (`newValue`, `value2`), and as a part of a path of names
 * (`filter[0][value]`, `value[]`). The pattern is applied to the words of a name.
 */
const VALUE_NAME = /(?:^|[._])\d*values?_?\d*_?(?:$|\.)/;
/** The number of characters at the end of a text that are read as a name or as a path of names. */
const MAX_PATH_LENGTH = 256;

/**
 * Names of earlier members are cached, because the rows of a list repeat them. Clients choose names, so the cache is
 * bounded.
 */
const MAX_CACHED = 4096;
const MAX_CACHED_LENGTH = 128;

/** The rules of a pack about secret names. */
interface ReadNames {
  /** All secret names, including those of which only texts are secret. */
  readonly everyName: readonly FoldedName[];
  /** Each secret name, with the widest of its places. */
  readonly places: ReadonlyMap<string, FoldedName["place"]>;
  /** Names of which only texts are secret. */
  readonly lists: ReadonlySet<string>;
  /** Names that contain a secret word, and are not secret. */
  readonly others: ReadonlySet<string>;
  /** Words that contain a secret word, and are not secret, with `_` between their parts. */
  readonly otherWords: readonly string[];
}

function readNames(all: readonly string[]): ReadNames {
  const places = new Map<string, FoldedName["place"]>();
  const lists = new Set<string>();
  const others = new Set<string>();
  const otherWords: string[] = [];
  for (const written of all) {
    const words = wordsOf(written.replace(/^!/, "").replaceAll("*", "").replace(/\[\]$/, ""));
    const name = joinWords(words);
    if (written.startsWith("!*")) otherWords.push(words);
    else if (written.startsWith("!")) others.add(name);
    else if (written.endsWith("[]")) lists.add(name);
    else if (name !== "") {
      const place = written.startsWith("*") ? "anywhere" : /^_.*_$/.test(written) ? "part" : "alone";
      const before = places.get(name) ?? "alone";
      places.set(name, place === "alone" || before === "anywhere" ? before : place);
    }
  }
  const everyName: readonly FoldedName[] = [
    ...[...places].map(([name, place]) => ({ name, place })),
    ...[...lists].filter((name) => !places.has(name)).map((name) => ({ name, place: "alone" as const })),
  ];
  return { everyName, places, lists, others, otherWords };
}

/** The pattern of any of these names, within others. It matches nothing without names. */
const anyOf = (names: readonly string[], before: string, after: string): RegExp =>
  new RegExp(
    names.length === 0
      ? "(?!)"
      : `${before}(?:${names.map((name) => RegExp.escape(name)).join("|")})${after}`,
  );

/** The compiled names of each pack. Its records, traces and comparisons share them. */
const compiled = new WeakMap<readonly string[], SecretNames>();

/**
 * Compiles the names of secret members.
 *
 * @param all As the pack spells them, e.g. `["root_pass", "card_number"]`. A name between asterisks is also secret within
 *   longer names: `*password*` matches `new_password`. A name between underscores is also secret as a part of a longer name:
 *   `_pin_` matches `card_pin` and `pinCode`, but not `spin`. `!token_type` and `!*secretar*` are exceptions from both.
 *   `tokens[]`: texts in such a list are secret, and objects are searched.
 */
export function secretNames(all: readonly string[]): SecretNames {
  const known = compiled.get(all);
  if (known) return known;
  const names = compileNames(all);
  compiled.set(all, names);
  return names;
}

function compileNames(all: readonly string[]): SecretNames {
  const { everyName, places, lists, others, otherWords } = readNames(all);
  const scanner = new NameScanner(everyName);
  const at = (place: FoldedName["place"]): string[] =>
    [...places].flatMap(([name, where]) => (where === place ? [name] : []));
  const [words, parts] = [anyOf(at("anywhere"), "", ""), anyOf(at("part"), "(?<![a-z])", "(?![a-z])")];
  /** The characters that may follow a name, before the sign that separates it from its value. */
  const ends = [anyOf(at("anywhere"), "", "[a-z\\d.]{0,24}$"), anyOf(at("alone"), "", "\\.?$")];
  const partEnd = anyOf(at("part"), "(?<![a-z])", "(?![a-z])[a-z\\d_.]{0,24}$");
  const everywhere = (names: readonly string[]): RegExp => new RegExp(anyOf(names, "", "").source, "g");
  const [exceptions, exceptionWords] = [everywhere(otherWords.map(joinWords)), everywhere(otherWords)];
  const otherEnd = anyOf([...others, ...lists], "", "\\.?$");
  const cache = new Map<string, NameKind>();

  function isSecret(words_: string): boolean {
    const name = joinWords(words_);
    if (places.get(name) === "alone") return true;
    if (others.has(name) || lists.has(name)) return false;
    return (
      places.has(name) ||
      words.test(name.replaceAll(exceptions, " ")) ||
      parts.test(words_.replaceAll(exceptionWords, "."))
    );
  }

  function kindOf(name: string): NameKind {
    if (name.length > MAX_NAME_LENGTH) return maybeIn(name) ? "secret" : "none";
    const cached = cache.get(name);
    if (cached !== undefined) return cached;
    const path = wordsOf(name);
    const names = path.split(".");
    const isList = names.some((each) => lists.has(joinWords(each)));
    const isPath = names.length > 1 && places.has(joinWords(path));
    const others = VALUE_NAME.test(path) ? "value" : "none";
    const kind = isPath || names.some(isSecret) ? "secret" : isList ? "texts" : others;
    if (cache.size >= MAX_CACHED) cache.clear();
    if (name.length <= MAX_CACHED_LENGTH) cache.set(copyText(name), kind);
    return kind;
  }

  const has = (name: string): boolean => kindOf(name) === "secret" || kindOf(name) === "texts";

  function hasIn(members: Iterable<readonly [string, unknown]>): boolean {
    for (const [name, text] of members)
      if (kindOf(name) !== "value" && (Array.isArray(text) ? text.some(isNameText) : isNameText(text)))
        return true;
    return false;
  }

  function isNameText(text: unknown): boolean {
    if (typeof text !== "string") return false;
    const path = text.slice(-MAX_PATH_LENGTH);
    return maybeIn(`${path}:`) && has(path);
  }

  function endText(text: string): boolean {
    const path = wordsOf(text);
    if (partEnd.test(path.replaceAll(exceptionWords, "."))) return true;
    // A harmless name, or a list, cancels the secret words before it: `secret_ticket`.
    const name = joinWords(path).replaceAll(exceptions, " ").replace(otherEnd, "");
    return ends.some((end) => end.test(name));
  }

  const maybeIn = (text: string): boolean =>
    scanner.inText(text) || (text.includes("@") && ANY_USER_INFO.test(text)) || hasUserOption(text);

  return {
    all: everyName,
    kindOf,
    has,
    hasIn,
    endText,
    maybeIn,
    maybeInBytes: (bytes) =>
      scanner.inBytes(bytes) || hasUser(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
  };
}
