/** Ends a call on which something is wrong, with everything that is. */

import type { Fault } from "../http/problem.ts";
import { Problem } from "../http/problem.ts";

/**
 * One fault for each member: the first, which is about the member by itself.
 *
 * @throws {Problem} 400 where there is any.
 */
export function throwInvalid(faults: readonly Fault[]): void {
  const seen = new Set<string>();
  const kept = faults.filter(({ field }) => {
    if (field === undefined) return true;
    const first = !seen.has(field);
    seen.add(field);
    return first;
  });
  if (kept.length > 0) throw new Problem(400, kept);
}
