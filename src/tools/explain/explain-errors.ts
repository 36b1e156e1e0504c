import type { AuditRecord } from "../../audit/record.ts";
import { readErrors } from "../../dialect/errors.ts";
import { isSuccess } from "../../dialect/statuses.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Route } from "../../mapping/compile/route.ts";
import type { ExplainedError } from "./explanation.ts";
import { callName } from "./recorded.ts";

/** Explains a recorded refusal, entry by entry: who said it, and under which name. */
export function explainErrors(
  record: AuditRecord,
  route: Route | undefined,
  pack: Pack,
): readonly ExplainedError[] {
  const names = pack.dialect.errors;
  const told = readErrors(record.alpha.response, names) ?? [];
  const refusal = record.v4.findLast(({ status }) => status === null || !isSuccess(status));
  const said = readErrors(refusal?.response, names) ?? [];
  return told.map(({ reason, field }) => {
    const origin = said.find(
      (fault) =>
        fault.reason === reason &&
        (field === undefined || fault.field === undefined || route?.errorField(fault.field) === field),
    );
    const call = refusal && (origin || said.length === 0) ? callName(refusal) : null;
    return {
      reason,
      field: field ?? null,
      v4: call === null ? null : { call, field: origin?.field ?? null },
    };
  });
}
