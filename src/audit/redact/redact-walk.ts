/**
 * Redacts values, texts, JSON in texts and forms in texts. All steps are in one file, because they call each other and
 * share one work limit.
 */
import { isExactNumber } from "../../base/index.ts";
import { tryParse } from "../record/json-text.ts";
import { applyEdits, type Edit, REDACTED } from "./edits.ts";
import { decodeFormText, readName, unescapeText } from "./escapes.ts";
import { findNameInText } from "./find-names.ts";
import { findUsers } from "./find-users.ts";
import { countParts, looksLikePairs, pairsOf, partsOf, valuesAt } from "./pairs.ts";
import { decodedOffsets, findInRoute, findValueSegments, isPlainSegment, segmentsOf } from "./redact-path.ts";
import type { NameKind, SecretNames } from "./secret-names.ts";
import type { SecretValues } from "./secret-values.ts";

/** Limits of JSON that is parsed for redaction, because its cost grows with the number of characters and of values. */
const MAX_JSON_LENGTH = 1024 * 1024;
const MAX_JSON_VALUES = 8000;
const MAX_DEPTH = 64;
/** Number of levels that one level of encoding counts as, because each decodes the whole text again. */
const ENCODING_DEPTH = 8;
/** Maximum number of texts that look like JSON but are invalid: each causes an exception. Further ones are not parsed. */
const MAX_FAILURES = 16;
/**
 * The work limit of one redaction. Each list and each object counts as a step. Each text that may contain a secret counts
 * as several steps, and so do its characters, because they are read several times. Each part of a pair and each secret
 * value count as more steps: a part is decoded and compared with the names, and a value is searched for.
 */
