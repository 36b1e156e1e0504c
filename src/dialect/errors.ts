/** The error body, which both dialects shape alike (document 1 and 2, Errors). */
import type { ErrorDetail } from "./http-error.ts";

export interface ErrorNames {
  readonly list: string;
  readonly reason: string;
  readonly field: string;
}

/** More problems than any form has fields are no help to anyone. */
const MOST_FAULTS = 100;

/** Reads an error body; undefined where what came is none. Entries without a reason are left out. */
export function readErrors(body: unknown, names: ErrorNames): ErrorDetail[] | undefined {
  const list =
    typeof body === "object" && body !== null ? (body as Record<string, unknown>)[names.list] : undefined;
  if (!Array.isArray(list)) return undefined;
  const faults = list.slice(0, MOST_FAULTS).flatMap((entry: unknown): ErrorDetail[] => {
    if (typeof entry !== "object" || entry === null) return [];
    const { [names.reason]: reason, [names.field]: field } = entry as Record<string, unknown>;
    if (typeof reason !== "string") return [];
    return [typeof field === "string" && field !== "" ? { reason, field } : { reason }];
  });
  return faults.length > 0 ? faults : undefined;
}

/** Characters of one reason or field; what is longer is cut. */
const LONGEST_TEXT = 2000;
/** Characters of an error body, of which each may become six bytes (`\u0000`): no error body is above 128 KB. */
const MOST_CHARACTERS = 20_000;

/**
 * Writes an error body; a fault without a field has no such member. It is bounded, whatever the faults echo: a
 * hundred of them at most, cut texts, and no more once there are enough.
 */
export function writeErrors(faults: readonly ErrorDetail[], names: ErrorNames): Record<string, unknown> {
  let left = MOST_CHARACTERS;
  const written: Record<string, string>[] = [];
  for (const fault of faults.slice(0, MOST_FAULTS)) {
    const reason = fault.reason.slice(0, LONGEST_TEXT);
    const field = fault.field?.slice(0, LONGEST_TEXT);
    left -= reason.length + (field?.length ?? 0);
    if (left < 0) break;
    written.push(
      field === undefined ? { [names.reason]: reason } : { [names.field]: field, [names.reason]: reason },
    );
  }
  return { [names.list]: written };
}
