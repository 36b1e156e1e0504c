/** Percent-encoded bytes, one after the other. */
const PERCENT = /(?:%[0-9a-f]{2})+/gi;
/** A JSON escape of a character, with all backslashes of its run. Each run is read once. */
const JSON_ESCAPE = /(?<!\\)\\+u([0-9a-f]{4})/gi;
/** The maximum number of escapes within escapes that {@link unescapeText} decodes. */
const MAX_ROUNDS = 4;

/** Replaces percent-encoded bytes. A malformed escape stays as it is. Nothing is thrown: a client could cause thousands of exceptions. */
const decodePercent = (text: string): string =>
  text.includes("%")
    ? text.replaceAll(PERCENT, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString())
    : text;

/** Decodes a part of a query or of a form. */
export const decodeFormText = (text: string): string => decodePercent(text.replaceAll("+", " "));

/** Decodes JSON's escapes of characters, and percent-encoding. */
export function unescapeText(text: string): string {
  let readable = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = readable;
    if (readable.includes("\\u"))
      readable = readable.replaceAll(JSON_ESCAPE, (_, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 16)),
      );
    readable = decodePercent(readable);
    if (readable === before) break;
  }
  return readable;
}

/** A longer name is neither decoded nor compared: it is secret if a secret name may be in it. */
export const MAX_NAME_LENGTH = 1024;

/** A name of a query or of a form as it is compared. */
export const readName = (name: string): string =>
  name.length <= MAX_NAME_LENGTH && /[%+\\]/.test(name) ? unescapeText(decodeFormText(name)) : name;
