import { Failure } from "../failure.ts";

/** Characters of a picture, and digits that one of its parts may ask for. Longer ones are mistakes, or attacks. */
const MAX_PICTURE = 1000;

/** Pictures are literals of a pack as a rule. The limit is for those that come from data. */
const MAX_PICTURES = 100;

/**
 * Returns a function that parses a picture, and remembers the result: a picture is used for each row of a list. Pictures
 * that are invalid are parsed again.
 *
 * @throws {Failure} too_large If a picture has more than 1000 characters; whatever `parse` throws.
 */
export function rememberPictures<T>(parse: (picture: string) => T): (picture: string) => T {
  const parsed = new Map<string, T>();
  return (picture) => {
    const found = parsed.get(picture);
    if (found !== undefined) return found;
    checkPicture(picture.length);
    if (parsed.size === MAX_PICTURES) parsed.clear();
    const result = parse(picture);
    parsed.set(picture, result);
    return result;
  };
}

/** Checks the length of a picture, or the number of digits that it asks for. @throws {Failure} too_large */
export function checkPicture(length: number): void {
  if (length > MAX_PICTURE)
    throw new Failure("too_large", 0, `a picture has more than ${MAX_PICTURE} characters or digits`);
}
