import { distance } from "fastest-levenshtein";

/** Longer names are not compared: the cost is the product of both lengths. */
const MAX_LENGTH = 60;

/** Returns the name most similar to `name`. Undefined if none is similar. */
export function closestMatch(name: string, among: readonly string[]): string | undefined {
  const maxDistance = Math.max(1, Math.floor(name.length / 3));
  const [best] = [...among]
    .filter((each) => Math.abs(each.length - name.length) <= maxDistance && each.length <= MAX_LENGTH)
    .map((each) => ({ each, far: distance(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ far }) => far <= maxDistance)
    .sort((a, b) => a.far - b.far);
  return best?.each;
}

/** Maximum number of names that a hint lists. Above the first number, a close match replaces the list. */
const [MAX_NAMES_WITH_MATCH, MAX_NAMES] = [16, 24];

/** A name in the list of a hint. It is quoted if it is empty, or would read as "there are none". */
const toVisible = (name: string, index: number): string =>
  name === "" || (name === "none" && index === 0) ? `"${name}"` : name;

/** The hint for an unknown name: "did you mean …?" if a similar name exists, and the valid names. */
export function suggestionFor(name: string, among: readonly string[]): string {
  const near = closestMatch(name, among);
  if (near !== undefined && among.length > MAX_NAMES_WITH_MATCH) return `did you mean "${near}"?`;
  const more = among.length > MAX_NAMES ? `, and ${among.length - MAX_NAMES} more` : "";
  const names = among.slice(0, MAX_NAMES).map(toVisible).join(", ");
  const all = names === "" ? "there is none" : `there are: ${names}${more}`;
  return near === undefined ? all : `did you mean "${near}"? ${all}`;
}
