/** The ids of a request for many ids. */
import { type Bulk, INVALID_VALUE, REQUIRED, type Route, ValidationError } from "../../../pack/index.ts";
import { isExactNumber } from "../../../base/index.ts";
import { ExpressionError } from "../../../jsonata/index.ts";
import type { AuthorizedRequest } from "../../pipeline/authorized-request.ts";

/** An id as the client sent it, and its text. */
export interface SentId {
  readonly sent: unknown;
  readonly text: string;
}

/** What a route for many ids says of them. */
export function bulkOf({ name, bulk }: Route): Bulk {
  if (!bulk) throw new Error(`${name} makes one call`);
  return bulk;
}

/** Reads the ids of a request. @throws {HttpError} 400 for too many, for none, and for what is no id */
export async function readIds(authorized: AuthorizedRequest): Promise<readonly SentId[]> {
  const { match, readJson } = authorized;
  const { idsOf, field, most, readsBody } = bulkOf(match.route);
  const fail = (reason: string, rule?: string, cause?: Error): never => {
    const named = { ...(field !== undefined && { field }), ...(rule !== undefined && { rule }) };
    throw new ValidationError([{ reason, ...named, ...(cause && { cause }) }]);
  };
  let found: unknown;
  try {
    const body = readsBody ? readJson().value : {};
    found = await idsOf(body, { head: authorized, body, calls: {} });
  } catch (error) {
    if (error instanceof ExpressionError) return fail(INVALID_VALUE, undefined, error);
    throw error;
  }
  if (found === undefined || found === null) return fail(REQUIRED, "required");
  const ids: readonly unknown[] = [found].flat();
  if (ids.length === 0) return fail("Must be at least 1 value.", "minItems");
  if (ids.length > most) return fail(`Must be at most ${most} values.`, "maxItems");
  return ids.map((sent): SentId => {
    if (isExactNumber(sent)) return { sent, text: sent.rawJSON };
    return typeof sent === "string" || typeof sent === "number"
      ? { sent, text: String(sent) }
      : fail(INVALID_VALUE, "type");
  });
}
