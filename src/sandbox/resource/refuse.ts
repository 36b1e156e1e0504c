/** Ends a call on which something is wrong, with everything that is. */

import type { FieldError } from "../http/problem.ts";
import { Problem } from "../http/problem.ts";

/**
 * One fault for each member: the first, which is about the member by itself.
 *
 * @throws {Problem} 400 where there is any.
 */
export function throwInvalid(errors: readonly FieldError[]): void {
  const seen = new Set<string>();
  const kept = errors.filter(({ field }) => {
    if (field === undefined) return true;
    const first = !seen.has(field);
    seen.add(field);
    return first;
  });
  if (kept.length > 0) throw new Problem(400, kept);
}
