/** The headers of the upstream's responses. */

/** The upstream's headers by lower-case name. */
export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the value of a header as one text. */
export const joinValue = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(", ") : value;

/** Returns each header as one text. */
export const joinLines = (headers: ReceivedHeaders): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, joinValue(value)]));
