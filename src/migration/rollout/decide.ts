/** Decides from the file which side serves a client on a route. */
import type { Side } from "../../gateway/index.ts";
import { bucketOf } from "../../audit/index.ts";
import type { RolloutConfig, RolloutRule } from "./rules.ts";

/** A side, and the reason in words for people. */
export interface SideDecision {
  readonly side: Side;
  readonly why: string;
}

/** Returns why a rule matches a client; undefined if it does not match. */
function whyRule(
  { why, clients, share }: RolloutRule,
  client: string | undefined,
  bucket: () => number,
): string | undefined {
  if (!clients && share === undefined) return why;
  if (client === undefined) return undefined;
  if (clients) return clients.get(client);
  return share !== undefined && bucket() < share ? why : undefined;
}

/**
 * Decides by the rules of the file.
 *
 * @param client The name from {@link lastingName}. Undefined: unknown
 * @param route Name of the route. Null: no route of the pack matches the request
 */
export function decideByRules(
  { rules, salt }: Pick<RolloutConfig, "rules" | "salt">,
  client: string | undefined,
  route: string | null,
): SideDecision {
  let bucket: number | undefined;
  const bucketOnce = (): number => (bucket ??= bucketOf(client ?? "", salt));
  for (const rule of rules) {
    if (rule.routes && (route === null || !rule.routes.has(route))) continue;
    const why = whyRule(rule, client, bucketOnce);
    if (why !== undefined) return { side: "new", why };
  }
  return { side: "old", why: client === undefined ? "the client is unknown" : "no rule matches" };
}

/** Whether any client gets the translation on a route. */
export const isTurned = ({ rules }: Pick<RolloutConfig, "rules">, route: string): boolean =>
  rules.some(({ routes, share }) => share !== 0 && (!routes || routes.has(route)));
