/** A text as every database stores it: PostgreSQL can't store U+0000 and halves of pairs. */
export const plainText = (text: string): string => text.replaceAll("\u0000", "").toWellFormed();

/** The same, or null without a text. */
export const plainTextOrNull = (text: string | null): string | null =>
  text === null ? null : plainText(text);
