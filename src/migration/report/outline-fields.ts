/** The changes of fields, as tables and lines. */
import type { FieldClass, ApiNames } from "../../pack/index.ts";
import { type Block, type Line, listNames, type Span, type Tone } from "../../base/index.ts";
import { capitalize, type FieldChange } from "./model.ts";

type ChangeKind = FieldClass | "lossy";

/** The labels of field changes, and their tones. */
const CHANGE_LABELS: Readonly<Record<ChangeKind, readonly [label: string, tone?: Tone]>> = {
  same: ["can be null"],
  renamed: ["renamed"],
  value: ["other value", "warn"],
  expanded: ["id only", "warn"],
  composed: ["another call", "warn"],
  derived: ["computed", "warn"],
  missing: ["removed", "bad"],
  lossy: ["was lossy", "bad"],
};

/** The label of a change of a field. */
export function changeTag(kind: ChangeKind): Span {
  const [tag, tone] = CHANGE_LABELS[kind];
  return { tag, tone };
}

/** Parses sentences with code in backticks. */
export const parseSentence = (text: string): readonly Span[] =>
  text
    .split("`")
    .flatMap((part, index): Span[] => (part === "" ? [] : [index % 2 === 0 ? part : { code: part }]));

/** Returns values with different words, grouped by the alpha word. */
function describeValues({ values }: FieldChange, { client }: ApiNames): readonly Span[] {
  if (values.length === 0) return [];
  const groups = [...Map.groupBy(values, ({ alpha }) => alpha)];
  const line = groups.flatMap(([alpha, pairs], index): Span[] => [
    index === 0 ? ` ${capitalize(client)}'s ` : ", ",
    { code: alpha },
    " is ",
    ...pairs.flatMap(({ v4 }, place): Span[] => [place === 0 ? "" : " or ", { code: v4 }]),
  ]);
  return [...line, "."];
}

/** Returns a change of a field as one cell: the kind of change, different values, and the loss. */
function describeChange(change: FieldChange, names: ApiNames): Line {
  const { formula, loss, class: kind } = change;
  const isUnchanged = kind === "same" && change.change === "";
  return [
    ...(isUnchanged ? [] : [changeTag(kind), " "]),
    ...parseSentence(change.change),
    ...describeValues(change, names),
    ...(formula === null ? [] : [` ${capitalize(names.client)}'s formula: `, { code: formula }, "."]),
    // The text about the change of a removed field already contains the reason.
    ...(loss === null || kind === "missing" ? [] : [isUnchanged ? "" : " ", changeTag("lossy"), ` ${loss}.`]),
  ];
}

/** Returns the members that the gateway added to bodies, as a line. Empty if not found. */
export const listAddedMembers = (names: readonly string[]): Line[] =>
  names.length === 0
    ? []
    : [
        [
          "The gateway added: ",
          ...listNames(names),
          ". Send it yourself, as in the command, to get the same result.",
        ],
      ];

/** Creates a table in which fields with the same change share a row. */
export function createFieldsTable(caption: string, fields: readonly FieldChange[], names: ApiNames): Block {
  const byChange = Map.groupBy(fields, ({ field: _field, v4: _v4, ...change }) =>
    JSON.stringify({ ...change, none: _v4 === null }),
  );
  const rows = [...byChange.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const v4 = group.flatMap(({ v4: name }) => name ?? []);
    return [
      [
        listNames(group.map(({ field }) => field)),
        v4.length === 0 ? "–" : listNames(v4),
        describeChange(first, names),
      ],
    ];
  });
  const columns = [
    { name: `In ${names.client}` },
    { name: `In ${names.upstream}` },
    { name: "What changes" },
  ];
  return { kind: "table", isLastLong: true, caption, columns, rows };
}
