import type { Block, Line } from "./outline.ts";
import type { CallGuide, ClientGuide, FieldChange, ObjectChanges } from "./model.ts";
import { isDone, READINESS } from "./readiness.ts";
import { clientName, count, moment, percent, plural } from "./words.ts";

export const clientAnchor = ({ client }: ClientGuide): string => `client-${client ?? "none"}`;

/** What a reader is told of a field before anything else. */
export const KINDS: Readonly<Record<FieldChange["class"] | "lossy", string>> = {
  same: "may be null",
  renamed: "renamed",
  value: "other value",
  expanded: "id only",
  composed: "another call",
  derived: "computed",
  absent: "gone",
  lossy: "was lossy",
};

/** Sentences with code in backticks. */
const sentence = (text: string): Line =>
  text
    .split("`")
    .flatMap((part, index): Line => (part === "" ? [] : [index % 2 === 0 ? part : { code: part }]));

/** Words that differ: the same alpha word once. */
function valuesLine({ values }: FieldChange): Line {
  if (values.length === 0) return [];
  const groups = [...Map.groupBy(values, ({ alpha }) => alpha)];
  const told = groups.flatMap(([alpha, pairs], index): Line => [
    index === 0 ? " Alpha's " : ", ",
    { code: alpha },
    " is ",
    ...pairs.flatMap(({ v4 }, place): Line => [place === 0 ? "" : " or ", { code: v4 }]),
  ]);
  return [...told, "."];
}

/** A field's change as one cell: what changes, the words that differ, what was lost. */
function changeLine(change: FieldChange): Line {
  const { formula, loss, class: kind } = change;
  const plain = kind === "same" && change.change === "";
  return [
    ...(plain ? [] : [{ tag: KINDS[kind] }, " "]),
    ...sentence(change.change),
    ...valuesLine(change),
    ...(formula === null ? [] : [" Alpha's formula: ", { code: formula }, "."]),
    // Of what is gone the reason is told already.
    ...(loss === null || kind === "absent" ? [] : [plain ? "" : " ", { tag: KINDS.lossy }, ` ${loss}.`]),
  ];
}

const FIELD_COLUMNS = [{ name: "In alpha" }, { name: "In v4" }, { name: "What changes" }] as const;

const listed = (names: readonly string[]): Line =>
  names.flatMap((name, index): Line => [index === 0 ? "" : ", ", { code: name }]);

/** Fields that change alike share a row. */
function fieldsTable(caption: string, fields: readonly FieldChange[]): Block {
  const alike = Map.groupBy(fields, ({ field: _field, v4: _v4, ...change }) =>
    JSON.stringify({ ...change, none: _v4 === null }),
  );
  const rows = [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const v4 = group.flatMap(({ v4: name }) => name ?? []);
    return [
      [listed(group.map(({ field }) => field)), v4.length === 0 ? ["–"] : listed(v4), changeLine(first)],
    ];
  });
  return { kind: "table", of: "fields", caption, columns: FIELD_COLUMNS, rows };
}

function answeredWith({ statuses, requests }: CallGuide): string {
  const refused = statuses.filter(({ status }) => status >= 400);
  if (refused.length === 0) return "";
  const told = refused.map(({ status, requests: times }) => `${status} (${count(times)})`);
  const all = refused.reduce((sum, { requests: times }) => sum + times, 0) === requests;
  return ` ${all ? "All" : "Some"} of them were refused: ${told.join(", ")}.`;
}

function verdict({ counterpart, reason }: CallGuide): Line {
  if (counterpart === "none")
    return [{ tag: "no counterpart" }, ` v4 has nothing in its place. Alpha's clients are told: "${reason}"`];
  if (counterpart === "unneeded")
    return [{ tag: "not needed" }, " v4 does by itself what this asked for: leave the call out."];
  return [{ tag: "no counterpart" }, " The gateway's present mapping knows no such call."];
}

const objectAnchor = (client: ClientGuide, object: string): string => `${clientAnchor(client)}-${object}`;

function details(call: CallGuide, client: ClientGuide): Line[] {
  const changed = call.gets.filter((name) => client.objects.some(({ object }) => object === name));
  return [
    ...(call.scope
      ? [["Scope: ", { code: call.scope.alpha }, " becomes ", { code: call.scope.v4 }, "."]]
      : []),
    ...(changed.length > 0
      ? [
          [
            "Its answer: see ",
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
            "The gateway sent besides: ",
            ...call.adds.flatMap((name, index) => [index === 0 ? "" : ", ", { code: name }]),
            ". Send it yourself, as the command shows, to get what you got so far.",
          ],
        ]
      : []),
    ...(call.lossy > 0
      ? [
          [
            `${plural(call.lossy, "answer")} could not keep something that v4 said: see the fields marked as lossy.`,
          ],
        ]
      : []),
    ...call.notes.map(sentence),
  ];
}

