import { LRUCache } from "lru-cache";
import { copyText } from "../record/truncate.ts";
import { MAX_NAME_LENGTH } from "./escapes.ts";
import { foldName } from "./fold-name.ts";
import { AT_END, type NameRule, readRule, rulePattern } from "./name-rules.ts";
import { NameScanner } from "./name-scanner.ts";

/**
 * The kind of a name: its value is secret; secret only if it is a text or a list with texts; secret only if a sibling
 * text is a secret name, as in `{"key":"password","value":"…"}`; or not secret.
 */
export type NameKind = "secret" | "texts" | "value" | "none";

/** The names of members with secret values, in any spelling. */
export interface SecretNames {
  readonly all: readonly NameRule[];
  /** The kind of a name, in any spelling (`foldName`). */
  readonly kindOf: (name: string) => NameKind;
  /** Whether the values of a name are secret. For some names, only texts are. */
  readonly has: (name: string) => boolean;
  /**
   * Whether a text in an object or a form, or in a list that it contains, is a secret name. Such a text is a name or a
   * path of names, as in JSON Patch (`/user/password`) or SCIM (`user.password`).
   */
  readonly hasIn: (members: Iterable<readonly [name: string, text: unknown]>) => boolean;
  /** Whether a text ends with a secret name before a separator, such as `the new password` before `: x`. */
  readonly endText: (text: string) => boolean;
  /**
   * Whether a text may contain a secret: a name followed by a value, or the user info of a URL. It is fast, and has no
   * false negatives.
   */
  readonly maybeIn: (text: string) => boolean;
  /** Does the same for a text in UTF-8. */
  readonly maybeInBytes: (bytes: Uint8Array) => boolean;
}

/** Matches the user info of a URL (RFC 3986, 3.2.1), even if its slashes are escaped. A run of slashes is scanned once. */
export const USER_INFO = /(?<![\\/])([\\/]{2,})([^\\/?#\s]*)@/g;
const ANY_USER_INFO = new RegExp(USER_INFO.source);

/**
 * Matches the user and the password in an option of curl: `--user admin:X`. Two numbers are a user id and a group id of
 * other programs.
 */
export const USER_OPTION =
  /((?<![\w-])(?:-u|--(?:proxy-)?user)(?:\s{1,16}|=)["']?)(?!\d{1,6}:\d{1,6}(?!\S))([^\s"':]{0,64}:[^\s"']+)/gi;
const ANY_USER_OPTION = new RegExp(USER_OPTION.source, "i");

const mayHaveUser = (text: string): boolean =>
  (text.includes("@") && ANY_USER_INFO.test(text)) ||
  ((text.includes("-u") || text.includes("-U")) && ANY_USER_OPTION.test(text));

/**
 * Matches `value`, even as the last word of a longer name (`newValue`, `value2`), and as a part of a path of names
 * (`filter[0][value]`, `value[]`). The pattern is applied to the words of a name.
 */
const VALUE_NAME = /(?:^|[._])\d*values?_?\d*_?(?:$|\.)/;
/** Number of characters at the end of a text that are read as a name or as a path of names. */
const MAX_PATH_LENGTH = 256;

/**
 * Maximum number of cached names. Earlier names are cached, because the rows of a list repeat them. Clients choose
 * names, so the cache is limited.
 */
const MAX_CACHED = 4096;
const MAX_CACHED_LENGTH = 128;

/** The compiled names of each pack. Records, traces and comparisons of the pack share them. */
const compiled = new WeakMap<readonly string[], SecretNames>();

/** Compiles the names of secret members. @param all As the pack spells them, e.g. `["root_pass", "*password*"]` (`readRule`) */
export function secretNames(all: readonly string[]): SecretNames {
  const known = compiled.get(all);
  if (known) return known;
  const names = compileNames(all);
  compiled.set(all, names);
  return names;
}

function compileNames(written: readonly string[]): SecretNames {
  const rules = written.map(readRule).filter(({ name }) => /[a-z\d]/.test(name));
  const rulesOf = (kind: NameRule["kind"], ...places: NameRule["place"][]): readonly NameRule[] =>
    rules.filter((rule) => rule.kind === kind && places.includes(rule.place));
  const all = rules.filter(({ kind }) => kind !== "harmless");
  const scanner = new NameScanner(all);

  const texts = rulesOf("texts", "alone");
  // A list of texts is not secret as a whole, whatever words are in its name: `tokens[]` is an exception from `*token*`.
  const harmlessAlone = [...rulesOf("harmless", "alone"), ...texts];
  const harmlessAnywhere = rulesOf("harmless", "anywhere");
  const patterns = {
    alone: rulePattern(rulesOf("secret", "alone")),
    within: rulePattern(rulesOf("secret", "part", "anywhere")),
    texts: rulePattern(texts),
    harmless: rulePattern([...harmlessAlone, ...harmlessAnywhere], "g"),
    harmlessAnywhere: rulePattern(harmlessAnywhere, "g"),
    harmlessAtEnd: rulePattern(harmlessAlone, "", AT_END),
    partAtEnd: rulePattern(rulesOf("secret", "part"), "", AT_END),
    atEnd: rulePattern(rulesOf("secret", "alone", "anywhere"), "", AT_END),
  };
  const cache = new LRUCache<string, NameKind>({ max: MAX_CACHED });

  /** A dot is instead of each harmless name, so that the words beside it are not joined. */
  const withoutHarmless = (words: string, harmless: RegExp): string => words.replaceAll(harmless, ".");

  function readKind(path: string): NameKind {
    if (patterns.alone.test(path) || patterns.within.test(withoutHarmless(path, patterns.harmless)))
      return "secret";
    if (patterns.texts.test(path)) return "texts";
    return VALUE_NAME.test(path) ? "value" : "none";
  }

  function kindOf(name: string): NameKind {
    if (name.length > MAX_NAME_LENGTH) return maybeIn(name) ? "secret" : "none";
    const cached = cache.get(name);
    if (cached !== undefined) return cached;
    const kind = readKind(foldName(name));
    if (name.length <= MAX_CACHED_LENGTH) cache.set(copyText(name), kind);
    return kind;
  }

  const has = (name: string): boolean => kindOf(name) === "secret" || kindOf(name) === "texts";

  function isNameText(text: unknown): boolean {
    if (typeof text !== "string") return false;
    const path = text.slice(-MAX_PATH_LENGTH);
    return maybeIn(`${path}:`) && has(path);
  }

  function hasIn(members: Iterable<readonly [string, unknown]>): boolean {
    for (const [name, text] of members)
      if (kindOf(name) !== "value" && (Array.isArray(text) ? text.some(isNameText) : isNameText(text)))
        return true;
    return false;
  }

  function endText(text: string): boolean {
    const words = withoutHarmless(foldName(text), patterns.harmlessAnywhere);
    // After a harmless name or a list, the preceding words are irrelevant: `secret_ticket`.
    return patterns.partAtEnd.test(words) || patterns.atEnd.test(words.replace(patterns.harmlessAtEnd, "."));
  }

  const maybeIn = (text: string): boolean => scanner.finds(text) || mayHaveUser(text);

  return {
    all,
    kindOf,
    has,
    hasIn,
    endText,
    maybeIn,
    maybeInBytes: ({ buffer, byteOffset, length }) =>
      maybeIn(Buffer.from(buffer, byteOffset, length).toString("latin1")),
  };
}
