import { parseJson } from "../../base/json/parse.ts";

/**
 * Limits of JSON that is parsed for redaction. The cost of parsing grows with the number of characters and of values.
 */
const MOST_CHARACTERS = 1024 * 1024;
const MOST_VALUES = 8000;

/** Whether a text exceeds the limits. Takes linear time. Short texts are not scanned. */
export function isTooMuchJson(text: string): boolean {
  if (text.length > MOST_CHARACTERS) return true;
  // A value takes at least two characters, including its separator.
  if (text.length <= 2 * MOST_VALUES) return false;
  let values = 1;
  for (let at = 0; at < text.length && values <= MOST_VALUES; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA || code === BRACKET || code === BRACE) values += 1;
  }
  return values > MOST_VALUES;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

/** Returns the position of the closing quotation mark, or the length of the text if the string is not closed. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** A JSON body as its original bytes. It is not parsed before a store writes it. */
export class JsonText {
  readonly bytes: Buffer;

  /** @param json Complete, valid JSON without secrets, as text or in UTF-8. Bytes must not change afterwards. */
  constructor(json: string | Buffer) {
    this.bytes = typeof json === "string" ? Buffer.from(json) : json;
  }

  get text(): string {
    return this.bytes.toString();
  }

  toJSON(): unknown {
    return parseRecorded(this.text);
  }
}

/** Parses JSON that may be nested deeply. Numbers keep all their digits. @throws {SyntaxError} */
export const parseRecorded = (text: string): unknown => parseJson(text, { maxDepth: Infinity });

/** The value of a text that is JSON. */
export function tryParse(text: string): { value: unknown } | undefined {
  try {
    return { value: parseRecorded(text) };
  } catch {
    return undefined;
  }
}
