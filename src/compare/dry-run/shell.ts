import { INVISIBLE } from "../../base/index.ts";

const hasInvisible = (text: string): boolean => text.search(INVISIBLE) >= 0;

/** Octal, because it has the same three digits in all shells. */
const escapeBytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/**
 * Quotes a text without NUL as one argument for a shell (bash, zsh, ksh). A shell that does not know `$'…'` gets another
 * argument, and never a command: there is no quotation mark inside it.
 */
export function shellQuote(text: string): string {
  if (!hasInvisible(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(/['\\]/g, escapeBytes).replaceAll(INVISIBLE, escapeBytes)}'`;
}

/** The same; a text of letters, digits and some punctuation stays as it is. */
export const shellWord = (text: string): string => (/^[\w./-]+$/.test(text) ? text : shellQuote(text));

/** Characters without a meaning inside double quotes. */
const PLAIN = /^[\w .:;,=&?/@%+-]*$/;

/** Quotes texts around a variable of the shell as one argument. @param variable `$TOKEN` */
export function shellQuoteAround(before: string, variable: string, after = ""): string {
  if (PLAIN.test(before + after)) return `"${before}${variable}${after}"`;
  return [before, after].map((text) => (text === "" ? "" : shellQuote(text))).join(`"${variable}"`);
}

/** A comment line for a shell. Nothing in the text ends the line. */
export const shellComment = (text: string): string => `# ${text.replaceAll(INVISIBLE, " ")}`;

/** The variable of a shell with the address of an upstream: `$V4`, `$NEW_SHOP`. @param name as in the pack */
export const addressVariable = (name: string): string =>
  `$${name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_")}`;
