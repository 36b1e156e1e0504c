import type { AuditRecord } from "../../audit/record.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Route } from "../../mapping/compile/route.ts";
import { explainResponse } from "./explain-answer.ts";
import { explainBody } from "./explain-body.ts";
import { explainErrors } from "./explain-errors.ts";
import type { Explanation } from "./explanation.ts";

const noteFor = (record: AuditRecord, route: Route | undefined): string | null => {
  if (record.lane === "native") return "v4's own dialect was forwarded untouched: nothing was translated.";
  if (record.alpha.route === null) return "No route of the pack matched: the gateway answered by itself.";
  return route ? null : "Today's pack has no such route any more.";
};

/**
 * Explains a recorded answer: each of its fields with the rule and the v4 source that made it, by the rules of
 * this pack. A record of an older pack is explained by today's rules.
 */
export async function explainRecord(record: AuditRecord, pack: Pack): Promise<Explanation> {
  const { route: name } = record.alpha;
  const route = name === null || record.lane === "native" ? undefined : pack.route(name);
  const note = noteFor(record, route);
  const errors = explainErrors(record, route, pack);
  const body = route ? explainBody(record, route) : null;
  const explained =
    route && record.alpha.status === 200
      ? await explainResponse(record, route, pack)
      : { fields: [], note: null };
  return {
    route: record.alpha.route,
    note: note ?? explained.note,
    answer: explained.fields,
    errors,
    body,
  };
}
