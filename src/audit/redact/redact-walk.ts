/**
 * Redacts values, texts, JSON in texts and forms in texts. All steps are in one file, because they call each other and
 * share one work limit.
 */
import { isExactNumber, parseJson } from "../../base/index.ts";
import { applyEdits, type Edit, REDACTED } from "./edits.ts";
import { decodeFormText, readName, unescapeText } from "./escapes.ts";
import { findNameInText } from "./find-names.ts";
import {
  decodedOffsets,
  decodePath,
  findInRoute,
  findValueSegments,
  isPlainSegment,
  segmentsOf,
} from "./redact-path.ts";
import { type NameKind, type SecretNames, USER_PATTERNS } from "./secret-names.ts";
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

/** Matches a pair of a name and a value in a URL, a form or a cookie, and each of its parts. */
const PAIR = /(?<![^?&#;,\s])([^?&#;,\s=]*)=([^?&#;,\s]*)/g;
const PART = /[^?&#;,\s=]+/g;
const PART_END = /[?&#;,\s=]/g;
/** Matches a value. */
const VALUE = /[^?&#;,\s]*/y;
/**
 * Matches a secret value. In a query, a value may contain all other separators (RFC 3986 3.4), and v4 reads them as a
 * part of the value. This includes the number sign: in a request's target it does not start a fragment.
 */
const SECRET_VALUE = /[^&\s]*/y;

/** Whether a text is read as pairs, as in a query, a form or a URL. */
export const looksLikePairs = (text: string): boolean => /[=%]/.test(text) && !/[\s"'{}<>]/.test(text);

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

/** Returns the part of a text that a sticky pattern matches at an offset. */
function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
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
    return this.#limited(() => {
      if (depth >= MAX_DEPTH) throw TOO_MUCH;
      this.#spend(1);
      return Array.isArray(value)
        ? mapItems(value, (item) => this.value(item, depth + 1))
        : this.#members(value, depth + 1);
    });
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
    const path = edits.length === 0 ? given : decodePath(given);
    return isRoute
      ? applyEdits(path, [...edits, ...findInRoute(path, this.#options)])
      : this.#apply(path, edits);
  }

  /** Applies edits to a text, and replaces the values in the rest. */
  #apply(text: string, edits: readonly Edit[]): string {
    const values = this.#options.values?.findIn(text) ?? [];
    return edits.length + values.length === 0 ? text : applyEdits(text, [...edits, ...values]);
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
    const redacted = given.map(
      ([name, value]) => [this.#name(name, depth), this.#member(kindOf(name), value, depth)] as const,
    );
    const isSame = redacted.every(([name, value], at) => name === given[at]?.[0] && value === given[at][1]);
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

  /** Finds the users and passwords in URLs, and in options of curl. */
  #findUsers(text: string): Edit[] {
    return USER_PATTERNS.flatMap((pattern) => {
      const users = text.matchAll(pattern).map(({ index, 1: before = "", 2: info = "" }) => {
        this.#spend(STEPS_OF_TEXT);
        const [start, password] = [index + before.length, info.slice(info.indexOf(":") + 1)];
        this.#addSecret(password, decodeFormText(password));
        return { start, end: start + info.length };
      });
      return users.toArray();
    });
  }

  /** Finds the secrets in a text of `name=value` pairs, such as a query. In `a=b=c`, every part except the last is a name. */
  #findInPairs(text: string, depth: number): Edit[] {
    this.#spend(STEPS_OF_PART * (1 + (text.match(PART_END)?.length ?? 0)));
    const pairs = text.matchAll(PAIR);
    const kindOf = this.#names.among(
      pairs.map(([, name = "", value = ""]) => [readName(name), readName(value)]),
    );
    /** The text before this offset has been processed. */
    let done = 0;
    return [...text.matchAll(PART)].flatMap(({ index, 0: part }): Edit[] => {
      const end = index + part.length;
      if (index < done) return [];
      if (text[end] !== "=" || kindOf(readName(part)) === "none") {
        const by = this.#part(part, depth);
        return by === part ? [] : [{ start: index, end, by }];
      }
      const start = end + 1;
      const secret = matchAt(SECRET_VALUE, text, start);
      done = start + secret.length;
      for (const value of [matchAt(VALUE, text, start), secret])
        this.#addSecret(value, decodeFormText(value));
      return [{ start, end: done }];
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
    const path = decodePath(given);
    // The original path is searched too: after decoding, a character of a password could end the user info.
    const offset = decodedOffsets(given);
    const users = this.#findUsers(given).map(({ start, end }) => ({
      start: offset(start),
      end: offset(end),
    }));
    // In a route, the segment after a secret name may be a literal, so only parameters are searched, as paths.
    const partOffset = decodedOffsets(given);
    const parts = isRoute ? segmentsOf(given).toArray() : [{ index: 0, 0: given }];
    const followers = parts.flatMap(({ index, 0: part }) => {
      const [decoded, from] = [decodePath(part), partOffset(index)];
      return findValueSegments(decoded, this.#names).map(({ start, end }) => {
        const segment = decoded.slice(start, end);
        this.#addSecret(segment, encodeURIComponent(segment.toWellFormed()));
        return { start: from + start, end: from + end };
      });
    });
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
