/**
 * Redacts values, texts, JSON in texts and forms in texts. All steps are in one file, because they call each other and
 * share one work limit.
 */
import { isExactNumber, parseJson } from "../../base/index.ts";
import { applyEdits, type Edit, REDACTED } from "./edits.ts";
import { decodeFormText, unescapeText } from "./escapes.ts";
import { findNameInText } from "./find-names.ts";
import { countParts, looksLikePairs, redactPairs } from "./redact-pairs.ts";
import {
  decodePath,
  findDecoded,
  findInRoute,
  findValueSegments,
  isPlainSegment,
  segmentsOf,
} from "./redact-path.ts";
import { USER_INFO, USER_OPTION, type NameKind, type SecretNames } from "./secret-names.ts";
import type { SecretValues } from "./secret-values.ts";

/** Limits of JSON that is parsed for redaction, because its cost grows with the number of characters and of values. */
const MAX_JSON_LENGTH = 1024 * 1024;
const MAX_JSON_VALUES = 8000;
const MAX_DEPTH = 64;
/** Number of levels that one level of encoding counts as, because each decodes the whole text again. */
const ENCODING_DEPTH = 8;
/**
 * Maximum number of texts that look like JSON but are invalid, because each causes an exception. Further texts are not
 * parsed.
 */
const MAX_FAILURES = 16;
/** Maximum number of values of a message. Without it, a cyclic value would never end. */
const MAX_VALUES = 100_000;
/**
 * The work limit of one redaction. Each text that may contain a secret counts as a step, and so do some of its
 * characters, because they are read several times. Each part of a pair and each secret name count as several steps: a part is
 * decoded and compared with the names, and the value of a name is searched for.
 */
