import { isUtf8 } from "node:buffer";
import { isTooMuchJson } from "./json-text.ts";
import { USER_INFO, type SecretNames } from "./secret-names.ts";
import { REDACTED, type SecretValues } from "./secret-values.ts";

export { REDACTED };
const TOO_DEEP = "[too deep]";
const DEPTH = 64;
/** Members that say what a member `value` beside them is. */
export const NAMING: readonly string[] = ["name", "key", "field", "parameter"];
/** A member `value` in text that cannot be read as JSON or a form. */
const VALUE_MEMBER = /["'&?]value\\*["']?\s*[:=]/;
/** Before a name in RFC 8187's form. */
const CHARSET = /^(?:utf-8|iso-8859-1|us-ascii)$/i;
/** An id of either dialect. */
const ID = /^(?:0|[1-9]\d{0,15})$/;
/** Words, also with a few digits behind them, and numbers: names of users, which no generated secret looks like. */
const WORDS = /^(?:[a-z]+\d{0,4}|\d{1,6})(?:[-_.](?:[a-z]+\d{0,4}|\d{1,6}))*$/i;
/** A sign and the word behind it, where there is one: without a word it matches too, so that no sign is looked at twice. */
const VALUE = /["'\\:=>\t\uff1a\uff1d\uff1e][\s"'\\:=>\uff1a\uff1d\uff1e<]*(?:([^\s"'\\:=><;,&]+)|[;,&]|$)/g;
/** So many texts may look like JSON and be none: each costs an error. Further ones are not tried. */
const MOST_FAILURES = 16;
/** What is encoded within what is encoded is followed to an eighth of that. */
const DECODED_DEPTH = 8;
/** A text without one of these has no name in it that something follows. */
const SIGNS = /[=:>"'%\\\t]|[^\0-\x7f]/;

/** The redaction of one body. It stops building when it has more than will be kept. */
export interface RedactBody {
  readonly value: (value: unknown) => unknown;
  readonly text: (text: string) => string;
  readonly pairs: (text: string) => string;
  readonly path: (text: string, named: boolean) => string;
  /** Whether the result is over the limit, and not all of the body was visited. */
  readonly spent: () => boolean;
}

export interface WalkOptions {
  readonly secrets: SecretNames;
  /** Bytes: what lies behind them is cut off anyway, and is not copied. */
  readonly limit: number;
  /** Values that are replaced wherever they stand. */
  readonly values?: SecretValues | undefined;
  /** Segments that stay in the path of a route. */
  readonly literals?: ReadonlySet<string> | undefined;
  /** Takes every value that stands under a secret name. */
  readonly found?: SecretValues | undefined;
}

export function createBodyRedaction({ secrets, limit, values, found, literals }: WalkOptions): RedactBody {
  // Counted in UTF-16 units, of which no text has more than it has bytes of UTF-8.
  let left = limit;
  let failures = 0;
  let isCut = false;

  const isValue = (text: string): boolean => values?.has(text) === true;

  function visit(value: unknown, depth: number): unknown {
    left -= 1;
    if (typeof value === "string") return visitText(value, depth);
    if (typeof value === "bigint") return isValue(value.toString()) ? REDACTED : value.toString();
    if (typeof value === "number") return values && isValue(String(value)) ? REDACTED : value;
    if (value === null || typeof value !== "object") return value;
    if (isRawJson(value)) return values && isValue(JSON.stringify(value)) ? REDACTED : value;
    if (depth >= DEPTH) return tooDeep();
    return Array.isArray(value) ? visitItems(value, depth) : visitMembers(value, depth);
  }

  /** What is not looked through is not recorded, and what stands in it is not known. */
  function tooDeep(): string {
    found?.seal();
    return TOO_DEEP;
  }

  function visitItems(items: readonly unknown[], depth: number): unknown[] {
    const kept: unknown[] = [];
    for (const item of items) {
      if (left < 0) break;
      kept.push(visit(item, depth + 1));
    }
    return kept;
  }

  function visitMembers(members: object, depth: number): object {
    const kept: [string, unknown][] = [];
    for (const [name, value] of Object.entries(members)) {
      if (left < 0) break;
      left -= name.length;
      kept.push([concealedIn(name), visitMember(name, value, depth)]);
    }
    if (Object.hasOwn(members, "value") && namesSecret(members))
      for (const member of kept)
        if (member[0] === "value") member[1] = concealed(Reflect.get(members, "value"), depth + 1);
    // Not by assignment: a member `__proto__` has to stay a mere member.
    return Object.fromEntries(kept);
  }

  function visitMember(name: string, value: unknown, depth: number): unknown {
    if (secrets.has(name)) return concealed(value, depth + 1);
    if (!secrets.hasTexts(name)) return visit(value, depth + 1);
    if (typeof value === "string") return concealed(value, depth + 1);
    if (!Array.isArray(value)) return visit(value, depth + 1);
    return value.map((item: unknown) =>
      typeof item === "string" ? concealed(item, depth + 1) : visit(item, depth + 1),
    );
  }

  /** `{"key":"password","value":"…"}`: the name of a value is a value itself. */
  const namesSecret = (members: object): boolean =>
    NAMING.some((naming) => {
      const name: unknown = Object.hasOwn(members, naming) ? Reflect.get(members, naming) : undefined;
      return typeof name === "string" && isSecretName(name);
    });

  /** An absent value tells nothing, and that it was absent is worth knowing. */
  function concealed(value: unknown, depth: number): unknown {
    left -= REDACTED.length;
    if (value === null || value === undefined) return value;
    found?.add(value);
    // JSON in a text that is secret as a whole has values of its own that are.
    if (found && typeof value === "string") visit(value, depth);
    return REDACTED;
  }

  /** Names are looked for first: a client could choose a value that is a part of one. */
  function visitText(whole: string, depth: number): string {
    const end = Math.max(left, 0);
    left -= whole.length;
    isCut ||= end < whole.length;
    const text = end >= whole.length ? whole : (values?.cut(whole, end) ?? whole.slice(0, end));
    return concealedIn(visitNames(text, depth));
  }

  const concealedIn = (text: string): string => (values ? values.conceal(text) : text);

  function visitNames(given: string, depth: number): string {
    // No name with something behind it.
    if (given.length < 2) return given;
    if (/^\s*[{["]/.test(given)) return visitJsonText(given, depth);
    const text = given.includes("@") ? withoutUserInfo(given) : given;
    if (!SIGNS.test(text)) return text;
    return /[=%]/.test(text) && !/[\s"'{}<>]/.test(text) ? visitPairs(text, depth) : scrub(text);
  }

  function withoutUserInfo(text: string): string {
    return text.replaceAll(USER_INFO, (_, slashes: string, info: string) => {
      const password = info.slice(info.indexOf(":") + 1);
      found?.add([password, decoded(password)]);
      return `${slashes}${REDACTED}@`;
    });
  }

  /** JSON inside a string, as in filters and in user data. */
  function visitJsonText(text: string, depth: number): string {
    if (depth >= DEPTH) return tooDeep();
    if (isTooMuchJson(text)) {
      found?.seal();
      return scrub(withoutUserInfo(text));
    }
    let parsed: unknown;
    try {
      parsed = failures < MOST_FAILURES ? JSON.parse(text) : undefined;
    } catch {
      failures += 1;
    }
    if (parsed === undefined) return scrub(withoutUserInfo(text));
    left += text.length;
    const kept = JSON.stringify(visit(parsed, depth + 1));
    // Where nothing was taken out the text stays as it came, spaces and all digits of numbers included.
    return kept === JSON.stringify(parsed) ? text : kept;
  }

  /**
   * Text of no known form, a cut JSON body among them: nothing tells where a secret ends in it, so
   * everything behind the first secret name goes, and behind the first `value`, whose name may follow or be cut off.
   */
  function scrub(text: string): string {
    const readable = unescaped(text);
    const places = [secrets.firstIn(readable), readable.search(VALUE_MEMBER)].filter((at) => at !== -1);
    if (places.length === 0) return text;
    for (const at of places) {
      // What the value may be: the first word behind the sign behind the name.
      const signs = readable.slice(at + 1, at + 1000).matchAll(VALUE);
      const word = signs.find(([, word]) => word && !CHARSET.test(word))?.[1] ?? "";
      if (!secrets.has(word)) found?.add(word);
    }
    return readable.slice(0, Math.min(...places)) + REDACTED;
  }

  const isSecretName = (name: string): boolean => secrets.has(name) || secrets.hasTexts(name);

  /** `name=value` pairs between any of the separators of URLs, forms and cookies. */
  function visitPairs(text: string, depth: number): string {
    const pieces = text.split(/([?&#;,\s]+)/);
    const isValueSecret = isCut || pieces.some(pairNamesSecret);
    return pieces
      .map((piece) => {
        const parts = piece.split("=");
        const name = parts.slice(0, -1).findIndex((part) => {
          const readable = unescaped(decoded(part));
          return (isValueSecret && readable === "value") || isSecretName(readable);
        });
        if (name === -1) return parts.map((part) => visitPart(part, depth)).join("=");
        const value = parts.slice(name + 1).join("=");
        found?.add([value, decoded(value)]);
        return [...parts.slice(0, name).map((part) => visitPart(part, depth)), parts[name], REDACTED].join(
          "=",
        );
      })
      .join("");
  }

  /** `key=password`, of a pair `value=…` next to it. */
  function pairNamesSecret(pair: string): boolean {
    const at = pair.indexOf("=");
    return (
      at !== -1 &&
      NAMING.includes(unescaped(decoded(pair.slice(0, at)))) &&
      isSecretName(unescaped(decoded(pair.slice(at + 1))))
    );
  }

  /** A name or a value, which may hold JSON, a URL, or another form. */
  function visitPart(part: string, depth: number): string {
    if (!/[^\w.~*-]/.test(part)) return part;
    if (depth >= DEPTH) return tooDeep();
    const text = decoded(part);
    const kept = text === part ? visitPlain(text, depth) : visitWhole(text, depth + DECODED_DEPTH);
    return kept === text ? part : encodeURIComponent(kept.toWellFormed());
  }

  function visitPlain(given: string, depth: number): string {
    if (/^\s*[{["]/.test(given)) return visitJsonText(given, depth);
    const text = given.includes("@") ? withoutUserInfo(given) : given;
    return SIGNS.test(text) ? scrub(text) : text;
  }

  /** What was counted already. */
  function visitWhole(text: string, depth: number): string {
    const before = left;
    left = text.length;
    const kept = visitText(text, depth);
    left = before;
    return kept;
  }

  /**
   * A path, segment by segment. Where it `named` no route, a segment behind a secret name is its value; in a route
   * such a segment may be the route's own.
   */
  function visitPath(path: string, named: boolean): string {
    const bare = withoutUserInfo(path);
    const text = decoded(bare.replaceAll("+", "%2B"));
    let secret = false;
    const kept = withoutUserInfo(text)
      .split("/")
      .map((segment) => {
        const value = secret && segment !== "";
        secret = !named && (segment === "" ? secret : secrets.has(unescaped(segment)));
        if (!value) return visitNames(segment, 0);
        found?.add([segment, encodeURIComponent(segment.toWellFormed())]);
        return REDACTED;
      })
      .join("/");
    return kept === text ? bare : kept;
  }

  /** Whether a segment of a route's path stays: it is the route's own, an id, or a word that is no token. */
  function isOwn(segment: string): boolean {
    const text = decoded(segment);
    if (literals?.has(text) || ID.test(text)) return true;
    return values?.sealed === false && WORDS.test(text) && !values.isToken(text);
  }

  /** A client chooses which values are secret, so that it must not be able to hide by them what it called. */
  function concealedInRoute(path: string): string {
    let kept = "";
    let other = "";
    for (const [index, segment] of path.split("/").entries()) {
      if (index > 0) other += "/";
      if (segment === "" || !isOwn(segment)) other += segment;
      else {
        kept += concealedBetween(other) + segment;
        other = "";
      }
    }
    return kept + concealedBetween(other);
  }

  const concealedBetween = (text: string): string => (/^\/*$/.test(text) ? text : concealedIn(text));

  return {
    value: (value) => visit(value, 0),
    text: (text) => visitText(text, 0),
    pairs: (text) => concealedIn(visitPairs(text, 0)),
    path: (text, named) => {
      const kept = visitPath(text, named);
      return named ? concealedInRoute(kept) : concealedIn(kept);
    },
    spent: () => left < 0,
  };
}

/**
 * A part of a query or a form without its escapes; the part itself where they are malformed. Nothing is thrown and
 * caught: a client could make that happen thousands of times for one request.
 */
function decoded(text: string): string {
  const spaced = text.replaceAll("+", " ");
  if (!text.includes("%")) return spaced;
  if (/%(?![0-9a-f]{2})/i.test(text)) return text;
  for (const [run] of text.matchAll(/(?:%[0-9a-f]{2})+/gi)) if (!isUtf8(bytesOf(run))) return text;
  return decodeURIComponent(spaced);
}

const bytesOf = (run: string): Buffer => Buffer.from(run.replaceAll("%", ""), "hex");

/** Decodes letters that are not ASCII. A run that is not UTF-8 stays: `decodeURIComponent` would throw for each. */
function decodeRun(run: string): string {
  const bytes = bytesOf(run);
  return isUtf8(bytes) ? bytes.toString() : run;
}

/** Escapes within escapes are followed so far. */
const ROUNDS = 4;

/** A text without JSON's and percent-encoding's escapes. A run of backslashes is looked at once. */
function unescaped(text: string): string {
  let readable = text;
  for (let round = 0; round < ROUNDS && /[%\\]/.test(readable); round += 1) {
    const before = readable;
    readable = before
      .replaceAll(/(?<!\\)\\+u([0-9a-f]{4})/gi, (_, hex: string) => character(hex))
      .replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => character(hex))
      .replaceAll(/(?:%[89a-f][0-9a-f])+/gi, decodeRun);
    if (readable === before) break;
  }
  return readable;
}

const character = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** A number that a parser kept by its digits (`JSON.rawJSON`). */
function isRawJson(value: object): boolean {
  const json = JSON as { isRawJSON?: (value: unknown) => boolean };
  return json.isRawJSON?.(value) === true;
}

/** The beginning of a text, of at most so many bytes of UTF-8, without a torn character at its end. */
export function truncateUtf8(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, limit), { stream: true });
}
