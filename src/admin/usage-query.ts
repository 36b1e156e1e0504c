import { UNACCEPTED, type UsageQuery } from "../audit/usage.ts";
import type { Problem } from "./responses.ts";
import { readAuditQuery } from "./audit-query.ts";

const PARAMETERS = new Set(["client", "since", "until"]);

/** Requests without a token, as `client` names them: no fingerprint reads so. */
const ANONYMOUS = "none";

/** Reads what narrows the summaries: `client` (a fingerprint, or `none`), `since` and `until`. Others are problems. */
export function readUsageQuery(given: Readonly<Record<string, unknown>>): {
  query: UsageQuery;
  problems: readonly Problem[];
} {
  const { client } = given;
  const anonymous = client === ANONYMOUS;
  const { client: _none, ...others } = given;
  const { query, problems } = readAuditQuery(anonymous || client === UNACCEPTED ? others : given);
  const unknown = Object.keys(query).filter((name) => !PARAMETERS.has(name));
  const reason = `Use ${[...PARAMETERS].join(", ")}.`;
  return {
    query: { ...query, ...(anonymous && { client: null }), ...(client === UNACCEPTED && { client }) },
    problems: [...problems, ...unknown.map((parameter) => ({ reason, parameter }))],
  };
}
