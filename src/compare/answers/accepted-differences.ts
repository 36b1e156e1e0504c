/** The differences that the lines of a pack accept. */
import { DAY_MS } from "../../base/index.ts";
import type { AcceptedDifference, Route } from "../../pack/index.ts";
import { type Difference, lineKey } from "./comparison.ts";

/** Whether the last day of a line has passed, in UTC. @param date Milliseconds since the epoch */
export const hasEnded = ({ until }: Pick<AcceptedDifference, "until">, date: number): boolean =>
  date >= Date.parse(until) + DAY_MS;

/** Returns whether lines accept a difference of a route on a day. @param date Milliseconds since the epoch */
export function acceptBy(
  lines: readonly AcceptedDifference[],
  { name }: Pick<Route, "name">,
  date = Date.now(),
): (difference: Pick<Difference, "field" | "kind">) => boolean {
  const current = lines.filter((line) => line.route === name && !hasEnded(line, date));
  const accepted = new Set(current.map((line) => lineKey(line)));
  return (difference) => accepted.has(lineKey(difference));
}
