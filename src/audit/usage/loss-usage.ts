/** Reads the losses of requests. */
import { SEVERITIES, type Severity } from "../../base/files/severity.ts";
import type { UsageQuery } from "./usage.ts";

/** A query of losses. */
export interface LossQuery extends UsageQuery {
  /** The route, named as in the pack. */
  readonly route?: string | undefined;
  /** Selects losses with this severity. */
  readonly severity?: Severity | undefined;
}

/** The losses of a client's requests to a route. */
export interface LossUsage {
  /** The key of the client; null for requests without a token. */
  readonly client: string | null;
  readonly route: string;
  /** The text, as in records: `field: reason`. */
  readonly loss: string;
  /** The severity in the pack of the last of these days. */
  readonly severity: Severity;
  /** Number of requests with this loss. */
  readonly requests: number;
  /** The first and the last day of the loss, `2026-03-01`. In a query without `since`, these are all stored days. */
  readonly firstDay: string;
  readonly lastDay: string;
}

/** The requests of a client to a route with the same loss. */
export interface LossDays extends Omit<LossUsage, "loss" | "severity"> {
  /** Severity and text, separated by a blank. */
  readonly name: string;
}

const isSeverity = (word: string): word is Severity => (SEVERITIES as readonly string[]).includes(word);

/** Compares losses by severity, then by frequency. */
export const compareLosses = (
  one: Pick<LossUsage, "severity" | "requests" | "loss">,
  other: Pick<LossUsage, "severity" | "requests" | "loss">,
): number =>
  SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity) ||
  other.requests - one.requests ||
  (one.loss < other.loss ? -1 : 1);

/** Lists losses, sorted by severity, then by number of requests. */
export function listLosses(
  rows: Iterable<LossDays>,
  { severity: wanted, limit }: Pick<LossQuery, "severity" | "limit">,
): LossUsage[] {
  const found = new Map<string, LossUsage>();
  for (const { client, route, name, requests, firstDay, lastDay } of rows) {
    const [word = "", ...text] = name.split(" ");
    if (!isSeverity(word)) continue;
    const loss = text.join(" ");
    const key = `${client}\n${route}\n${loss}`;
    const other = found.get(key);
    const isLater = !other || lastDay >= other.lastDay;
    found.set(key, {
      client,
      route,
      loss,
      severity: isLater ? word : other.severity,
      requests: requests + (other?.requests ?? 0),
      firstDay: other && other.firstDay < firstDay ? other.firstDay : firstDay,
      lastDay: isLater ? lastDay : other.lastDay,
    });
  }
  const listed = [...found.values()].filter(({ severity }) => wanted === undefined || severity === wanted);
  return listed.toSorted(compareLosses).slice(0, limit);
}
