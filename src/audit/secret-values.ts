/** What is written in place of a secret. */
export const REDACTED = "[redacted]";

/** Shorter values occur anywhere; of these few characters a value is found only where no letter or digit is next to it. */
const SHORTEST = 3;
/** The same of values out of a path, a query or a header. */
const SHORTEST_OF_HEAD = 6;
/** So many characters identify a value: no look at a text goes deeper, whatever values it is searched for. */
export const NEEDLE = 32;
/** Values of one exchange, in all spellings. With more than these nothing of its words is recorded. */
const MOST = 500;
/** Texts are searched for so few values one after the other, which the platform does faster than any code here. */
const FEW = 4;
const DEPTH = 64;

interface Node {
  readonly next: Map<number, Node>;
  /** Values that begin with the letters that lead here, or are just these. */
  readonly values: string[];
}

const node = (): Node => ({ next: new Map(), values: [] });

/**
 * The values that stood under secret names in one request, and its token: wherever one of them comes back in the same
 * exchange it is replaced. A value is also found as JSON, URLs and forms spell it. The time of a search grows with the
 * text alone.
 */
export class SecretValues {
  readonly #values = new Set<string>();
  readonly #tokens: string[] = [];
  /** The beginnings of the values, while there are few. */
  #needles: readonly string[] | undefined;
  #hasOthers = false;
  #root: Node | undefined;
  #sealed = false;
  #shortest = SHORTEST;

  /** Whether there are more than can be looked for, so that no text of the exchange is safe to be recorded. */
  get sealed(): boolean {
    return this.#sealed;
  }

  get size(): number {
    return this.#values.size;
  }

  /** Takes a text or a number, and all that stands in a list or an object. */
  add(value: unknown, depth = 0): void {
    if (typeof value === "string") return this.#addText(value);
    if (typeof value === "number" || typeof value === "bigint") return this.#addText(String(value));
    if (value === null || typeof value !== "object") return;
    if (depth === DEPTH) return this.seal();
    const inner: unknown[] = Array.isArray(value) ? value : Object.values(value);
    for (const item of inner) {
      if (this.#sealed) return;
      this.add(item, depth + 1);
    }
  }

  /** Takes a token, which no word of a path is taken for. */
  addToken(token: string): void {
    this.#tokens.push(token);
    this.#addSpellings(token);
  }

  isToken(text: string): boolean {
    return this.#tokens.includes(text);
  }

  /** The tokens without the other values. */
  tokensOnly(): SecretValues {
    if (!this.#hasOthers && !this.#sealed) return this;
    const tokens = new SecretValues();
    for (const token of this.#tokens) tokens.addToken(token);
    return tokens;
  }

  /**
   * Whether the values that follow come from a body. Those of a request's head, which a client is free to fill with
   * anything, must be longer: short ones occur anywhere, and would take away what the record is to tell.
   */
  fromBody(isBody: boolean): void {
    this.#shortest = isBody ? SHORTEST : SHORTEST_OF_HEAD;
  }

  /** Gives up on telling which values are secret. */
  seal(): void {
    this.#sealed = true;
  }

  #addText(text: string): void {
    if (text.length < this.#shortest || this.#sealed) return;
    this.#hasOthers = true;
    this.#addSpellings(text);
  }

  #addSpellings(text: string): void {
    for (const spelling of spellings(text)) this.#values.add(spelling);
    if (this.#values.size > MOST) this.seal();
    this.#root = undefined;
    this.#needles = undefined;
  }

  /** Whether one of the values could stand in the text. Quick. */
  maybeIn(text: string): boolean {
    if (this.#sealed) return true;
    if (this.#values.size > FEW) return this.#firstIn(text) !== -1;
    this.#needles ??= [...this.#values].map((value) => value.slice(0, NEEDLE));
    for (const needle of this.#needles) if (text.includes(needle)) return true;
    return false;
  }

  #firstIn(text: string): number {
    for (let at = 0; at < text.length; at += 1) if (this.#lengthAt(text, at) > 0) return at;
    return -1;
  }

  /** The text without the values in it. */
  conceal(text: string): string {
    if (this.#sealed) return REDACTED;
    if (!this.maybeIn(text)) return text;
    let kept = "";
    let from = 0;
    for (let at = 0; at < text.length;) {
      const length = this.#lengthAt(text, at);
      if (length === 0) at += 1;
      else {
        kept += text.slice(from, at) + REDACTED;
        at += length;
        from = at;
      }
    }
    return kept + text.slice(from);
  }

  /** The beginning of a text up to a place, or to a value that begins before it and ends behind. */
  cut(text: string, end: number): string {
    if (!this.maybeIn(text)) return text.slice(0, end);
    for (let at = 0; at < end;) {
      const length = this.#lengthAt(text, at);
      if (at + length > end) return text.slice(0, at);
      at += length || 1;
    }
    return text.slice(0, end);
  }

  /** Whether a whole text is one of the values. */
  has(text: string): boolean {
    return this.#sealed || this.#values.has(text);
  }

  /** How long the value is that stands at this place of the text; 0: none does. */
  #lengthAt(text: string, at: number): number {
    let length = 0;
    let here: Node | undefined = (this.#root ??= this.#grow());
    for (let to = at; here; to += 1) {
      for (const value of here.values) length = Math.max(length, lengthOf(value, text, at, to));
      here = here.next.get(text.charCodeAt(to));
    }
    return length;
  }

  #grow(): Node {
    const root = node();
    for (const value of this.#values) {
      let here = root;
      for (let at = 0; at < Math.min(value.length, NEEDLE); at += 1) {
        const next: Node = here.next.get(value.charCodeAt(at)) ?? node();
        here.next.set(value.charCodeAt(at), next);
        here = next;
      }
      here.values.push(value);
    }
    return root;
  }
}

/**
 * How much of a value stands in the text where its beginning does. A long one that is broken off is one all the same,
 * and what was compared is then behind the search.
 */
function lengthOf(value: string, text: string, at: number, to: number): number {
  if (value.length === SHORTEST && (isWord(text.charCodeAt(at - 1)) || isWord(text.charCodeAt(to)))) return 0;
  let end = to;
  while (end - at < value.length && value.charCodeAt(end - at) === text.charCodeAt(end)) end += 1;
  return end - at;
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

/** Characters that no encoding changes. */
const PLAIN = /^[\w.~!*'()-]*$/;

/** A value as JSON texts, URLs and forms have it. */
function spellings(text: string): string[] {
  if (PLAIN.test(text)) return [text];
  const encoded = encodeURIComponent(text.toWellFormed());
  return [text, JSON.stringify(text).slice(1, -1), encoded, encoded.replaceAll("%20", "+")];
}
