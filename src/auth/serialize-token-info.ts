import type { TokenInfo } from "./token-cache.ts";

/** Facts as text: `{"refused":true}`, `{"grants":null}`, `{"grants":"all"}` or `{"grants":[["resource",1],…]}`. */
export function serializeTokenInfo(facts: TokenInfo): string {
  if (facts.refused) return '{"refused":true}';
  const { grants = null } = facts;
  return JSON.stringify({ grants: grants === null || grants === "all" ? grants : [...grants] });
}

const isGrant = (value: unknown): value is [string, number] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === "string" && Number.isInteger(value[1]);

/** @returns undefined for anything else: what another version wrote, or nobody of us. */
export function parseTokenInfo(text: string): TokenInfo | undefined {
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof written !== "object" || written === null) return undefined;
  if ("refused" in written) return written.refused === true ? { refused: true } : undefined;
  if (!("grants" in written)) return undefined;
  const { grants } = written;
  if (grants === null) return { refused: false, grants: undefined };
  if (grants === "all") return { refused: false, grants };
  return Array.isArray(grants) && grants.every(isGrant)
    ? { refused: false, grants: new Map(grants) }
    : undefined;
}
