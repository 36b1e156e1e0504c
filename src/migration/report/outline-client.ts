/** The guide of one client as blocks. */
import { describeStates, identityOfKey, pauseDays } from "../../audit/index.ts";
import { addressVariable } from "../../compare/index.ts";
import {
  type Block,
  formatCount,
  formatMinuteUtc,
  type Line,
  type OpenedRows,
  percent,
  plural,
  type Span,
} from "../../base/index.ts";
import type { ApiNames } from "../../pack/index.ts";
import type { ClientGuide, Report } from "./make-report.ts";
import type { CallGuide } from "./call-guide.ts";
import { clientName, isDone } from "./model.ts";
import { listAddedMembers } from "./outline-fields.ts";
import { outlineLossTables } from "./outline-losses.ts";
import { describeNeeds, outlineCall, outlineObjects, stateTag } from "./sections.ts";

type ReportWords = Pick<Report, "names" | "quietDays">;

/** Describes the subject of a row of the report: several tokens, or one client. */
function describeTokens({ client, name, family, tokens }: ClientGuide): readonly Span[] {
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

/** Returns the id of the section of a client. */
export const clientAnchor = ({ client }: ClientGuide): string => `client-${client ?? "none"}`;

const objectAnchor = (client: ClientGuide, object: string): string => `${clientAnchor(client)}-${object}`;

function describeErrors({ statuses, requests }: CallGuide): string {
  const errors = statuses.filter(({ status }) => status >= 400);
  if (errors.length === 0) return "";
  const counts = errors.map(({ status, requests: times }) => `${status} (${formatCount(times)})`);
  const areAll = errors.reduce((sum, { requests: times }) => sum + times, 0) === requests;
  return ` ${areAll ? "All" : "Some"} of them failed: ${counts.join(", ")}.`;
}

function createCommands({ record, before, after }: CallGuide, { client, upstream }: ApiNames): Block[] {
  const sample = record === null ? ", from the mapping, because no record is left" : "";
  return [
    { kind: "code", title: `In ${client}${sample}`, text: before },
    ...after.map(({ why, curl }): Block => ({
      kind: "code",
      title: why === "" ? `In ${upstream}` : `In ${upstream}, ${why}`,
      text: curl,
    })),
  ];
}

function outlineClientCall(call: CallGuide, client: ClientGuide, names: ApiNames): Block {
  const share = percent(call.requests, client.requests);
  const changed = call.gets.filter((name) => client.objects.some(({ object }) => object === name));
  const lossy =
    call.lossy === 0
      ? []
      : [
          `${plural(call.lossy, "response")} lost a part of what ${names.upstream} returned: see the fields marked as lossy.`,
        ];
  const words = {
    summary: [
      { strong: plural(call.requests, "request") },
      ` (${share} of this client's), the last on ${formatMinuteUtc(call.last)}.${describeErrors(call)}`,
    ],
    commands: createCommands(call, names),
    objects: changed.map((object) => ({ object, id: objectAnchor(client, object) })),
    details: [...listAddedMembers(call.adds), ...lossy],
  };
  return outlineCall(call, words, names);
}

/** Returns the state in words, with the last alpha call, and a warning if the client has been quiet for longer before. */
function describeState(
  { readiness, cameBack, lastAlpha, longerPauseMs, requests, native }: ClientGuide,
  { names, quietDays }: ReportWords,
): Line {
  const lastCall =
    lastAlpha === null
      ? `never called ${names.client}`
      : `last ${names.client} call ${formatMinuteUtc(lastAlpha)}`;
  const pause =
    longerPauseMs === null
      ? ""
      : ` It has paused for ${plural(pauseDays({ longestPauseMs: longerPauseMs }), "quiet day")} before and then called ${names.client} again: it is ready only after a longer pause.`;
  const returned =
    cameBack === null
      ? ""
      : ` It had been ready, and came back on ${cameBack}: it called ${names.client} again.`;
  return [
    ...(readiness === null
      ? ["Not a client: "]
      : [stateTag(readiness), ` ${describeStates(names, quietDays)[readiness].meaning}; `]),
    `${lastCall}; ${percent(native, requests)} of its ${plural(requests, "request")} were native.${returned}${pause}`,
  ];
}

function outlineSummary(client: ClientGuide, report: ReportWords): Block[] {
  const { names } = report;
  const { errors, lossy, unmatched, scopes, calls } = client;
  const items: Line[] = [
    describeState(client, report),
    [
      ...describeTokens(client),
      ` Seen from ${formatMinuteUtc(client.first)} to ${formatMinuteUtc(client.last)}.`,
    ],
    ...(errors === 0 ? [] : [`${plural(errors, "request")} failed.`]),
    ...(lossy === 0 ? [] : [`${plural(lossy, "response")} lost a part of what ${names.upstream} returned.`]),
    ...describeNeeds(calls, { scopes: scopes.v4, unmatched }, names),
  ];
  return [{ kind: "list", items }, ...outlineLossTables(client.losses, "What it lost, by weight")];
}

/** The guide of one client as blocks. */
export function outlineClient(client: ClientGuide, report: ReportWords): readonly Block[] {
  const { names } = report;
  const { calls, objects } = client;
  const head: Block[] = [
    { kind: "heading", level: 2, line: clientName(client), id: clientAnchor(client) },
    ...outlineSummary(client, report),
  ];
  if (calls.length === 0) {
    const end = isDone(client.readiness)
      ? "There is nothing to change."
      : `It has no calls of ${names.client} routes.`;
    return [...head, { kind: "text", line: end }];
  }
  const anchorOf = (object: string): string => objectAnchor(client, object);
  return [
    ...head,
    { kind: "heading", level: 3, line: `${plural(calls.length, "call")} to change, the most used first` },
    {
      kind: "text",
      line: [
        "In the commands ",
        { code: "$GATEWAY" },
        " is the address of the gateway, ",
        { code: addressVariable(names.upstream) },
        ` that of ${names.upstream}, and `,
        { code: "$TOKEN" },
        " a token: secrets are never recorded. Changes in all calls are ",
        { link: "above", to: "every-call" },
        ".",
      ],
    },
    ...calls.map((call) => outlineClientCall(call, client, names)),
    ...outlineObjects(objects, { level: 3, anchorOf }, names),
  ];
}
