/** Ports as firewall rules write them: numbers and spans, `22, 80-443` (document 1, facts given by release notes). */

import type { FieldError } from "../http/problem.ts";

const mostParts = 15;

/** @param prefix In front of `inbound` and `outbound` in the names of fields. */
export function portErrors(rules: unknown, prefix: string): FieldError[] {
  if (rules === null || typeof rules !== "object") return [];
  return ["inbound", "outbound"].flatMap((way) => {
    const given = (rules as Record<string, unknown>)[way];
    if (!Array.isArray(given)) return [];
    return given.flatMap((rule: { ports?: unknown; protocol?: unknown } | null, index): FieldError[] => {
      const reason = rule && portError(rule.ports, rule.protocol);
      return reason ? [{ reason, field: `${prefix}${way}[${index}].ports` }] : [];
    });
  });
}

function portError(ports: unknown, protocol: unknown): string | undefined {
  if (protocol === "ICMP") return ports ? "ICMP has no ports" : undefined;
  if (typeof ports !== "string" || ports === "") return undefined;
  const parts = ports.split(",").map((part) => part.trim());
  if (parts.length > mostParts) return `ports takes ${mostParts} numbers and spans at most`;
  return parts.map(partError).find((reason) => reason !== undefined);
}

function partError(part: string): string | undefined {
  const ends = part.split("-");
  if (ends.some((end) => /^0\d/.test(end))) return "Ports must not have leading zeroes";
  if (ends.length > 2 || !ends.every((end) => /^\d{1,5}$/.test(end))) return `${part} is no port and no span`;
  const [from = 0, to = from] = ends.map(Number);
  return from >= 1 && to <= 65_535 && from <= to ? undefined : `${part} is no port and no span`;
}
