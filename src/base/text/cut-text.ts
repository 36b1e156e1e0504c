/** Marks the end of a text that was cut. The redaction of records searches for the start of a secret before this mark. */
export const CUT = "…";

/** The start of a text with {@link CUT} at its end, if the text has more than `length` characters. */
export const cutText = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}${CUT}` : text;
