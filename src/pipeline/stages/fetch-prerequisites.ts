import type { ErrorDetail } from "../../dialect/http-error.ts";
import { UnusablePathValue } from "../../mapping/compile/endpoint.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import type { Prerequisite } from "../../mapping/compile/route-steps.ts";
import { throwTranslatedError } from "./build-response.ts";
import { requestWithoutBody, type PreparedRequest, type RouteExecution } from "../route-context.ts";

/** What the reads before the call gave, the faults of those that found nothing, and the rules that depend on them. */
export interface Prerequisites {
  readonly values: Readonly<Record<string, unknown>>;
  readonly faults: readonly ErrorDetail[];
  readonly check: (v4: JsonObject) => Promise<ErrorDetail[]>;
}

/** The call of a read; undefined where a value of the body cannot stand in its path, so that v4 has no such record. */
function callOf({ endpoint, notFoundField }: Prerequisite, values: JsonObject): PreparedRequest | undefined {
  try {
    return requestWithoutBody(endpoint, values);
  } catch (error) {
    if (notFoundField === undefined || !(error instanceof UnusablePathValue)) throw error;
    return undefined;
  }
}

/**
 * Asks v4 for what rules or values depend on. Where a rule's read is refused (401, 403), v4 decides the call
 * itself; a read that values are made from must succeed.
 *
 * @throws {Refusal} v4's, of a read that nothing can be made without
 */
export async function fetchPrerequisites(
  body: JsonObject,
  faults: readonly ErrorDetail[],
  work: RouteExecution,
): Promise<Prerequisites> {
  const { match: target, call, translation: rules, context: notes, pack } = work;
  const values: Record<string, unknown> = {};
  const missing: ErrorDetail[] = [];
  const read: { step: Prerequisite; json: unknown }[] = [];
  for (const step of target.route.prerequisites) {
    const { notFoundField: blames } = step;
    const pointless = blames === undefined ? faults.length > 0 : faults.some(({ field }) => field === blames);
    if (pointless || !(await step.isNeeded(body))) continue;
    const sent = callOf(step, { ...target.parameters, ...body });
    if (!sent) {
      missing.push({ field: String(blames), reason: pack.dialect.reasons.unknown_record });
      continue;
    }
    const answer = await call(sent);
    if (!answer.success && blames === undefined)
      throwTranslatedError(answer, target.route, sent, rules, notes);
    if (answer.status === 404 && blames !== undefined) {
      missing.push({ field: blames, reason: pack.dialect.reasons.unknown_record });
    }
    if (!answer.success || answer.json === undefined) continue;
    values[step.name] = answer.json;
    read.push({ step, json: answer.json });
  }
  return {
    values,
    faults: missing,
    async check(v4) {
      const found = await Promise.all(read.map(async ({ step, json }) => step.check(body, json, v4)));
      return found.flat();
    },
  };
}
