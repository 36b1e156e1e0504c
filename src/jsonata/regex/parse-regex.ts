/** A regular expression can't be run in linear time. The message is the reason. */
export class UnsupportedRegexError extends Error {
  override readonly name = "UnsupportedRegexError";
  readonly code = "AG_REGEX_UNSUPPORTED";
}

/** Whether one character matches (a code point in `u` mode, otherwise a UTF-16 unit). */
export type TakesCharacter = (code: number) => boolean;

/** A node of the syntax tree of a regular expression. The test of a character is created on its first use. */
export type RegexNode =
  | { readonly kind: "character"; readonly test: () => TakesCharacter }
  | Assertion
  | {
      readonly kind: "look";
      readonly ahead: boolean;
      readonly negative: boolean;
      readonly body: RegexNode;
      readonly hasGroups: boolean;
    }
  | { readonly kind: "sequence"; readonly parts: readonly RegexNode[] }
  | { readonly kind: "choice"; readonly options: readonly RegexNode[] }
  | { readonly kind: "capture"; readonly body: RegexNode; readonly index: number }
  | {
      readonly kind: "repeat";
      readonly body: RegexNode;
      readonly least: number;
      readonly most: number;
      readonly greedy: boolean;
      /** The numbers of the capturing groups in the body: from the first up to, but without, the last. */
      readonly groups: readonly [first: number, end: number];
    };

interface Assertion {
  readonly kind: "assertion";
  readonly what: "^" | "$" | "b" | "B";
}

/** A parsed regular expression. */
export interface ParsedRegex {
  readonly root: RegexNode;
  /** Number of capturing groups. */
  readonly groups: number;
  readonly unicode: boolean;
  readonly multiline: boolean;
}

const ASCII = 128;

/** Creates the test of an atom. JavaScript's engine tests single characters, so it defines classes and case folding. */
function characterTest(atom: string, flags: string): TakesCharacter {
  const whole = new RegExp(`^(?:${atom})$`, flags);
  const ascii = Uint8Array.from({ length: ASCII }, (_, code) =>
    Number(whole.test(String.fromCharCode(code))),
  );
  return (code) => (code < ASCII ? ascii[code] === 1 : whole.test(String.fromCodePoint(code)));
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})(\??)/y;
const ASSERTION = /\^|\$|\\[bB]/y;
/** A class, a whole escape sequence, or a literal character. In `u` mode a surrogate pair is one character. */
const ATOM =
  /\[(?:\\[^]|[^\]\\])*\]|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|c[A-Za-z]|0(?!\d)|[^1-9kxuc0]|[xu])|[^\\]/y;
const UNICODE_ATOM =
  /\[(?:\\[^]|[^\]\\])*\]|\\(?:u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|c[A-Za-z]|0(?!\d)|[^1-9kxucpP0])|[^\\]/uy;
const GROUP = /\((?:\?(?:(:)|(=|!|<=|<!)|<[^>]*>))?/y;

/**
 * Parses a regular expression that is valid in JavaScript.
 *
 * @throws {UnsupportedRegexError} For back references, octal escapes, inline modifiers, and repeated look-arounds.
 */
export const parseRegex = (source: string, flags: string): ParsedRegex =>
  new RegexParser(source, flags).parse();

/** Recursive descent: one method for each rule of the grammar, from the loosest operator to the tightest. */
class RegexParser {
  readonly #source: string;
  readonly #flags: string;
  readonly #characterFlags: string;
  readonly #unicode: boolean;
  #at = 0;
  #groups = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
    this.#characterFlags = flags.replace(/[gmyd]/g, "");
    this.#unicode = flags.includes("u");
  }

  parse(): ParsedRegex {
    const root = this.#choice();
    const multiline = this.#flags.includes("m");
    return { root, groups: this.#groups, unicode: this.#unicode, multiline };
  }

  /** The next character; empty at the end of the pattern. */
  get #next(): string {
    return this.#source[this.#at] ?? "";
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #character(atom: string): RegexNode {
    let test: TakesCharacter | undefined;
    return { kind: "character", test: () => (test ??= characterTest(atom, this.#characterFlags)) };
  }

  #choice(): RegexNode {
    const first = this.#sequence();
    if (this.#next !== "|") return first;
    const options = [first];
    while (this.#next === "|") {
      this.#at += 1;
      options.push(this.#sequence());
    }
    return { kind: "choice", options };
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = [];
    while (!["", "|", ")"].includes(this.#next)) {
      const first = this.#groups + 1;
      parts.push(this.#repeated(this.#term(), first));
    }
    const [only] = parts;
    return only && parts.length === 1 ? only : { kind: "sequence", parts };
  }

  #repeated(body: RegexNode, firstGroup: number): RegexNode {
    const found = this.#match(QUANTIFIER);
    if (!found) return body;
    if (body.kind === "assertion" || body.kind === "look")
      throw new UnsupportedRegexError("a look-around is repeated");
    const [sign = "", least, comma, most, lazy] = found;
    const unbounded = sign.startsWith("*") || sign.startsWith("+") || (comma !== undefined && most === "");
    const last = sign.startsWith("?") ? 1 : Number(most || least);
    return {
      kind: "repeat",
      body,
      least: least === undefined ? Number(sign.startsWith("+")) : Number(least),
      most: unbounded ? Infinity : last,
      greedy: lazy === "",
      groups: [firstGroup, this.#groups + 1],
    };
  }

  #term(): RegexNode {
    const [assertion] = this.#match(ASSERTION) ?? [];
    if (assertion !== undefined)
      return { kind: "assertion", what: assertion.replace("\\", "") as Assertion["what"] };
    if (this.#next === "(") return this.#group();
    const [atom] = this.#match(this.#unicode ? UNICODE_ATOM : ATOM) ?? [];
    if (atom === undefined) throw new UnsupportedRegexError("it has a back reference or an octal escape");
    return this.#character(atom);
  }

  #group(): RegexNode {
    const [, plain, look] = this.#match(GROUP) ?? [];
    if (this.#next === "?") throw new UnsupportedRegexError("it has inline flags");
    const index = plain === undefined && look === undefined ? (this.#groups += 1) : 0;
    const groups = this.#groups;
    const body = this.#choice();
    this.#at += 1;
    const hasGroups = this.#groups > groups;
    if (look !== undefined)
      return { kind: "look", ahead: look.length === 1, negative: look.endsWith("!"), body, hasGroups };
    return index === 0 ? body : { kind: "capture", body, index };
  }
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
