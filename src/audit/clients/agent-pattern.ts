/** Patterns of user agents, and families of user agents. */

/**
 * Characters of a user agent that are compared with patterns, as many as the summaries keep. A client may send a
 * hundred times as many.
 */
export const MAX_AGENT_LENGTH = 200;

/** A pattern of user agents. `*` matches any text. */
interface AgentPattern {
  readonly name: string;
  /** Its position in the file. */
  readonly order: number;
  /** Length of the text before its first `*`. */
  readonly prefix: number;
  /** The texts after each `*`. Empty for a pattern without `*`. */
  readonly rest: readonly string[];
}

/** Whether a text with the prefix of a pattern matches the pattern. Each part is searched once, from left to right. */
function matchesRest({ prefix, rest }: AgentPattern, text: string): boolean {
  const last = rest.at(-1);
  if (last === undefined) return text.length === prefix;
  let at = prefix;
  for (const part of rest.slice(0, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/**
 * The patterns of all clients, indexed by the text before their first `*`. A user agent is only compared with
 * patterns whose prefix it has, so the number of other patterns does not matter.
 */
export class AgentPatterns {
  readonly #byPrefix = new Map<string, AgentPattern[]>();
  /** How many patterns there are. */
  readonly size: number;
  /** The lengths of the prefixes, ascending. */
  readonly #lengths: readonly number[];

  /** @param patterns In the order of the file: of two patterns that match, the first one wins. Case is ignored */
  constructor(patterns: readonly { readonly pattern: string; readonly name: string }[]) {
    this.size = patterns.length;
    for (const [order, { pattern, name }] of patterns.entries()) {
      const [prefix = "", ...rest] = pattern.toLowerCase().split("*");
      const same = this.#byPrefix.get(prefix) ?? [];
      same.push({ name, order, prefix: prefix.length, rest });
      this.#byPrefix.set(prefix, same);
    }
    const lengths = new Set([...this.#byPrefix.keys()].map(({ length }) => length));
    this.#lengths = [...lengths].toSorted((one, other) => one - other);
  }

  /** The name of the client whose pattern matches a user agent, of at most {@link MAX_AGENT_LENGTH} characters. */
  nameOf(agent: string): string | undefined {
    const text = agent.toLowerCase();
    let found: AgentPattern | undefined;
    for (const length of this.#lengths) {
      if (length > text.length) break;
      const match = this.#byPrefix.get(text.slice(0, length))?.find((pattern) => matchesRest(pattern, text));
      if (match && !(found && found.order < match.order)) found = match;
    }
    return found?.name;
  }
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
