// The error body, which has the same shape in both dialects (document 1 and 2, Errors).
import type { ErrorDetail } from "./http-error.ts";

/** Names of the members of an error body. */
export interface ErrorNames {
  readonly list: string;
  readonly reason: string;
  readonly field: string;
}

/** Maximum number of entries of an error body. No form has more fields. */
const MAX_ERRORS = 100;

/** Parses an error body; returns undefined if the value is not one. Entries without a reason are omitted. */
export function readErrors(body: unknown, names: ErrorNames): ErrorDetail[] | undefined {
  const list =
    typeof body === "object" && body !== null ? (body as Record<string, unknown>)[names.list] : undefined;
  if (!Array.isArray(list)) return undefined;
  const faults = list.slice(0, MAX_ERRORS).flatMap((entry: unknown): ErrorDetail[] => {
    if (typeof entry !== "object" || entry === null) return [];
    const { [names.reason]: reason, [names.field]: field } = entry as Record<string, unknown>;
    if (typeof reason !== "string") return [];
    return [typeof field === "string" && field !== "" ? { reason, field } : { reason }];
  });
  return faults.length > 0 ? faults : undefined;
}

/** Maximum number of characters of one reason or field. The rest is cut. */
const MAX_TEXT_LENGTH = 2000;
/** Maximum number of characters of an error body. Each may take six bytes (`\u0000`), so no error body is above 128 KB. */
const MAX_CHARACTERS = 20_000;

/**
 * Creates an error body. Its size is bounded, whatever the errors repeat: the number of entries, their texts and the total
 * length have limits.
 */
export function writeErrors(faults: readonly ErrorDetail[], names: ErrorNames): Record<string, unknown> {
  let left = MAX_CHARACTERS;
  const written: Record<string, string>[] = [];
  for (const fault of faults.slice(0, MAX_ERRORS)) {
    const reason = fault.reason.slice(0, MAX_TEXT_LENGTH);
    const field = fault.field?.slice(0, MAX_TEXT_LENGTH);
    left -= reason.length + (field?.length ?? 0);
    if (left < 0) break;
    written.push(
      field === undefined ? { [names.reason]: reason } : { [names.field]: field, [names.reason]: reason },
    );
  }
  return { [names.list]: written };
}
