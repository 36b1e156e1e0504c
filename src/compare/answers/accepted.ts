/** Which differences are accepted, by `accepted-differences.yaml` of a pack. */
import type { AcceptedDifference } from "../../pack/index.ts";
import { type Difference, lineKey } from "./comparison.ts";

/** Finds the line that accepts a difference on a day. @param date Milliseconds since the epoch */
export type AcceptedBy = (
  route: string,
  difference: Pick<Difference, "field" | "kind">,
  date: number,
) => AcceptedDifference | undefined;

const DAY_MS = 86_400_000;

/** Whether the last day of a line has passed, in UTC. @param date Milliseconds since the epoch */
export const hasEnded = ({ until }: Pick<AcceptedDifference, "until">, date: number): boolean =>
  date >= Date.parse(until) + DAY_MS;

/**
 * Creates what finds the accepted differences of a pack.
 *
 * @example
 * ```ts
 * const acceptedBy = acceptDifferences(pack.acceptedDifferences);
 * const line = acceptedBy("GET /books", { field: "books.label", kind: "format" }, Date.now());
 * ```
 */
export function acceptDifferences(lines: readonly AcceptedDifference[]): AcceptedBy {
  const byRoute = new Map(
    [...Map.groupBy(lines, ({ route }) => route)].map(([route, own]) => [
      route,
      new Map(own.map((line) => [lineKey(line), line])),
    ]),
  );
  return (route, difference, date) => {
    const line = byRoute.get(route)?.get(lineKey(difference));
    return line && !hasEnded(line, date) ? line : undefined;
  };
}
