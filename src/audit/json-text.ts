/** Characters and values of JSON that is read to be redacted: what reading costs grows with both. */
const MOST_CHARACTERS = 1024 * 1024;
const MOST_VALUES = 8000;

/** Whether a text, were it JSON, would be too much to be read. Linear; short texts cost nothing. */
export function isTooMuchJson(text: string): boolean {
  if (text.length > MOST_CHARACTERS) return true;
  // A value takes two characters at least, with what sets it off from the next.
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

/** The place of the quotation mark that ends a string, or behind the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** A JSON body as the text it travelled as, which is read by nobody before a store writes it. */
export class JsonText {
  readonly text: string;

  /** @param text whole and sound JSON, without secrets: it goes into the record's own text as it is. */
  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}
