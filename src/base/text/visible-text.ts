/** Characters of a text that act on a terminal, or change the order in which it is displayed. */

/** Control characters, C1 included, marks of bidirectional text, and line breaks that only some programs know. */
export const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** The same characters, except line breaks and tabs, for a text with several lines. */
const INVISIBLE_IN_LINES = /(?!\r\n|[\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Escapes a character as JSON does, so that JSON stays the same JSON. */
const escapeCharacter = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A text for a terminal: characters that would act on it are escaped. Line breaks and tabs remain. */
export const toVisibleText = (text: string): string => text.replaceAll(INVISIBLE_IN_LINES, escapeCharacter);

/** A text for one line of a terminal: its line breaks and tabs are escaped, too. */
export const toVisibleLine = (text: string): string => text.replaceAll(INVISIBLE, escapeCharacter);
