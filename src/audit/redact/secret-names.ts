import { LRUCache } from "lru-cache";
import { copyText } from "../record/truncate.ts";
import { MAX_NAME_LENGTH } from "./escapes.ts";
import { foldName } from "./fold-name.ts";
import { anyApplies, anyAppliesAtEnd, type NameRule, readRule, without, withoutLast } from "./name-rules.ts";
import { NameScanner, type ScannedName } from "./name-scanner.ts";

/**
 * The kind of a name: its value is secret, or only if it is a text or a list with texts, or if a text beside it is a
 * secret name, as in `{"key":"password","value":"…"}`.
 */
export type NameKind = "secret" | "texts" | "value" | "none";

/** The names of members that have secret values, in any spelling. */
export interface SecretNames {
  readonly all: readonly ScannedName[];
  /** The kind of a name, in any spelling (`foldName`). */
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

const mayHaveUser = (text: string): boolean =>
  (text.includes("@") && ANY_USER_INFO.test(text)) ||
  ((text.includes("-u") || text.includes("-U")) && ANY_USER_OPTION.test(text));

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

/** The compiled names of each pack. Its records, traces and comparisons share them. */
const compiled = new WeakMap<readonly string[], SecretNames>();

/** Compiles the names of secret members. @param all As the pack spells them (`readRule`), e.g. `["root_pass", "*password*"]` */
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

  const secretAlone = rulesOf("secret", "alone");
  const secretParts = rulesOf("secret", "part");
  const secretAnywhere = rulesOf("secret", "anywhere");
  const ofTexts = rulesOf("texts", "alone");
  const harmlessAnywhere = rulesOf("harmless", "anywhere");
  // A list of texts is not secret as a whole, whatever words are in its name: `tokens[]` is an exception from `*token*`.
  const harmlessAlone = [...rulesOf("harmless", "alone"), ...ofTexts];
  const secretWithin = [...secretParts, ...secretAnywhere];
  const harmless = [...harmlessAlone, ...harmlessAnywhere];
  const cache = new LRUCache<string, NameKind>({ max: MAX_CACHED });

  function readKind(path: string): NameKind {
    if (anyApplies(secretAlone, path) || anyApplies(secretWithin, without(harmless, path))) return "secret";
    if (anyApplies(ofTexts, path)) return "texts";
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
    const words = without(harmlessAnywhere, foldName(text));
    // A harmless name, or a list, says nothing about the words before it: `secret_ticket`.
    const before = withoutLast(harmlessAlone, words);
    return anyAppliesAtEnd(secretParts, words) || anyAppliesAtEnd([...secretAnywhere, ...secretAlone], before);
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