function outlineCall(call: CallGuide, client: ClientGuide, share: string): Block {
  const lines = details(call, client);
  const sample = call.record === null ? ", out of the mapping, since no record is left" : "";
  return {
    kind: "section",
    of: "call",
    blocks: [
      { kind: "heading", level: 4, line: [{ code: call.route }] },
      {
        kind: "text",
        line: [
          { strong: plural(call.requests, "request") },
          ` (${share} of this client's), the last on ${moment(call.last)}.${answeredWith(call)}`,
        ],
      },
      ...(call.counterpart === "call" ? [] : [{ kind: "text" as const, line: verdict(call) }]),
      { kind: "command", title: `So far${sample}`, text: call.before },
      ...call.after.map(({ why, curl }): Block => ({
        kind: "command",
        title: why === "" ? "From now on" : `From now on, ${why}`,
        text: curl,
      })),
      ...(call.filters.length > 0 ? [fieldsTable("Fields in its filters", call.filters)] : []),
      ...(call.sends.length > 0 ? [fieldsTable("Members of its body", call.sends)] : []),
      ...(lines.length > 0 ? [{ kind: "list" as const, lines }] : []),
    ],
  };
}

function outlineObject({ object, same, fields }: ObjectChanges, client: ClientGuide): Block {
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
      fieldsTable(`Fields of ${object} that change`, fields),
    ],
  };
}

function summary(client: ClientGuide): Block[] {
  const { requests, native, readiness, errors, lossy, unmatched, scopes, calls } = client;
  const asked: Line =
    scopes.v4.length === 0
      ? []
      : [
          "Scopes to ask for in v4: ",
          ...scopes.v4.flatMap((scope, n) => [n === 0 ? "" : ", ", { code: scope }]),
          ".",
        ];
  const gone = calls.filter(({ counterpart }) => counterpart === "none").map(({ route }) => route);
  const lines: Line[] = [
    [
      { tag: readiness },
      ` ${READINESS[readiness]}; ${percent(native, requests)} of its ${plural(requests, "request")} were native.`,
    ],
    [
      client.client === null ? "Without a token." : "Token with the fingerprint ",
      ...(client.client === null ? [] : [{ code: client.client }, "."]),
      ` Seen from ${moment(client.first)} to ${moment(client.last)}.`,
    ],
    ...(asked.length === 0 ? [] : [asked]),
    ...(gone.length === 0 ? [] : [["Without a counterpart in v4: ", ...listed(gone), "."]]),
    ...(errors === 0 ? [] : [[`${plural(errors, "request")} ended in an error.`]]),
    ...(lossy === 0 ? [] : [[`${plural(lossy, "answer")} could not keep something of what v4 has.`]]),
    ...(unmatched === 0
      ? []
      : [[`${plural(unmatched, "request")} went to addresses that alpha never had: a fault of the client.`]]),
  ];
  return [{ kind: "list", lines }];
}

/** The guide of one client as blocks. */
export function outlineClient(client: ClientGuide): readonly Block[] {
  const { calls, objects, requests } = client;
  const name = clientName(client.userAgent, client.client);
  const heading: Block = { kind: "heading", level: 2, line: [name], id: clientAnchor(client) };
  if (calls.length === 0) {
    const end = isDone(client.readiness)
      ? "There is nothing to change."
      : "None of its calls is one of alpha's.";
    return [heading, ...summary(client), { kind: "text", line: [end] }];
  }
  return [
    heading,
    ...summary(client),
    { kind: "heading", level: 3, line: [`${plural(calls.length, "call")} to change, the most used first`] },
    {
      kind: "text",
      line: [
        "In the commands ",
        { code: "$GATEWAY" },
        " is the gateway's address, ",
        { code: "$V4" },
        " v4's, and ",
        { code: "$TOKEN" },
        " a token: secrets are never recorded. What changes in every call stands ",
        { link: "above", to: "every-call" },
        ".",
      ],
    },
    ...calls.map((call) => outlineCall(call, client, percent(call.requests, requests))),
    ...(objects.length > 0
      ? [{ kind: "heading" as const, level: 3 as const, line: ["What changes in the answers"] }]
      : []),
    ...objects.map((object) => outlineObject(object, client)),
  ];
}
