import { unescapeText, decodeFormText } from "./escapes.ts";
import { isTooMuchJson, parseRecorded } from "./json-text.ts";
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
/**
 * Work of one redaction: each text that may have a secret is a step, and each part of a pair is several, because it is
 * decoded and compared with the names. A client could send a hundred thousand parts in one text.
 */
const MAX_STEPS = 4000;
const STEPS_OF_PART = 4;
/** A text without one of these has no name that something follows. */
const SIGNS = /[=:>"'%\\\t]|[^\0-\x7f]/;
/** A text that may be JSON. */
const JSON_START = /^\s*[{["]/;

/** The redaction of one body. It stops when it has more than will be recorded. */
export interface BodyRedaction {
  readonly value: (value: unknown) => unknown;
  readonly text: (text: string) => string;
  readonly pairs: (text: string) => string;
  readonly path: (text: string, isRoute: boolean) => string;
  /** Whether the result exceeds the limit, so that a part of the body was not visited. */
  readonly isOverLimit: () => boolean;
}

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

/** Creates the redaction of one body. */
export function createBodyRedaction(options: BodyRedactionOptions): BodyRedaction {
  const { secrets, limit, values, found, literals } = options;
  // Counted in UTF-16 units. A text has at least as many bytes of UTF-8.
  let left = limit;
  let failures = 0;
  let isCut = false;
  let steps = MAX_STEPS;

  const isValue = (text: string): boolean => values?.has(text) === true;
  const isSecretName = (name: string): boolean => secrets.has(name) || secrets.hasTexts(name);
  const concealValues = (text: string): string => (values ? values.conceal(text) : text);

  function visit(value: unknown, depth: number): unknown {
    left -= 1;
    if (typeof value === "string") return visitText(value, depth);
    if (typeof value === "number") return values && isValue(String(value)) ? REDACTED : value;
    if (value === null || typeof value !== "object") return value;
    if (isRawJson(value)) return values && isValue(JSON.stringify(value)) ? REDACTED : value;
    if (depth >= MAX_DEPTH) return tooDeep();
    return Array.isArray(value) ? visitItems(value, depth) : visitMembers(value, depth);
  }

  /** A value that is not searched is not recorded, and its secrets are unknown. */
  function tooDeep(): string {
    found?.markIncomplete();
    return TOO_DEEP;
  }

  function visitItems(items: readonly unknown[], depth: number): unknown[] {
    const visited: unknown[] = [];
    for (const item of items) {
      if (left < 0) break;
      visited.push(visit(item, depth + 1));
    }
    return visited;
  }

  function visitMembers(members: object, depth: number): object {
    const visited: [string, unknown][] = [];
    for (const [name, value] of Object.entries(members)) {
      if (left < 0) break;
      left -= name.length;
      visited.push([concealValues(name), visitMember(name, value, depth)]);
    }
    if (Object.hasOwn(members, "value") && hasSecretNaming(members))
      for (const member of visited)
        if (member[0] === "value") member[1] = conceal(Reflect.get(members, "value"), depth + 1);
    // Not by assignment: a member `__proto__` must remain an ordinary member.
    return Object.fromEntries(visited);
  }

  function visitMember(name: string, value: unknown, depth: number): unknown {
    if (secrets.has(name)) return conceal(value, depth + 1);
    if (!secrets.hasTexts(name)) return visit(value, depth + 1);
    if (typeof value === "string") return conceal(value, depth + 1);
    if (!Array.isArray(value)) return visit(value, depth + 1);
    return value.map((item: unknown) =>
      typeof item === "string" ? conceal(item, depth + 1) : visit(item, depth + 1),
    );
  }

  /** `{"key":"password","value":"…"}`: the name of a value is a value. */
  const hasSecretNaming = (members: object): boolean =>
    NAMING.some((naming) => {
      const name: unknown = Object.hasOwn(members, naming) ? Reflect.get(members, naming) : undefined;
      return typeof name === "string" && isSecretName(name);
    });

  /** A missing value is recorded: it holds no secret, and readers need to know that it was missing. */
  function conceal(value: unknown, depth: number): unknown {
    left -= REDACTED.length;
    if (value === null || value === undefined) return value;
    found?.add(value);
    // JSON in a text that is secret as a whole has secret values of its own.
    if (found && typeof value === "string") visit(value, depth);
    return REDACTED;
  }

  /** Searches for names first: a client could choose a value that is a part of one. */
  function visitText(whole: string, depth: number): string {
    const end = Math.max(left, 0);
    left -= whole.length;
    isCut ||= end < whole.length;
    const text = end >= whole.length ? whole : (values?.cut(whole, end) ?? whole.slice(0, end));
    return concealValues(visitNames(text, depth));
  }

  /** Whether nothing in a text can change, except that `values` are replaced in the text as it is. */
  const isHarmless = (text: string): boolean =>
    !secrets.maybeIn(text) && !text.includes("value") && !(values && /^\s*[{["]|\+/.test(text));

  function visitNames(given: string, depth: number): string {
    // A name that something follows has at least two characters.
    if (given.length < 2 || isHarmless(given)) return given;
    steps -= 1;
    if (steps < 0) return tooMuch(given);
    if (JSON_START.test(given)) return visitJsonText(given, depth);
    const text = removeUserInfo(given);
    if (!SIGNS.test(text)) return text;
    return /[=%]/.test(text) && !/[\s"'{}<>]/.test(text) ? visitPairs(text, depth) : scrub(text);
  }

  /** A text that would take too much work is not recorded, unless it has no name of a secret. */
  function tooMuch(text: string): string {
    if (!secrets.maybeIn(text) && !text.includes("value")) return text;
    found?.markIncomplete();
    return REDACTED;
  }

  function removeUserInfo(text: string): string {
    if (!text.includes("@")) return text;
    let redacted = "";
    let end = 0;
    for (const { index, 0: match, 1: slashes = "", 2: info = "" } of text.matchAll(USER_INFO)) {
      steps -= 1;
      if (steps < 0) return redacted + text.slice(end, index) + tooMuch(text.slice(index));
      addSecret(info.slice(info.indexOf(":") + 1));
      redacted += `${text.slice(end, index)}${slashes}${REDACTED}@`;
      end = index + match.length;
    }
    return redacted + text.slice(end);
  }

  const addSecret = (encoded: string): void => found?.add([encoded, decodeFormText(encoded)]);

  /** JSON inside a string, as in filters and in user data. */
  function visitJsonText(text: string, depth: number): string {
    if (depth >= MAX_DEPTH) return tooDeep();
    if (isTooMuchJson(text)) {
      found?.markIncomplete();
      return scrub(removeUserInfo(text));
    }
    let parsed: unknown;
    try {
      parsed = failures < MAX_FAILURES ? parseRecorded(text) : undefined;
    } catch {
      failures += 1;
    }
    if (parsed === undefined) return scrub(removeUserInfo(text));
    left += text.length;
    const redacted = JSON.stringify(visit(parsed, depth + 1));
    // If nothing was redacted, the text stays as it was sent, with its white space and all digits of its numbers.
    return redacted === JSON.stringify(parsed) ? text : redacted;
  }

  /**
   * Redacts text of unknown format, such as the start of a JSON body. Nothing marks the end of a secret in it, so everything
   * after the first secret name is redacted, and after the first `value`, whose name may follow or be cut off.
   */
  function scrub(text: string): string {
    const readable = unescapeText(text);
    const places = [secrets.firstIn(readable), readable.search(VALUE_MEMBER)].filter((at) => at !== -1);
    if (places.length === 0) return text;
    for (const at of places) {
      // The first word behind the sign behind the name may be the value.
      const signs = readable.slice(at + 1, at + VALUE_DISTANCE).matchAll(VALUE);
      const word = signs.find(([, word]) => word && !CHARSET.test(word))?.[1] ?? "";
      if (!secrets.has(word)) found?.add(word);
    }
    return readable.slice(0, Math.min(...places)) + REDACTED;
  }

  function visitPairs(text: string, depth: number): string {
    steps -= STEPS_OF_PART * countParts(text, steps / STEPS_OF_PART);
    if (steps < 0) return tooMuch(text);
    return redactPairs(text, {
      isSecretName,
      isCut,
      addSecret,
      redactPart: (part) => visitPart(part, depth),
    });
  }

  /** A name or a value of a pair, which may be JSON, a URL, or another form. */
  function visitPart(part: string, depth: number): string {
    if (!/[^\w.~*-]/.test(part)) return part;
    if (depth >= MAX_DEPTH) return tooDeep();
    const text = decodeFormText(part);
    const redacted = text === part ? visitPlain(text, depth) : visitDecoded(text, depth + ENCODING_DEPTH);
    return redacted === text ? part : encodeURIComponent(redacted.toWellFormed());
  }

  function visitPlain(given: string, depth: number): string {
    if (JSON_START.test(given)) return visitJsonText(given, depth);
    const text = removeUserInfo(given);
    return SIGNS.test(text) ? scrub(text) : text;
  }

  /** Visits text whose length is already counted. */
  function visitDecoded(text: string, depth: number): string {
    const before = left;
    left = text.length;
    const redacted = visitText(text, depth);
    left = before;
    return redacted;
  }

  return {
    value: (value) => visit(value, 0),
    text: (text) => visitText(text, 0),
    pairs: (text) => concealValues(visitPairs(text, 0)),
    path: (text, isRoute) =>
      redactPath(text, isRoute, {
        secrets,
        literals,
        values,
        found,
        redactSegment: (segment) => visitNames(segment, 0),
        removeUserInfo,
      }),
    isOverLimit: () => left < 0,
  };
}

/** A number that a parser has as its digits (`JSON.rawJSON`). */
function isRawJson(value: object): boolean {
  const json = JSON as { isRawJSON?: (value: unknown) => boolean };
  return json.isRawJSON?.(value) === true;
}
