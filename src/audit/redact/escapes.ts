/** Matches a run of percent-encoded bytes. */
const PERCENT = /(?:%[0-9a-f]{2})+/gi;
/** Matches a JSON escape of a character, with all preceding backslashes. Each run of backslashes is read once. */
const JSON_ESCAPE = /(?<!\\)\\+u([0-9a-f]{4})/gi;
/** The maximum number of nested escapes that {@link unescapeText} decodes. */
const MAX_ROUNDS = 4;

/** Decodes percent-encoded bytes. Malformed escapes stay unchanged. Never throws: a client could cause many exceptions. */
const decodePercent = (text: string): string =>
  text.replaceAll(PERCENT, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString());

/** Decodes a part of a query or of a form. */
export const decodeFormText = (text: string): string => decodePercent(text.replaceAll("+", " "));

/** Decodes JSON's escapes of characters, and percent-encoding. */
export function unescapeText(text: string): string {
  if (!/[%\\]/.test(text)) return text;
  let [readable, before] = [text, ""];
  for (let round = 0; round < MAX_ROUNDS && readable !== before; round += 1) {
    before = readable;
    const unescaped = readable.replaceAll(JSON_ESCAPE, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
    readable = decodePercent(unescaped);
  }
  return readable;
}

/** Maximum length of names that are decoded and compared. A longer name is secret if it may contain a secret name. */
export const MAX_NAME_LENGTH = 1024;

/** Converts a name of a query or a form to the form in which names are compared. */
export const readName = (name: string): string =>
  name.length <= MAX_NAME_LENGTH && /[%+\\]/.test(name) ? unescapeText(decodeFormText(name)) : name;