const MAX_STEPS = 4000;
const CHARACTERS_OF_STEP = 128;
const STEPS_OF_PART = 4;
const STEPS_OF_NAME = 4;
/** Matches a plain name, as programs use it. It needs little work. */
const PLAIN_NAME = /^[\w-]{0,128}$/;
const JSON_START = /^\s*[{["]/;

/**
 * Parses JSON if all its secrets can be found. Returns undefined for other texts, for texts above the limits, and if an
 * object contains a member twice: `JSON.parse` keeps only the last value, and other programs may read the first.
 */
export function parseWhole(text: string): { readonly value: unknown } | undefined {
  if (text.length > MAX_JSON_LENGTH) return undefined;
  try {
    return {
      value: parseJson(text, { maxDepth: Infinity, maxValues: MAX_JSON_VALUES, hasUniqueNames: true }),
    };
  } catch {
    return undefined;
  }
}

interface WalkOptions {
  readonly names: SecretNames;
  /** Only for a search: receives each value that has a secret name. The returned texts are not used. */
  readonly found?: SecretValues | undefined;
  /** Only for a redaction: values that are replaced in all texts. */
  readonly values?: SecretValues | undefined;
  /** Only for a redaction: segments that are kept in the path of a route. */
  readonly literals?: ReadonlySet<string> | undefined;
}

/** A walk over one message, for a search or for a redaction: both must find the same secrets. */
export class RedactionWalk {
  readonly #options: WalkOptions;
  readonly #names: SecretNames;
  readonly #found: SecretValues | undefined;
  #values = 0;
  #failures = 0;
  #steps = MAX_STEPS;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#names = options.names;
    this.#found = options.found;
  }

  /** Redacts a parsed value. @returns the same value if nothing has changed */
  value(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.text(value, depth);
    if (typeof value === "number" || isExactNumber(value))
      return this.#options.values?.has(JSON.stringify(value)) ? REDACTED : value;
    if (value === null || typeof value !== "object") return value;
    this.#values += 1;
    if (depth >= MAX_DEPTH || this.#values > MAX_VALUES) return this.#tooMuch();
    return Array.isArray(value)
      ? mapItems(value, (item) => this.value(item, depth + 1))
      : this.#redactMembers(value, depth + 1);
  }

  /** Redacts a whole body: JSON, or a text in a different format. */
  body(text: string): unknown {
    const parsed = parseWhole(text);
    return parsed ? this.value(parsed.value) : this.text(text);
  }

  /** Redacts a text of any format. */
  text(text: string, depth = 0): string {
    if (!this.#names.maybeIn(text)) return this.#apply(text, []);
    if (!this.#spend(stepsOf(text))) return REDACTED;
    if (!JSON_START.test(text) && looksLikePairs(text))
      return this.#apply(text, [...this.#findUserInfo(text), ...this.#redactPairs(text, depth)]);
    return this.#redactPlain(text, depth);
  }

  pairs(text: string): string {
    return this.#apply(text, this.#names.maybeIn(text) ? this.#redactPairs(text, 0) : []);
  }

  /**
   * @param isRoute Whether the path is that of a route, in which a segment after a secret name may be a literal. In any
   *   other path, the segment is a value.
   */
  path(given: string, isRoute: boolean): string {
    const decoded = decodePath(given);
    // In a path that is not a route's, a value may also follow an action.
    const edits = !isRoute || this.#names.maybeIn(given) ? this.#redactPath(given, decoded, isRoute) : [];
    const path = edits.length === 0 ? given : decoded;
    const { values, literals } = this.#options;
    if (!isRoute || !values) return this.#apply(path, edits);
    return applyEdits(path, [...edits, ...findInRoute(path, values, literals)]);
  }

  /** Applies edits to a text, and replaces the values in the rest. */
  #apply(text: string, edits: readonly Edit[]): string {
    const { values } = this.#options;
    if (edits.length === 0) return values?.redact(text) ?? text;
    return applyEdits(text, [...edits, ...(values?.findIn(text) ?? [])]);
  }

  /** Counts work. @returns false above the limit. In that case, some secrets are unknown */
  #spend(steps: number): boolean {
    this.#steps -= steps;
    if (this.#steps < 0) this.#tooMuch();
    return this.#steps >= 0;
  }

  /** Returns the replacement of a text that needs too much work. It is not recorded, and its secrets are unknown. */
  #tooMuch(): string {
    this.#found?.markIncomplete();
    return REDACTED;
  }

  #redactMembers(members: object, depth: number): object {
    let areValuesSecret: boolean | undefined;
    let isSame = true;
    const redacted: [string, unknown][] = [];
    for (const name of Object.keys(members)) {
      const value: unknown = Reflect.get(members, name);
      let kind = this.#names.kindOf(name);
      if (kind === "value" && (areValuesSecret ??= this.#names.hasIn(Object.entries(members))))
        kind = "secret";
      const newName = this.#redactName(name, depth);
      const newValue = this.#redactMember(kind, value, depth);
      isSame &&= newName === name && newValue === value;
      redacted.push([newName, newValue]);
    }
    // The members are not assigned, because `__proto__` must remain an ordinary member.
    return isSame ? members : Object.fromEntries(redacted);
  }

  /** Redacts a name, which may be JSON that contains secrets. */
  #redactName(name: string, depth: number): string {
    if (PLAIN_NAME.test(name)) return this.#apply(name, []);
    if (!this.#spend(stepsOf(name)) && this.#names.maybeIn(name)) return REDACTED;
    return JSON_START.test(name) ? this.text(name, depth) : this.#apply(name, []);
  }

  #redactMember(kind: NameKind, value: unknown, depth: number): unknown {
    if (kind === "secret") return this.#redactValue(value, depth);
    if (kind !== "texts") return this.value(value, depth);
    const redactText = (item: unknown): unknown =>
      typeof item === "string" ? this.#redactValue(item, depth) : this.value(item, depth);
    return Array.isArray(value) ? mapItems(value, redactText) : redactText(value);
  }

  /** Redacts a secret value. A missing value is recorded as missing, because readers need this information. */
  #redactValue(value: unknown, depth: number): unknown {
    if (value === null || value === undefined) return value;
    this.#spend(STEPS_OF_NAME);
    this.#found?.add(value);
    // JSON in a secret text contains further secret values.
    if (this.#found && typeof value === "string") this.text(value, depth);
    return REDACTED;
  }

  /** Redacts JSON, or a text of unknown format. */
  #redactPlain(text: string, depth: number): string {
    const printed = JSON_START.test(text) ? this.#redactJson(text, depth) : undefined;
    if (printed !== undefined) return this.#apply(printed, []);
    const readable = unescapeText(text);
    const spend = (steps: number): boolean => this.#spend(steps);
    const secret = findNameInText(readable, { names: this.#names, found: this.#found, spend });
    if (this.#steps < 0) return REDACTED;
    if (secret === undefined) return this.#apply(text, this.#findUserInfo(text));
    return this.#apply(readable, [...this.#findUserInfo(readable), { start: secret, end: readable.length }]);
  }

  /** Redacts JSON inside a string, as in filters and in user data. Returns undefined if it can't be parsed. */
  #redactJson(text: string, depth: number): string | undefined {
    if (depth >= MAX_DEPTH) return this.#tooMuch();
    const parsed = this.#failures < MAX_FAILURES ? parseWhole(text) : undefined;
    if (!parsed) this.#failures += 1;
    if (!parsed) return undefined;
    const redacted = this.value(parsed.value, depth + 1);
    // If nothing was redacted, the text stays unchanged, with its white space and all digits of its numbers.
    return redacted === parsed.value ? text : JSON.stringify(redacted);
  }

  /** Finds the users and passwords in URLs, and in options of curl. */
  #findUserInfo(text: string): Edit[] {
    const edits: Edit[] = [];
    for (const pattern of text.includes("@") ? [USER_INFO, USER_OPTION] : [USER_OPTION]) {
      for (const { index, 1: before = "", 2: info = "" } of text.matchAll(pattern)) {
        const start = index + before.length;
        if (!this.#spend(1)) return [...edits, { start, end: text.length }];
        this.#addSecret(info.slice(info.indexOf(":") + 1));
        edits.push({ start, end: start + info.length });
      }
    }
    return edits;
  }

  #addSecret(encoded: string): void {
    this.#found?.add([encoded, decodeFormText(encoded)]);
  }

  #redactPairs(text: string, depth: number): Edit[] {
    if (!this.#spend(STEPS_OF_PART * countParts(text, this.#steps / STEPS_OF_PART)))
      return [{ start: 0, end: text.length }];
    return redactPairs(text, {
      names: this.#names,
      addSecret: (encoded) => this.#addSecret(encoded),
      redactPart: (part) => this.#redactPart(part, depth),
    });
  }

  /** Redacts a name or a value of a pair, which may be JSON, a URL, or a nested form. */
  #redactPart(part: string, depth: number): string {
    if (!/[^\w.~*-]/.test(part)) return part;
    if (depth >= MAX_DEPTH) return this.#tooMuch();
    const text = decodeFormText(part);
    const redacted = text === part ? this.#redactPlain(text, depth) : this.text(text, depth + ENCODING_DEPTH);
    return redacted === text ? part : encodeURIComponent(redacted.toWellFormed());
  }

  #redactPath(given: string, path: string, isRoute: boolean): Edit[] {
    // The original path is searched: after decoding, a character of a password could end the user info.
    const userInfo = findDecoded(given, this.#findUserInfo(given));
    const followers = findValueSegments(given, isRoute, this.#names);
    for (const { start, end } of followers) {
      const segment = path.slice(start, end);
      this.#found?.add([segment, encodeURIComponent(segment.toWellFormed())]);
    }
    const { values, literals } = this.#options;
    const segments = segmentsOf(path).flatMap(({ index, 0: segment }) => {
      const by = isRoute && isPlainSegment(segment, values, literals) ? segment : this.text(segment);
      return by === segment ? [] : [{ start: index, end: index + segment.length, by }];
    });
    return [...userInfo, ...this.#findUserInfo(path), ...followers, ...segments];
  }
}

/** Returns the number of steps for a text that may contain a secret. */
const stepsOf = (text: string): number => 1 + Math.floor(text.length / CHARACTERS_OF_STEP);

/** Redacts the items of a list. Returns the same list if no item has changed. */
function mapItems(items: readonly unknown[], redact: (item: unknown) => unknown): readonly unknown[] {
  let isSame = true;
  const redacted = items.map((item) => {
    const by = redact(item);
    isSame &&= by === item;
    return by;
  });
  return isSame ? items : redacted;
}
