import { LRUCache } from "lru-cache";
import { copyText } from "../record/truncate.ts";
import { MAX_NAME_LENGTH } from "./escapes.ts";
import { foldName } from "./fold-name.ts";
import { AT_END, type NameRule, readRule, rulePattern } from "./name-rules.ts";
import { NameScanner } from "./name-scanner.ts";
import { mayHaveUser } from "./find-users.ts";

/**
 * The kind of a name: its value is secret; secret only if it is a text or a list with texts; secret only if a sibling
 * text is a secret name, as in `{"key":"password","value":"…"}`; or not secret.
 */
export type NameKind = "secret" | "texts" | "value" | "none";

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

/** The names of members with secret values, in any spelling. */
export class SecretNames {
  readonly all: readonly NameRule[];
  readonly #scanner: NameScanner;
  readonly #patterns: Readonly<Record<"alone" | "within" | "texts" | "partAtEnd" | "atEnd", RegExp>>;
  /** The names that are not secret, and contain one that is. */
  readonly #harmless: Readonly<Record<"any" | "anywhere" | "atEnd", RegExp>>;
  readonly #cache = new LRUCache<string, NameKind>({ max: MAX_CACHED });

  constructor(written: readonly string[]) {
    const rules = written.map(readRule).filter(({ name }) => /[a-z\d]/.test(name));
    const rulesOf = (kind: NameRule["kind"], ...places: NameRule["place"][]): readonly NameRule[] =>
      rules.filter((rule) => rule.kind === kind && places.includes(rule.place));
    this.all = rules.filter(({ kind }) => kind !== "harmless");
    this.#scanner = new NameScanner(this.all);
    const texts = rulesOf("texts", "alone");
    this.#patterns = {
      alone: rulePattern(rulesOf("secret", "alone")),
      within: rulePattern(rulesOf("secret", "part", "anywhere")),
      texts: rulePattern(texts),
      partAtEnd: rulePattern(rulesOf("secret", "part"), "", AT_END),
      atEnd: rulePattern(rulesOf("secret", "alone", "anywhere"), "", AT_END),
    };
    // A list of texts is not secret as a whole, whatever words are in its name: `tokens[]` is an exception from `*token*`.
    const alone = [...rulesOf("harmless", "alone"), ...texts];
    const anywhere = rulesOf("harmless", "anywhere");
    this.#harmless = {
      any: rulePattern([...alone, ...anywhere], "g"),
      anywhere: rulePattern(anywhere, "g"),
      atEnd: rulePattern(alone, "", AT_END),
    };
  }

  /** Whether a text may contain a secret: a name and a value, or a user of a URL. It is fast, and has no false negatives. */
  readonly maybeIn = (text: string): boolean => this.#scanner.finds(text) || mayHaveUser(text);

  /** Does the same for a text in UTF-8. */
  maybeInBytes({ buffer, byteOffset, length }: Uint8Array): boolean {
    return this.maybeIn(Buffer.from(buffer, byteOffset, length).toString("latin1"));
  }

  /** Whether the values of a name are secret. For some names, only texts are. */
  readonly has = (name: string): boolean => ["secret", "texts"].includes(this.kindOf(name));

  /** Returns the kind of a name, in any spelling (`foldName`). */
  kindOf(name: string): NameKind {
    if (name.length > MAX_NAME_LENGTH) return this.maybeIn(name) ? "secret" : "none";
    const cached = this.#cache.get(name);
    if (cached !== undefined) return cached;
    const kind = this.#readKind(foldName(name));
    if (name.length <= MAX_CACHED_LENGTH) this.#cache.set(copyText(name), kind);
    return kind;
  }

  #readKind(path: string): NameKind {
    const { alone, within, texts } = this.#patterns;
    // A dot is instead of each harmless name, so that the words beside it are not joined.
    if (alone.test(path) || within.test(path.replaceAll(this.#harmless.any, "."))) return "secret";
    if (texts.test(path)) return "texts";
    return VALUE_NAME.test(path) ? "value" : "none";
  }

  /**
   * Returns the kinds of the names in an object or a form, in which a text of another member, or in a list of it, may be
   * the name of a value.
   */
  among(members: Iterable<readonly [name: string, text: unknown]>): (name: string) => NameKind {
    let areValuesSecret: boolean | undefined;
    return (name) => {
      const kind = this.kindOf(name);
      if (kind !== "value") return kind;
      areValuesSecret ??= Iterator.from(members).some(
        ([other, text]) => this.kindOf(other) !== "value" && [text].flat().some((each) => this.#isName(each)),
      );
      return areValuesSecret ? "secret" : "none";
    };
  }

  /** Whether a text is a secret name or a path of names, as in JSON Patch (`/user/password`) or SCIM (`user.password`). */
  #isName(text: unknown): boolean {
    if (typeof text !== "string") return false;
    const path = text.slice(-MAX_PATH_LENGTH);
    return this.maybeIn(`${path}:`) && this.has(path);
  }

  /** Whether a text ends with a secret name before a separator, such as `the new password` before `: x`. */
  readonly endText = (text: string): boolean => {
    const words = foldName(text).replaceAll(this.#harmless.anywhere, ".");
    // After a harmless name or a list, the preceding words are irrelevant: `secret_ticket`.
    const rest = words.replace(this.#harmless.atEnd, ".");
    return this.#patterns.partAtEnd.test(words) || this.#patterns.atEnd.test(rest);
  };
}

/** Compiled names, by their spellings. Records, traces and comparisons share them, and so does a pack that is read again. */
const compiled = new LRUCache<string, SecretNames>({ max: 4 });

/** Compiles the names of secret members. @param all As the pack spells them, e.g. `["root_pass", "*password*"]` (`readRule`) */
export function secretNames(all: readonly string[]): SecretNames {
  const key = JSON.stringify(all);
  const names = compiled.get(key) ?? new SecretNames(all);
  compiled.set(key, names);
  return names;
}
