/** Names in braces of calls that keys of a route make. */
import type { SourceLocation } from "../../base/index.ts";
import type { Endpoint } from "./endpoint.ts";

/** The name in braces of the upstream's response to the call of a route. */
export const RESPONSE = "response";

/** Reports a name in braces that could be either of two things. */
export function reportAmbiguousNames(
  { names }: Endpoint,
  others: readonly string[],
  [one, other]: readonly [string, string],
  location: SourceLocation,
): void {
  for (const name of others)
    if (names.has(name))
      location.report(`{${name}} could be ${one} or ${other}: one of them needs another name`);
}
