/** Makes an answer smaller as long as it shows the same. */
import { isObject } from "../../base/index.ts";

/** Answers that are tried. */
const MOST_TRIES = 600;

/** The paths of members that stay, in all items of lists. */
type Kept = readonly (readonly string[])[];

/** All answers that have one member less, or one item, or a shorter text. Those that lack most come first. */
function* smaller(value: unknown, kept: Kept): Generator<unknown> {
  if (Array.isArray(value)) {
    if (value.length > 1) yield value.slice(0, 1);
    for (const [index, item] of value.entries())
      for (const less of smaller(item, kept)) yield value.with(index, less);
  } else if (isObject(value)) {
    for (const key of Object.keys(value))
      if (!kept.some(([first]) => first === key))
        yield Object.fromEntries(Object.entries(value).filter(([each]) => each !== key));
    for (const [key, member] of Object.entries(value)) {
      const below = kept.flatMap(([first, ...deeper]) =>
        first === key && deeper.length > 0 ? [deeper] : [],
      );
      for (const less of smaller(member, below)) yield { ...value, [key]: less };
    }
  } else if (typeof value === "string" && value.length > 1) {
    yield value.slice(0, Math.ceil(value.length / 2));
    yield value.slice(0, -1);
  }
}

/**
 * Finds the smallest answer that shows the same.
 *
 * @param kept The paths of members that it is about
 * @param shows Whether an answer still shows it
 */
export async function shrinkAnswer(
  answer: unknown,
  kept: Kept,
  shows: (answer: unknown) => Promise<boolean>,
): Promise<unknown> {
  let smallest = answer;
  let left = MOST_TRIES;
  for (let found = true; found && left > 0;) {
    found = false;
    for (const candidate of smaller(smallest, kept)) {
      left -= 1;
      if (left < 0) break;
      if (!(await shows(candidate))) continue;
      smallest = candidate;
      found = true;
      break;
    }
  }
  return smallest;
}
