import type { AuditRecord } from "../../audit/index.ts";
import { errorsOf, isSuccess, type Pack, type Route, withBrackets } from "../../pack/index.ts";
import { callName, explainBody, type ExplainedField, type V4Side } from "../../compare/index.ts";
import { explainResponse } from "./explain-response.ts";
import { findOrigin } from "./response-source.ts";

/** One error of a response. `v4` is null if the gateway rejected the request. */
interface ExplainedError {
  readonly reason: string;
  readonly field: string | null;
  readonly v4: V4Side | null;
}

/** The sources of a response and its fields, by the active pack. */
interface Explanation {
  readonly route: string | null;
  /** The reason why the explanation is incomplete; null if it is complete. */
  readonly note: string | null;
  readonly answer: readonly ExplainedField[];
  readonly errors: readonly ExplainedError[];
  readonly body: ReturnType<typeof explainBody>;
}

/** Explains the errors of a recorded response: the v4 request that caused each error, and the field's name in v4. */
function explainErrors(record: AuditRecord, route: Route | undefined, pack: Pack): readonly ExplainedError[] {
  const alphaErrors = errorsOf(route, pack).client.read(record.alpha.response)?.details ?? [];
  const failedCall = record.v4.findLast(({ status }) => status === null || !isSuccess(status));
  const v4Errors = errorsOf(route, pack).upstream.read(failedCall?.response)?.details ?? [];
  return alphaErrors.map(({ reason, field }) => {
    const origin = v4Errors.find(
      (error) =>
        error.reason === reason &&
        (field === undefined ||
          error.field === undefined ||
          withBrackets(route?.errorField(error.field) ?? "") === withBrackets(field)),
    );
    const call = failedCall && (origin || v4Errors.length === 0) ? callName(failedCall) : null;
    return {
      reason,
      field: field ?? null,
      v4: call === null ? null : { call, field: origin?.field ?? null },
    };
  });
}

function describeGap(record: AuditRecord, route: Route | undefined): string | null {
  if (record.lane === "native") return "This native request was forwarded unchanged. Nothing was translated.";
  if (record.lane === "legacy") return "The old service answered this request. Nothing was translated.";
  if (record.alpha.route === null) return "No route of the pack matched. The response is the gateway's own.";
  return route ? null : "The active pack no longer has this route.";
}

/** Returns the route of a record. If several routes share its path, it is the one whose call was sent. */
function findRoute(record: AuditRecord, name: string, pack: Pack): Route | undefined {
  const routes = pack.routes.filter((route) => route.name === name);
  return routes.findLast((route) => findOrigin(record, route, pack)) ?? routes.at(-1);
}

/**
 * Explains a recorded response: the rule and the v4 source of each field. The rules of the active pack are used, even
 * for a record of an older pack.
 */
export async function explainRecord(record: AuditRecord, pack: Pack): Promise<Explanation> {
  const { route: name, status } = record.alpha;
  const route = name === null || record.lane !== "alpha" ? undefined : findRoute(record, name, pack);
  const explained =
    route && isSuccess(status) ? await explainResponse(record, route, pack) : { fields: [], note: null };
  return {
    route: name,
    note: describeGap(record, route) ?? explained.note,
    answer: explained.fields,
    errors: explainErrors(record, route, pack),
    body: route ? explainBody(record, route) : null,
  };
}
