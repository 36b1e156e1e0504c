/** Escapes characters that act on a terminal, or change the order in which a text is displayed. */

/** Control characters (C0 and C1), marks of bidirectional text, and line breaks that only some programs recognize. */
export const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** The same characters, except line breaks and tabs, for a text with several lines. */
const INVISIBLE_IN_LINES = /(?!\r\n|[\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Escapes a character as JSON does, so that escaped JSON has the same value. */
const escapeCharacter = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Formats a text for a terminal: characters that would act on it are escaped. Line breaks and tabs remain. */
export const toVisibleText = (text: string): string => text.replaceAll(INVISIBLE_IN_LINES, escapeCharacter);

/** Formats a text for one line of a terminal: line breaks and tabs are escaped as well. */
export const toVisibleLine = (text: string): string => text.replaceAll(INVISIBLE, escapeCharacter);
