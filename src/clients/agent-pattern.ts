/** User agents: patterns of them, and their families. */

/**
 * Whether a user agent matches a pattern, in which `*` stands for any text. Case is ignored. Takes time in proportion to
 * the lengths of both: each part is searched once, from left to right.
 */
export function matchesPattern(pattern: string, agent: string): boolean {
  const text = agent.toLowerCase();
  const [first = "", ...rest] = pattern.toLowerCase().split("*");
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Longest name of a family. */
const MAX_FAMILY_LENGTH = 60;

/**
 * The family of a user agent: its first product without the version (RFC 9110 10.1.5), such as `billing-sync` of
 * `billing-sync/2.1 (linux)`.
 *
 * @returns undefined without a user agent
 */
export function agentFamily(agent: string | null | undefined): string | undefined {
  const [product = ""] = (agent ?? "").trim().split(/[\s/(]/, 1);
  return product === "" ? undefined : product.slice(0, MAX_FAMILY_LENGTH);
}
