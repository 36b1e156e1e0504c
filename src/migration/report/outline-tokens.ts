/** The tokens that belong to a row of the report. */
import { identityOfKey } from "../../audit/index.ts";
import {
  formatCount,
  formatMinuteUtc,
  type Line,
  type OpenedRows,
  percent,
  plural,
  type Span,
} from "../../base/index.ts";
import type { ClientGuide } from "./make-report.ts";
import { stateTag } from "./sections.ts";

/** Describes the subject of a row of the report: several tokens, or one client. */
export function describeTokens({ client, name, family, tokens }: ClientGuide): readonly Span[] {
  if (family !== null)
    return [`${plural(tokens, "token")} without a name, of the user agent `, { code: family || "none" }, "."];
  if (name !== null && tokens > 1) return [`${plural(tokens, "token")} of this name.`];
  return describeKey(client);
}

/** Describes the kind of a client: an application, a name from a proxy, or a token. */
function describeKey(key: string | null): readonly Span[] {
  const { label, application } = identityOfKey(key);
  if (key === null) return ["Without a token."];
  if (application !== null) return ["All tokens of the application ", { code: application }, "."];
  if (label !== null) return ["All requests that the proxy gives the name ", { code: label }, "."];
  return ["Token with the fingerprint ", { code: key }, "."];
}

/** Returns the nested rows with the tokens of a client that has several. */
export function openTokens({ tokens, members }: ClientGuide): OpenedRows | undefined {
  if (members.length === 0) return undefined;
  const left = tokens - members.length;
  const rows = members.map(({ fingerprint, userAgent, state, lastAlpha, requests, native, last }): Line[] => [
    [{ code: fingerprint }, ` ${userAgent ?? "no user agent"}`],
    [state === null ? "–" : stateTag(state)],
    lastAlpha === null ? "never" : formatMinuteUtc(lastAlpha),
    formatCount(requests - native),
    percent(native, requests),
    "",
    formatMinuteUtc(last),
  ]);
  return {
    title: `${plural(tokens, "token")}, with their requests of all days`,
    of: "Token",
    rows: left > 0 ? [...rows, [`${formatCount(left)} more`, "", "", "", "", "", ""]] : rows,
  };
}
