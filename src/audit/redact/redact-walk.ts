/**
 * Redacts values, texts, JSON in texts and forms in texts. It is one file, because each of these may be inside any other:
 * its steps call each other, and count their work together.
 */
import { isExactNumber } from "../../base/index.ts";
import { unescapeText, decodeFormText } from "./escapes.ts";
import { parseAllMembers, RepeatedMember } from "../usage/all-members.ts";
import { isTooMuchJson } from "../record/json-text.ts";
import { countParts, NAMING, redactPairs } from "./redact-pairs.ts";
import { redactPath } from "./redact-path.ts";
import { USER_INFO, type SecretNames } from "./secret-names.ts";
import { REDACTED, type SecretValues } from "./secret-values.ts";

const TOO_DEEP = "[too deep]";
const MAX_DEPTH = 64;
/** A level of encoding counts as this number of levels. */
const ENCODING_DEPTH = 8;
/** A member `value` in text that cannot be read as JSON or as a form. */
const VALUE_MEMBER = /["'&?]value\\*["']?\s*[:=]/;
/** Before a name in RFC 8187's form. */
const CHARSET = /^(?:utf-8|iso-8859-1|us-ascii)$/i;
/** A sign and the word after it. Without a word it matches too, so that no sign is scanned twice. */
const VALUE = /["'\\:=>\t\uff1a\uff1d\uff1e][\s"'\\:=>\uff1a\uff1d\uff1e<]*(?:([^\s"'\\:=><;,&]+)|[;,&]|$)/g;
/** Characters after a secret name in which its value is searched for. */
const VALUE_DISTANCE = 1000;
/** Texts that look like JSON and are invalid: each costs an exception. Further ones are not parsed. */
const MAX_FAILURES = 16;
/** Names of secrets in one text of unknown format, whose values are searched for in the rest of the exchange. */
const MAX_NAMES = 33;
/**
 * Work of one redaction, whatever a client sends. Each text that may have a secret is a step, and so are some of its
 * characters, because they are read several times. Each part of a pair and each secret name is several steps: a part is decoded
 * and compared with the names, and the value of a name is searched for.
 */
