import { isUtf8 } from "node:buffer";

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const HEX_DIGITS = 4;

/** The value of each byte that is a hexadecimal digit, or -1. */
const HEX = Int8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[0-9a-f]/i.test(character) ? Number.parseInt(character, 16) : -1;
});

/** Replaces percent-encoded bytes. A malformed escape stays as it is. The result is a part of the given bytes. */
function decodePercent(bytes: Buffer): Buffer {
  let end = bytes.indexOf(PERCENT);
  if (end < 0) return bytes;
  for (let at = end; at < bytes.length; end += 1) {
    const code = bytes[at] as number;
    const high = code === PERCENT && at + 2 < bytes.length ? (HEX[bytes[at + 1] as number] as number) : -1;
    const low = high < 0 ? -1 : (HEX[bytes[at + 2] as number] as number);
    bytes[end] = low < 0 ? code : high * 16 + low;
    at += low < 0 ? 1 : 3;
  }
  return bytes.subarray(0, end);
}

/**
 * Decodes a part of a query or of a form. Returns it unchanged if its escapes are malformed. Nothing is thrown and caught,
 * because a client could cause thousands of exceptions with one request.
 */
export function decodeFormText(text: string): string {
  const spaced = text.replaceAll("+", " ");
  if (!text.includes("%")) return spaced;
  if (/%(?![0-9a-f]{2})/i.test(text)) return text;
  const bytes = decodePercent(Buffer.from(spaced));
  return isUtf8(bytes) ? bytes.toString() : text;
}

/** A backslash, or several, before the code of a character. */
const JSON_ESCAPE = /\\u[0-9a-f]{4}/i;

/** Replaces JSON's escapes of characters, with all backslashes of a run. Each character is read once. */
function decodeJsonEscapes(text: string): string {
  const units = new Uint16Array(text.length);
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const start = at;
    while (text.charCodeAt(at) === BACKSLASH) at += 1;
    const digits = at > start ? text.slice(at, at + 1 + HEX_DIGITS) : "";
    if (/^u[0-9a-f]{4}$/i.test(digits)) {
      units[end++] = Number.parseInt(digits.slice(1), 16);
      at += HEX_DIGITS;
    } else {
      units.fill(BACKSLASH, end, end + at - start);
      end += at - start;
      if (at < text.length) units[end++] = text.charCodeAt(at);
    }
  }
  return Buffer.from(units.buffer, 0, 2 * end).toString("utf16le");
}

/** The maximum number of escapes within escapes that {@link unescapeText} decodes. */
const MAX_ROUNDS = 4;

/** Decodes JSON's escapes of characters, and percent-encoding. */
export function unescapeText(text: string): string {
  let readable = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = readable;
    if (JSON_ESCAPE.test(readable)) readable = decodeJsonEscapes(readable);
    if (/%[0-9a-f]{2}/i.test(readable)) readable = decodePercent(Buffer.from(readable)).toString();
    if (readable === before) break;
  }
  return readable;
}
