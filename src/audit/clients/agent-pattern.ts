/** Patterns of user agents, and families of user agents. */

/**
 * Maximum number of characters of a user agent that are compared with patterns, as in the summaries. A client may send
 * a hundred times as many.
 */
export const MAX_AGENT_LENGTH = 200;

/**
 * Returns the function that finds the name of the client whose pattern matches a user agent of at most
 * {@link MAX_AGENT_LENGTH} characters. In patterns, `*` matches any text. Case is ignored.
 *
 * @param patterns In the order of the file: if two patterns match, the first one is used
 */
export function compilePatterns(
  patterns: readonly { readonly pattern: string; readonly name: string }[],
): (agent: string) => string | undefined {
  const all = patterns.map(({ name, pattern }) => ({ name, parts: pattern.toLowerCase().split("*") }));
  return (agent) => {
    const text = agent.toLowerCase();
    return all.find(({ parts }) => matches(parts, text))?.name;
  };
}

/** Whether a text consists of these parts with any text between them. Each part is searched once, from left to right. */
function matches([first = "", ...rest]: readonly string[], text: string): boolean {
  if (!text.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return text === first;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Maximum length of the name of a family. */
const MAX_FAMILY_LENGTH = 60;

/**
 * The family of a user agent: its first product without the version (RFC 9110 10.1.5), such as `billing-sync` for
 * `billing-sync/2.1 (linux)`.
 *
 * @returns undefined if there is no user agent
 */
export function agentFamily(agent: string | null | undefined): string | undefined {
  const [product = ""] = (agent ?? "").trim().split(/[\s/(]/, 1);
  return product === "" ? undefined : product.slice(0, MAX_FAMILY_LENGTH);
}
