/** A regular expression can't be run in linear time. The message is the reason. */
export class UnsupportedRegexError extends Error {
  override readonly name = "UnsupportedRegexError";
  readonly code = "AG_REGEX_UNSUPPORTED";
}

/** Whether one character matches (a code point in `u` mode, else a UTF-16 unit). */
export type TakesCharacter = (code: number) => boolean;

/** A node of the syntax tree of a regular expression. The test of a character is created when it is first used. */
export type RegexNode =
  | { readonly kind: "character"; readonly test: () => TakesCharacter }
  | { readonly kind: "assertion"; readonly what: "^" | "$" | "b" | "B" }
  | { readonly kind: "look"; readonly ahead: boolean; readonly negative: boolean; readonly body: RegexNode }
  | { readonly kind: "sequence"; readonly parts: readonly RegexNode[] }
  | { readonly kind: "choice"; readonly options: readonly RegexNode[] }
  | { readonly kind: "capture"; readonly body: RegexNode; readonly index: number }
  | {
      readonly kind: "repeat";
      readonly body: RegexNode;
      readonly least: number;
      readonly most: number;
      readonly greedy: boolean;
    };

/** A parsed regular expression. */
export interface ParsedRegex {
  readonly root: RegexNode;
  /** Number of capturing groups. */
  readonly groups: number;
  readonly unicode: boolean;
  readonly multiline: boolean;
}

const ASCII = 128;

/** Creates the test of an atom. JavaScript's engine tests single characters, so classes and case folding are its own. */
function characterTest(atom: string, flags: string): TakesCharacter {
  const whole = new RegExp(`^(?:${atom})$`, flags);
  const ascii = Uint8Array.from({ length: ASCII }, (_, code) =>
    Number(whole.test(String.fromCharCode(code))),
  );
  return (code) => (code < ASCII ? ascii[code] === 1 : whole.test(String.fromCodePoint(code)));
}

const SYNTAX = /[\^$\\.*+?()[\]{}|/]/;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})(\??)/y;
/** A whole escape sequence. In `u` mode a surrogate pair is one character. */
const ESCAPE = /\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|c[A-Za-z]|0(?!\d)|[^1-9kxuc0]|[xu])/y;
const UNICODE_ESCAPE =
  /\\(?:u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|c[A-Za-z]|0(?!\d)|[^1-9kxucpP0])/y;
const GROUP = /\((?:\?(?:(:)|(=|!|<=|<!)|<[^>]*>))?/y;

/**
 * Parses a regular expression that is valid in JavaScript.
 *
 * @throws {UnsupportedRegexError} For back references, octal escapes, inline modifiers, and repeated look-arounds.
 */
export function parseRegex(source: string, flags: string): ParsedRegex {
  const unicode = flags.includes("u");
  const characterFlags = flags.replace(/[gmyd]/g, "");
  let at = 0;
  let groups = 0;

  function sticky(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found) at = pattern.lastIndex;
    return found;
  }
  function character(atom: string): RegexNode {
    let test: TakesCharacter | undefined;
    return { kind: "character", test: () => (test ??= characterTest(atom, characterFlags)) };
  }

  function choice(): RegexNode {
    const options = [sequence()];
    while (source[at] === "|") {
      at += 1;
      options.push(sequence());
    }
    return options.length === 1 ? (options[0] as RegexNode) : { kind: "choice", options };
  }

  function sequence(): RegexNode {
    const parts: RegexNode[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(repeated(term()));
    return parts.length === 1 ? (parts[0] as RegexNode) : { kind: "sequence", parts };
  }

  function repeated(body: RegexNode): RegexNode {
    const found = sticky(QUANTIFIER);
    if (!found) return body;
    if (body.kind === "assertion" || body.kind === "look")
      throw new UnsupportedRegexError("a look-around is repeated");
    const [sign = "", least, comma, most, lazy] = found;
    const first = least === undefined ? (sign.startsWith("+") ? 1 : 0) : Number(least);
    const unbounded = sign.startsWith("*") || sign.startsWith("+") || (comma !== undefined && most === "");
    const last = sign.startsWith("?") ? 1 : Number(most || least);
    return { kind: "repeat", body, least: first, most: unbounded ? Infinity : last, greedy: lazy === "" };
  }

  function term(): RegexNode {
    const next = source[at] ?? "";
    if (next === "^" || next === "$") {
      at += 1;
      return { kind: "assertion", what: next };
    }
    if (next === "(") return group();
    if (next === "[") return characterClass();
    if (next === "\\") return escape();
    const literal = unicode ? String.fromCodePoint(source.codePointAt(at) ?? 0) : next;
    at += literal.length;
    return character(literal === "." ? "." : SYNTAX.test(literal) ? `\\${literal}` : literal);
  }

  function group(): RegexNode {
    const [, plain, look] = sticky(GROUP) ?? [];
    if (source[at] === "?") throw new UnsupportedRegexError("it has inline flags");
    const index = plain === undefined && look === undefined ? (groups += 1) : 0;
    const body = choice();
    at += 1;
    if (look !== undefined)
      return { kind: "look", ahead: look.length === 1, negative: look.endsWith("!"), body };
    return index === 0 ? body : { kind: "capture", body, index };
  }

  function characterClass(): RegexNode {
    const start = at;
    for (at += 1; source[at] !== "]"; at += 1) if (source[at] === "\\") at += 1;
    at += 1;
    return character(source.slice(start, at));
  }

  function escape(): RegexNode {
    const what = source[at + 1];
    if (what === "b" || what === "B") {
      at += 2;
      return { kind: "assertion", what };
    }
    const [atom] = sticky(unicode ? UNICODE_ESCAPE : ESCAPE) ?? [];
    if (atom === undefined) throw new UnsupportedRegexError("it has a back reference or an octal escape");
    return character(atom);
  }

  const root = choice();
  return { root, groups, unicode, multiline: flags.includes("m") };
}

/** Whether a node can match the empty string. */
export function isNullable(node: RegexNode): boolean {
  if (node.kind === "character") return false;
  if (node.kind === "assertion" || node.kind === "look") return true;
  if (node.kind === "sequence") return node.parts.every(isNullable);
  if (node.kind === "choice") return node.options.some(isNullable);
  if (node.kind === "capture") return isNullable(node.body);
  return node.least === 0 || isNullable(node.body);
}
