import { STATE_LABELS } from "../../audit/index.ts";
import { formatCount, formatMinuteUtc, percent, plural } from "../../base/index.ts";
import type { SideNames } from "../../pack/index.ts";
import { addressVariable } from "../../compare/index.ts";
import {
  isDone,
  capitalize,
  describeReadiness,
  type CallGuide,
  type ClientGuide,
  type ObjectChanges,
  type Report,
} from "./model.ts";
import { createFieldsTable, listNames, parseSentence } from "./outline-fields.ts";
import { outlineLossTables } from "./outline-losses.ts";
import { describeTokens } from "./outline-tokens.ts";
import { clientName, type Block, type Line } from "./outline.ts";

const DAY_MS = 86_400_000;

/** The states as labels. */
export const READINESS_LABELS = {
  "not begun": STATE_LABELS["not begun"].label,
  moving: STATE_LABELS.moving.label,
  ready: STATE_LABELS.ready.label,
  silent: STATE_LABELS.silent.label,
} as const;

/** The id of the section of a client. */
export const clientAnchor = ({ client }: ClientGuide): string => `client-${client ?? "none"}`;

function describeErrors({ statuses, requests }: CallGuide): string {
  const errors = statuses.filter(({ status }) => status >= 400);
  if (errors.length === 0) return "";
  const counts = errors.map(({ status, requests: times }) => `${status} (${formatCount(times)})`);
  const areAll = errors.reduce((sum, { requests: times }) => sum + times, 0) === requests;
  return ` ${areAll ? "All" : "Some"} of them failed: ${counts.join(", ")}.`;
}

export function describeCounterpart(
  { counterpart, reason }: Pick<CallGuide, "counterpart" | "reason">,
  { upstream }: SideNames,
): Line {
  const name = capitalize(upstream);
  if (counterpart === "none")
    return [
      { tag: "no counterpart" },
      ` ${name} has no replacement. The gateway returns the error: "${reason}"`,
    ];
  if (counterpart === "unneeded")
    return [{ tag: "not needed" }, ` ${name} does this automatically: remove the call.`];
  return [{ tag: "no counterpart" }, " The active mapping does not have this call."];
}

const objectAnchor = (client: ClientGuide, object: string): string => `${clientAnchor(client)}-${object}`;

function describeDetails(call: CallGuide, client: ClientGuide, { upstream }: SideNames): Line[] {
  const changed = call.gets.filter((name) => client.objects.some(({ object }) => object === name));
  return [
    ...(call.scope
      ? [["Scope: ", { code: call.scope.alpha }, " becomes ", { code: call.scope.v4 }, "."]]
      : []),
    ...(changed.length > 0
      ? [
          [
            "The response: see ",
            ...changed.flatMap((object, index) => [
              index === 0 ? "" : ", ",
              { link: object, to: objectAnchor(client, object) },
            ]),
            " below.",
          ],
        ]
      : []),
    ...(call.adds.length > 0
      ? [
          [
            "The gateway added: ",
            ...call.adds.flatMap((name, index) => [index === 0 ? "" : ", ", { code: name }]),
            ". Send it yourself, as in the command, to get the same result.",
          ],
        ]
      : []),
    ...(call.lossy > 0
      ? [
          [
            `${plural(call.lossy, "response")} lost a part of what ${upstream} returned: see the fields marked as lossy.`,
          ],
        ]
      : []),
    ...call.notes.map(parseSentence),
  ];
}

function outlineCall(call: CallGuide, client: ClientGuide, share: string, names: SideNames): Block {
  const lines = describeDetails(call, client, names);
  const sample = call.record === null ? ", from the mapping, because no record is left" : "";
  return {
    kind: "section",
    of: "call",
    blocks: [
      { kind: "heading", level: 4, line: [{ code: call.route }] },
      {
        kind: "text",
        line: [
          { strong: plural(call.requests, "request") },
          ` (${share} of this client's), the last on ${formatMinuteUtc(call.last)}.${describeErrors(call)}`,
        ],
      },
      ...(call.counterpart === "call"
        ? []
        : [{ kind: "text" as const, line: describeCounterpart(call, names) }]),
      { kind: "command", title: `In ${names.client}${sample}`, text: call.before },
      ...call.after.map(({ why, curl }): Block => ({
        kind: "command",
        title: why === "" ? `In ${names.upstream}` : `In ${names.upstream}, ${why}`,
        text: curl,
      })),
      ...(call.filters.length > 0 ? [createFieldsTable("Fields in filters", call.filters, names)] : []),
      ...(call.sends.length > 0 ? [createFieldsTable("Members of the body", call.sends, names)] : []),
      ...(lines.length > 0 ? [{ kind: "list" as const, lines }] : []),
    ],
  };
}

