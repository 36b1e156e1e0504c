/** A text that every database can store. PostgreSQL rejects U+0000 and unpaired surrogates. */
export const plainText = (text: string): string => text.replaceAll("\u0000", "").toWellFormed();

/** Like {@link plainText}, but keeps null. */
export const plainTextOrNull = (text: string | null): string | null =>
  text === null ? null : plainText(text);