const MAX_STEPS = 100_000;
const STEPS_OF_TEXT = 25;
const CHARACTERS_OF_STEP = 5;
const STEPS_OF_PART = 100;
const STEPS_OF_VALUE = 100;
const TOO_MUCH = new Error("more work than one redaction may take");
/** Matches a plain name, as programs use it. It needs little work. */
const PLAIN_NAME = /^[\w-]{0,128}$/;
const JSON_START = /^\s*[{["]/;

/**
 * Parses JSON if all its secrets can be found. Returns undefined for other texts, for texts above the limits, and if an
 * object contains a member twice: `JSON.parse` keeps only the last value, and other programs may read the first.
 */
export const parseWhole = (text: string): { readonly value: unknown } | undefined =>
  text.length > MAX_JSON_LENGTH
    ? undefined
    : tryParse(text, { maxValues: MAX_JSON_VALUES, hasUniqueNames: true });

interface WalkOptions {
  readonly names: SecretNames;
  /** Only for a search: receives each value that has a secret name. The returned texts are not used. */
  readonly found?: SecretValues | undefined;
  /** Only for a redaction: values that are replaced in all texts. */
  readonly values?: SecretValues | undefined;
  /** Only for a redaction: segments that are kept in the path of a route. */
  readonly literals?: ReadonlySet<string> | undefined;
}

/**
 * A walk over one message, for a search or for a redaction: both must find the same secrets. Above the work limit, a
 * search throws, and a text is redacted as a whole.
 */
export class RedactionWalk {
  readonly #options: WalkOptions;
  readonly #names: SecretNames;
  #failures = 0;
  #steps = MAX_STEPS;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#names = options.names;
  }

  /** Redacts a parsed value. @returns the same value if nothing has changed */
  value(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.text(value, depth);
    if (typeof value === "number" || isExactNumber(value))
      return this.#options.values?.has(JSON.stringify(value)) ? REDACTED : value;
    if (value === null || typeof value !== "object") return value;
    if (depth >= MAX_DEPTH) throw TOO_MUCH;
    this.#spend(1);
    return Array.isArray(value)
      ? mapItems(value, (item) => this.value(item, depth + 1))
      : this.#members(value, depth + 1);
  }

  /** Redacts a whole body: JSON, or a text in a different format. */
  body(text: string): unknown {
    const parsed = parseWhole(text);
    return parsed ? this.value(parsed.value) : this.text(text);
  }

  /** Redacts a text of any format. */
  text(text: string, depth = 0): string {
    if (!this.#names.maybeIn(text)) return this.#apply(text, []);
    return this.#limited(() => {
      this.#spend(stepsOf(text));
      return !JSON_START.test(text) && looksLikePairs(text)
        ? this.#apply(text, [...this.#findUsers(text), ...this.#findInPairs(text, depth)])
        : this.#plain(text, depth);
    });
  }

  pairs(text: string): string {
    return this.#limited(() =>
      this.#apply(text, this.#names.maybeIn(text) ? this.#findInPairs(text, 0) : []),
    );
  }

  /**
   * @param isRoute Whether the path is that of a route, in which a segment after a secret name may be a literal. In any
   *   other path, the segment is a value.
   */
  path(given: string, isRoute: boolean): string {
    // In a path that is not a route's, a value may also follow an action.
    const edits = !isRoute || this.#names.maybeIn(given) ? this.#findInPath(given, isRoute) : [];
    const path = edits.length === 0 ? given : unescapeText(given);
    return isRoute
      ? applyEdits(path, [...edits, ...findInRoute(path, this.#options)])
      : this.#apply(path, edits);
  }

  /** Applies edits to a text, and replaces the values in the rest. */
  #apply(text: string, edits: readonly Edit[]): string {
    const { values } = this.#options;
    const all = values ? [...edits, ...values.findIn(text)] : edits;
    return all.length === 0 ? text : applyEdits(text, all);
  }

  /** Counts work. @throws above the limit */
  #spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw TOO_MUCH;
  }

  /** Does some work on a value. If it takes too much work, a search ends, because some secrets are unknown. */
  #limited<T>(work: () => T): T | typeof REDACTED {
    try {
      return work();
    } catch (error) {
      if (error !== TOO_MUCH || this.#options.found) throw error;
      return REDACTED;
    }
  }

  #addSecret(...spellings: unknown[]): void {
    this.#options.found?.add(spellings);
  }

  #members(members: object, depth: number): object {
    const given = Object.entries(members);
    const kindOf = this.#names.among(given);
    let isSame = true;
    const redacted = given.map((member) => {
      const [name, value] = member;
      const newName = this.#name(name, depth);
      const newValue = this.#member(kindOf(name), value, depth);
      if (newName === name && newValue === value) return member;
      isSame = false;
      return [newName, newValue];
    });
    // The members are not assigned, because `__proto__` must remain an ordinary member.
    return isSame ? members : Object.fromEntries(redacted);
  }

  /** Redacts a name, which may be JSON that contains secrets. */
  #name(name: string, depth: number): string {
    if (PLAIN_NAME.test(name)) return this.#apply(name, []);
    this.#spend(stepsOf(name));
    return JSON_START.test(name) ? this.text(name, depth) : this.#apply(name, []);
  }

  #member(kind: NameKind, value: unknown, depth: number): unknown {
    if (kind === "secret") return this.#secret(value, depth);
    if (kind !== "texts") return this.value(value, depth);
    const redactText = (item: unknown): unknown =>
      typeof item === "string" ? this.#secret(item, depth) : this.value(item, depth);
    return Array.isArray(value) ? mapItems(value, redactText) : redactText(value);
  }

  /** Redacts a secret value. A missing value is recorded as missing, because readers need this information. */
  #secret(value: unknown, depth: number): unknown {
    if (value === null || value === undefined) return value;
    this.#spend(STEPS_OF_VALUE);
    this.#addSecret(value);
    // JSON in a secret text contains further secret values.
    if (this.#options.found && typeof value === "string") this.text(value, depth);
    return REDACTED;
  }

  /** Redacts JSON, as in filters and in user data, or a text of unknown format. */
  #plain(text: string, depth: number): string {
    if (JSON_START.test(text) && this.#failures < MAX_FAILURES) {
      const parsed = parseWhole(text);
      if (parsed) return this.#printed(text, parsed.value, depth);
      this.#failures += 1;
    }
    const readable = unescapeText(text);
    const secret = findNameInText(readable, {
      names: this.#names,
      addSecret: this.#options.found && ((word) => this.#addSecret(word)),
      spend: (steps) => this.#spend(steps),
    });
    if (secret === undefined) return this.#apply(text, this.#findUsers(text));
    return this.#apply(readable, [...this.#findUsers(readable), { start: secret, end: readable.length }]);
  }

  /** Redacts JSON inside a string. If it has no secrets, it stays unchanged, with its white space and all digits. */
  #printed(text: string, parsed: unknown, depth: number): string {
    const redacted = this.value(parsed, depth + 1);
    return this.#apply(redacted === parsed ? text : JSON.stringify(redacted), []);
  }

  /** Finds users and passwords. Above the limit, the rest of the text is secret: its start may be the route of a path. */
  #findUsers(text: string): Edit[] {
    const edits: Edit[] = [];
    for (const { start, end, password } of findUsers(text)) {
      this.#steps -= STEPS_OF_TEXT;
      if (this.#steps < 0) {
        this.#options.found?.markIncomplete();
        return [...edits, { start, end: text.length }];
      }
      this.#addSecret(password, decodeFormText(password));
      edits.push({ start, end });
    }
    return edits;
  }

  /** Finds the secrets in a text of `name=value` pairs, such as a query. */
  #findInPairs(text: string, depth: number): Edit[] {
    this.#spend(STEPS_OF_PART * countParts(text));
    const kindOf = this.#names.among(pairsOf(text));
    /** The text before this offset has been processed. */
    let done = 0;
    return partsOf(text).flatMap(({ index, 0: part }): Edit[] => {
      const end = index + part.length;
      if (index < done) return [];
      if (text[end] !== "=" || kindOf(readName(part)) === "none") {
        const by = this.#part(part, depth);
        return by === part ? [] : [{ start: index, end, by }];
      }
      const values = valuesAt(text, end + 1);
      for (const value of values) this.#addSecret(value, decodeFormText(value));
      done = end + 1 + values[0].length;
      return [{ start: end + 1, end: done }];
    });
  }

  /** Redacts a name or a value of a pair, which may be JSON, a URL, or a nested form. */
  #part(part: string, depth: number): string {
    if (!/[^\w.~*-]/.test(part)) return part;
    if (depth >= MAX_DEPTH) throw TOO_MUCH;
    const text = decodeFormText(part);
    const redacted = text === part ? this.#plain(text, depth) : this.text(text, depth + ENCODING_DEPTH);
    return redacted === text ? part : encodeURIComponent(redacted.toWellFormed());
  }

  /** Finds the secrets in a decoded path. */
  #findInPath(given: string, isRoute: boolean): Edit[] {
    const path = unescapeText(given);
    const followers = findValueSegments(given, isRoute, this.#names);
    for (const { start, end } of followers) {
      const segment = path.slice(start, end);
      this.#addSecret(segment, encodeURIComponent(segment.toWellFormed()));
    }
    // The original path is searched too: after decoding, a character of a password could end the user info.
    const offset = decodedOffsets(given);
    const users = this.#findUsers(given).map(({ start, end }) => ({
      start: offset(start),
      end: offset(end),
    }));
    const segments = segmentsOf(path).flatMap(({ index, 0: segment }): Edit[] => {
      const by = isRoute && isPlainSegment(segment, this.#options) ? segment : this.text(segment);
      return by === segment ? [] : [{ start: index, end: index + segment.length, by }];
    });
    return [...users, ...this.#findUsers(path), ...followers, ...segments];
  }
}

/** Returns the number of steps for a text that may contain a secret. */
const stepsOf = (text: string): number => STEPS_OF_TEXT + text.length / CHARACTERS_OF_STEP;

/** Redacts the items of a list. Returns the same list if no item has changed. */
function mapItems(items: readonly unknown[], redact: (item: unknown) => unknown): readonly unknown[] {
  const redacted = items.map(redact);
  return redacted.every((item, at) => item === items[at]) ? items : redacted;
}