function outlineObject(
  { object, same, fields }: ObjectChanges,
  client: ClientGuide,
  names: SideNames,
): Block {
  return {
    kind: "section",
    of: "part",
    blocks: [
      { kind: "heading", level: 4, line: ["Object ", { code: object }], id: objectAnchor(client, object) },
      {
        kind: "text",
        line: [
          `${plural(fields.length, "field")} of ${fields.length + same} change${fields.length === 1 ? "s" : ""}.`,
        ],
      },
      createFieldsTable(`Fields of ${object} that change`, fields, names),
    ],
  };
}

/** The state in words, with the last alpha call, and a warning where the client has been quiet for longer before. */
function describeState(
  { readiness, cameBack, lastAlpha, longerPauseMs, requests, native }: ClientGuide,
  { names, quietDays }: Pick<Report, "names" | "quietDays">,
): Line {
  const lastCall =
    lastAlpha === null
      ? `never called ${names.client}`
      : `last ${names.client} call ${formatMinuteUtc(lastAlpha)}`;
  const pause =
    longerPauseMs === null
      ? ""
      : ` It has paused for ${plural(Math.floor(longerPauseMs / DAY_MS), "quiet day")} before and then called ${names.client} again: ${quietDays} quiet days say little about it.`;
  const returned =
    cameBack === null
      ? ""
      : ` It had been ready, and came back on ${cameBack}: it called ${names.client} again.`;
  return [
    ...(readiness === null
      ? ["Not a client: "]
      : [{ tag: READINESS_LABELS[readiness] }, ` ${describeReadiness(names, quietDays)[readiness]}; `]),
    `${lastCall}; ${percent(native, requests)} of its ${plural(requests, "request")} were native.${returned}${pause}`,
  ];
}

function outlineSummary(client: ClientGuide, report: Pick<Report, "names" | "quietDays">): Block[] {
  const { names } = report;
  const { errors, lossy, unmatched, scopes, calls } = client;
  const scopesLine: Line =
    scopes.v4.length === 0
      ? []
      : [
          `Scopes to request in ${names.upstream}: `,
          ...scopes.v4.flatMap((scope, n) => [n === 0 ? "" : ", ", { code: scope }]),
          ".",
        ];
  const withoutCounterpart = calls
    .filter(({ counterpart }) => counterpart === "none")
    .map(({ route }) => route);
  const lines: Line[] = [
    [...describeState(client, report)],
    [
      ...describeTokens(client),
      ` Seen from ${formatMinuteUtc(client.first)} to ${formatMinuteUtc(client.last)}.`,
    ],
    ...(scopesLine.length === 0 ? [] : [scopesLine]),
    ...(withoutCounterpart.length === 0
      ? []
      : [[`Without a counterpart in ${names.upstream}: `, ...listNames(withoutCounterpart), "."]]),
    ...(errors === 0 ? [] : [[`${plural(errors, "request")} failed.`]]),
    ...(lossy === 0
      ? []
      : [[`${plural(lossy, "response")} lost a part of what ${names.upstream} returned.`]]),
    ...(unmatched === 0
      ? []
      : [
          [
            `${plural(unmatched, "request")} had paths that ${names.client} never had: an error of the client.`,
          ],
        ]),
  ];
  return [{ kind: "list", lines }, ...outlineLossTables(client.losses, "What it lost, by weight")];
}

/** The guide of one client as blocks. */
export function outlineClient(
  client: ClientGuide,
  report: Pick<Report, "names" | "quietDays">,
): readonly Block[] {
  const { names } = report;
  const { calls, objects, requests } = client;
  const name = clientName(client);
  const heading: Block = { kind: "heading", level: 2, line: [name], id: clientAnchor(client) };
  if (calls.length === 0) {
    const end = isDone(client.readiness)
      ? "There is nothing to change."
      : `It has no calls of ${names.client} routes.`;
    return [heading, ...outlineSummary(client, report), { kind: "text", line: [end] }];
  }
  return [
    heading,
    ...outlineSummary(client, report),
    { kind: "heading", level: 3, line: [`${plural(calls.length, "call")} to change, the most used first`] },
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
    ...calls.map((call) => outlineCall(call, client, percent(call.requests, requests), names)),
    ...(objects.length > 0
      ? [{ kind: "heading" as const, level: 3 as const, line: ["What changes in responses"] }]
      : []),
    ...objects.map((object) => outlineObject(object, client, names)),
  ];
}
