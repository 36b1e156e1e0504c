import type { SecretNames } from "./secret-names.ts";

/** Names of secrets in a text of unknown format, behind the first one. Each costs a search of the rest of the text. */
const MAX_NAMES = 32;

/**
 * The offsets of the secret names in a text behind the first one: what is not redacted may repeat their values.
 *
 * @returns undefined if there are too many of them.
 */
export function findFurtherNames(text: string, first: number, secrets: SecretNames): number[] | undefined {
  const places: number[] = [];
  for (let from = first + 1; ;) {
    const at = secrets.firstIn(text.slice(from));
    if (at === -1) return places;
    if (places.length === MAX_NAMES) return undefined;
    places.push(from + at);
    from += at + 1;
  }
}
