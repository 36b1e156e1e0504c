/** Entity tags (RFC 9110, section 8.8.3). */

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;

/** Matches the characters of a tag between its quotation marks. */
const TAG_TEXT = /^[\x21\x23-\x7e]+$/;

export const isEntityTag = (text: string): boolean => ENTITY_TAG.test(text);

/** Returns a text as an entity tag; undefined if it can't be one. */
export function toEntityTag(text: string): string | undefined {
  if (isEntityTag(text)) return text;
  return TAG_TEXT.test(text) ? `"${text}"` : undefined;
}

const withoutWeakness = (tag: string): string => tag.trim().replace(/^W\//, "");

/** Whether a header such as `If-None-Match` contains a tag, by the weak comparison (RFC 9110, section 8.8.3.2). */
export const hasTag = (header: string, tag: string): boolean =>
  header.trim() === "*" || header.split(",").some((each) => withoutWeakness(each) === withoutWeakness(tag));