const MAX_STEPS = 4000;
const CHARACTERS_OF_STEP = 128;
const STEPS_OF_PART = 4;
const STEPS_OF_NAME = 4;
/** A text without one of these has no name that something follows. */
const SIGNS = /[=:>"'%\\\t]|[^\0-\x7f]/;
/** Signs at which pairs, addresses and JSON are split, unless they end a value, as those of Base64. */
const SPLITS = /[=&;?#@"][^=]/;
/** A name of a member that takes little work: programs have such names. */
const PLAIN_NAME = /^[\w-]{0,128}$/;
/** A text that may be JSON. */
const JSON_START = /^\s*[{["]/;

export interface BodyRedactionOptions {
  readonly secrets: SecretNames;
  /** Bytes: what follows them is not recorded, and is not copied. */
  readonly limit: number;
  /** Values that are replaced wherever they are. */
  readonly values?: SecretValues | undefined;
  /** Segments that stay in the path of a route. */
  readonly literals?: ReadonlySet<string> | undefined;
  /** Collects each value that has a secret name. */
  readonly found?: SecretValues | undefined;
}

/** The redaction of one body. It stops when it has more than will be recorded. */
export class BodyRedaction {
  readonly #secrets: SecretNames;
  readonly #values: SecretValues | undefined;
  readonly #found: SecretValues | undefined;
  readonly #literals: ReadonlySet<string> | undefined;
  /** Counted in UTF-16 units. A text has at least as many bytes of UTF-8. */
  #left: number;
  #failures = 0;
  #isCut = false;
  #steps = MAX_STEPS;

  constructor({ secrets, limit, values, found, literals }: BodyRedactionOptions) {
    this.#secrets = secrets;
    this.#left = limit;
    this.#values = values;
    this.#found = found;
    this.#literals = literals;
  }

  value(value: unknown): unknown {
    return this.#visit(value, 0);
  }

  text(text: string): string {
    return this.#visitText(text, 0);
  }

  pairs(text: string): string {
    const end = this.#startOfSplit(text);
    const visited = this.#visitPairs(end === -1 ? text : text.slice(0, end), 0);
    return this.#concealValues(visited) + (end === -1 ? "" : REDACTED);
  }

  path(text: string, isRoute: boolean): string {
    return redactPath(text, isRoute, {
      secrets: this.#secrets,
      literals: this.#literals,
      values: this.#values,
      found: this.#found,
      redactSegment: (segment) => this.#visitNames(segment, 0),
      removeUserInfo: (segment) => this.#removeUserInfo(segment),
    });
  }

  /** Whether the result exceeds the limit, so that a part of the body was not visited. */
  isOverLimit(): boolean {
    return this.#left < 0;
  }

  /** Whether nothing of the exchange will be recorded, so that no further secret needs to be found. */
  #isInVain(): boolean {
    return this.#found?.isComplete === false;
  }

  #isSecretName(name: string): boolean {
    return this.#secrets.has(name) || this.#secrets.hasTexts(name);
  }

  #concealValues(text: string): string {
    return this.#values ? this.#values.conceal(text) : text;
  }

  #visit(value: unknown, depth: number): unknown {
    this.#left -= 1;
    if (this.#isInVain()) return REDACTED;
    if (typeof value === "string") return this.#visitText(value, depth);
    if (typeof value === "number") return this.#values?.has(String(value)) ? REDACTED : value;
    if (value === null || typeof value !== "object") return value;
    if (isExactNumber(value)) return this.#values?.has(JSON.stringify(value)) ? REDACTED : value;
    if (depth >= MAX_DEPTH) return this.#tooDeep();
    return Array.isArray(value) ? this.#visitItems(value, depth) : this.#visitMembers(value, depth);
  }

  /** A value that is not searched is not recorded, and its secrets are unknown. */
  #tooDeep(): string {
    this.#found?.markIncomplete();
    return TOO_DEEP;
  }

  #visitItems(items: readonly unknown[], depth: number): unknown[] {
    const visited: unknown[] = [];
    for (const item of items) {
      if (this.#left < 0 || this.#isInVain()) break;
      visited.push(this.#visit(item, depth + 1));
    }
    return visited;
  }

  #visitMembers(members: object, depth: number): object {
    const visited: [string, unknown][] = [];
    for (const [name, value] of Object.entries(members)) {
      if (this.#left < 0 || this.#isInVain()) break;
      visited.push([this.#visitName(name, depth), this.#visitMember(name, value, depth)]);
    }
    if (Object.hasOwn(members, "value") && this.#hasSecretNaming(members))
      for (const member of visited)
        if (member[0] === "value") member[1] = this.#conceal(Reflect.get(members, "value"), depth + 1);
    // Not by assignment: a member `__proto__` must remain an ordinary member.
    return Object.fromEntries(visited);
  }

  /** A name may be JSON with secrets of its own. */
  #visitName(name: string, depth: number): string {
    if (!PLAIN_NAME.test(name)) this.#steps -= 1 + Math.floor(name.length / CHARACTERS_OF_STEP);
    if (this.#steps < 0) return this.#tooMuch(name);
    if (JSON_START.test(name)) return this.#visitText(name, depth);
    this.#left -= name.length;
    return this.#concealValues(name);
  }

  #visitMember(name: string, value: unknown, depth: number): unknown {
    if (this.#secrets.has(name)) return this.#conceal(value, depth + 1);
    if (!this.#secrets.hasTexts(name)) return this.#visit(value, depth + 1);
    if (typeof value === "string") return this.#conceal(value, depth + 1);
    if (!Array.isArray(value)) return this.#visit(value, depth + 1);
    return value.map((item: unknown) =>
      typeof item === "string" ? this.#conceal(item, depth + 1) : this.#visit(item, depth + 1),
    );
  }

  /** `{"key":"password","value":"…"}`: the name of a value is a value. */
  #hasSecretNaming(members: object): boolean {
    return NAMING.some((naming) => {
      const name: unknown = Object.hasOwn(members, naming) ? Reflect.get(members, naming) : undefined;
      const names: readonly unknown[] = name instanceof RepeatedMember ? name : [name];
      return names.some((each) => typeof each === "string" && this.#isSecretName(each));
    });
  }

  /** A missing value is recorded: it holds no secret, and readers need to know that it was missing. */
  #conceal(value: unknown, depth: number): unknown {
    this.#left -= REDACTED.length;
    if (value === null || value === undefined) return value;
    this.#steps -= STEPS_OF_NAME;
    if (this.#steps < 0) this.#found?.markIncomplete();
    this.#found?.add(value);
    // JSON in a text that is secret as a whole has secret values of its own.
    if (this.#found && typeof value === "string") this.#visit(value, depth);
    return REDACTED;
  }

  /** Searches for names first: a client could choose a value that is a part of one. */
  #visitText(whole: string, depth: number): string {
    const end = Math.max(this.#left, 0);
    this.#left -= whole.length;
    this.#isCut ||= end < whole.length;
    const text = end >= whole.length ? whole : (this.#values?.cut(whole, end) ?? whole.slice(0, end));
    return this.#concealValues(this.#visitNames(text, depth));
  }

  /** Whether nothing in a text can change, except that `values` are replaced in the text as it is. */
  #isHarmless(text: string): boolean {
    return (
      !this.#secrets.maybeIn(text) && !text.includes("value") && !(this.#values && /^\s*[{["]|\+/.test(text))
    );
  }

  /** The start of the first value that the signs of forms, addresses and JSON would split; -1 if there is none. */
  #startOfSplit(text: string): number {
    return this.#values?.firstWith(SPLITS, text) ?? -1;
  }

  #visitNames(given: string, depth: number): string {
    // A name that something follows has at least two characters.
    if (given.length < 2 || this.#isInVain() || this.#isHarmless(given)) return given;
    const end = this.#startOfSplit(given);
    if (end !== -1) return this.#visitNames(given.slice(0, end), depth) + REDACTED;
    this.#steps -= 1 + Math.floor(given.length / CHARACTERS_OF_STEP);
    if (this.#steps < 0) return this.#tooMuch(given);
    if (JSON_START.test(given)) return this.#visitJsonText(given, depth);
    const text = this.#removeUserInfo(given);
    if (!SIGNS.test(text)) return text;
    return /[=%]/.test(text) && !/[\s"'{}<>]/.test(text) ? this.#visitPairs(text, depth) : this.#scrub(text);
  }

  /** A text that would take too much work is not recorded, unless it has no name of a secret. */
  #tooMuch(text: string): string {
    if (!this.#secrets.maybeIn(text) && !text.includes("value")) return text;
    this.#found?.markIncomplete();
    return REDACTED;
  }

  #removeUserInfo(text: string): string {
    if (!text.includes("@")) return text;
    const split = this.#startOfSplit(text);
    if (split !== -1) return this.#removeUserInfo(text.slice(0, split)) + REDACTED;
    let redacted = "";
    let end = 0;
    for (const { index, 0: match, 1: slashes = "", 2: info = "" } of text.matchAll(USER_INFO)) {
      this.#steps -= 1;
      if (this.#steps < 0) return redacted + text.slice(end, index) + this.#tooMuch(text.slice(index));
      this.#addSecret(info.slice(info.indexOf(":") + 1));
      redacted += `${text.slice(end, index)}${slashes}${REDACTED}@`;
      end = index + match.length;
    }
    return redacted + text.slice(end);
  }

  #addSecret(encoded: string): void {
    this.#found?.add([encoded, decodeFormText(encoded)]);
  }

  /** JSON inside a string, as in filters and in user data. */
  #visitJsonText(text: string, depth: number): string {
    if (depth >= MAX_DEPTH) return this.#tooDeep();
    if (isTooMuchJson(text)) {
      this.#found?.markIncomplete();
      return this.#scrub(this.#removeUserInfo(text));
    }
    const parsed = this.#failures < MAX_FAILURES ? parseAllMembers(text) : undefined;
    if (!parsed) {
      this.#failures += 1;
      return this.#scrub(this.#removeUserInfo(text));
    }
    this.#left += text.length;
    const redacted = JSON.stringify(this.#visit(parsed.value, depth + 1));
    // If nothing was redacted, the text stays as it was sent, with its white space and all digits of its numbers.
    return redacted === JSON.stringify(parsed.value) ? text : redacted;
  }

  /**
   * Redacts text of unknown format, such as the start of a JSON body. Nothing marks the end of a secret in it, so everything
   * after the first secret name is redacted, and after the first `value`, whose name may follow or be cut off.
   */
  #scrub(text: string): string {
    const readable = unescapeText(text);
    // What is not redacted may repeat the values of further names.
    const names = this.#secrets.offsetsIn(readable, this.#found ? MAX_NAMES + 1 : 1);
    const value = readable.search(VALUE_MEMBER);
    const places = value === -1 ? names : [...names, value];
    if (places.length === 0) return text;
    this.#steps -= STEPS_OF_NAME * places.length;
    if (names.length > MAX_NAMES)
      this.#found?.markIncomplete("a text that is no JSON and no form has too many names of secrets");
    for (const at of places) {
      if (this.#isInVain()) break;
      // The first word behind the sign behind the name may be the value.
      const signs = readable.slice(at + 1, at + VALUE_DISTANCE).matchAll(VALUE);
      const word = signs.find(([, word]) => word && !CHARSET.test(word))?.[1] ?? "";
      if (!this.#secrets.has(word)) this.#found?.add(word);
    }
    // A value that begins before the name and ends behind it is not left in part.
    const end = Math.min(...places);
    return (this.#values?.cut(readable, end) ?? readable.slice(0, end)) + REDACTED;
  }

  #visitPairs(text: string, depth: number): string {
    this.#steps -= STEPS_OF_PART * countParts(text, this.#steps / STEPS_OF_PART);
    if (this.#steps < 0) return this.#tooMuch(text);
    return redactPairs(text, {
      isSecretName: (name) => this.#isSecretName(name),
      isCut: this.#isCut,
      addSecret: (encoded) => this.#addSecret(encoded),
      redactPart: (part) => this.#visitPart(part, depth),
    });
  }

  /** A name or a value of a pair, which may be JSON, a URL, or another form. */
  #visitPart(part: string, depth: number): string {
    if (!/[^\w.~*-]/.test(part)) return part;
    if (depth >= MAX_DEPTH) return this.#tooDeep();
    const text = decodeFormText(part);
    const redacted =
      text === part ? this.#visitPlain(text, depth) : this.#visitDecoded(text, depth + ENCODING_DEPTH);
    return redacted === text ? part : encodeURIComponent(redacted.toWellFormed());
  }

  #visitPlain(given: string, depth: number): string {
    if (JSON_START.test(given)) return this.#visitJsonText(given, depth);
    const text = this.#removeUserInfo(given);
    return SIGNS.test(text) ? this.#scrub(text) : text;
  }

  /** Visits text whose length is already counted. */
  #visitDecoded(text: string, depth: number): string {
    const before = this.#left;
    this.#left = text.length;
    const redacted = this.#visitText(text, depth);
    this.#left = before;
    return redacted;
  }
}
