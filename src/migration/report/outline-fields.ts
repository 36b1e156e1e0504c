/** What changes in fields, as tables and lines. */
import type { FieldClass, SideNames } from "../../pack/index.ts";
import { capitalize, type FieldChange } from "./model.ts";
import type { Block, Line } from "./outline.ts";

/** The labels of field changes. */
export const CHANGE_LABELS: Readonly<Record<FieldClass | "lossy", string>> = {
  same: "can be null",
  renamed: "renamed",
  value: "other value",
  expanded: "id only",
  composed: "another call",
  derived: "computed",
  missing: "removed",
  lossy: "was lossy",
};

/** Parses sentences with code in backticks. */
export const parseSentence = (text: string): Line =>
  text
    .split("`")
    .flatMap((part, index): Line => (part === "" ? [] : [index % 2 === 0 ? part : { code: part }]));

/** Values with different words, grouped by the alpha word. */
function describeValues({ values }: FieldChange, { client }: SideNames): Line {
  if (values.length === 0) return [];
  const groups = [...Map.groupBy(values, ({ alpha }) => alpha)];
  const line = groups.flatMap(([alpha, pairs], index): Line => [
    index === 0 ? ` ${capitalize(client)}'s ` : ", ",
    { code: alpha },
    " is ",
    ...pairs.flatMap(({ v4 }, place): Line => [place === 0 ? "" : " or ", { code: v4 }]),
  ]);
  return [...line, "."];
}

/** A change of a field as one cell: what changes, different values, and the loss. */
function describeChange(change: FieldChange, names: SideNames): Line {
  const { formula, loss, class: kind } = change;
  const isUnchanged = kind === "same" && change.change === "";
  return [
    ...(isUnchanged ? [] : [{ tag: CHANGE_LABELS[kind] }, " "]),
    ...parseSentence(change.change),
    ...describeValues(change, names),
    ...(formula === null ? [] : [` ${capitalize(names.client)}'s formula: `, { code: formula }, "."]),
    // The change of a removed field already has the reason.
    ...(loss === null || kind === "missing"
      ? []
      : [isUnchanged ? "" : " ", { tag: CHANGE_LABELS.lossy }, ` ${loss}.`]),
  ];
}

export const listNames = (names: readonly string[]): Line =>
  names.flatMap((name, index): Line => [index === 0 ? "" : ", ", { code: name }]);

/** Fields with the same change share a row. */
export function createFieldsTable(caption: string, fields: readonly FieldChange[], names: SideNames): Block {
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
        v4.length === 0 ? ["–"] : listNames(v4),
        describeChange(first, names),
      ],
    ];
  });
  const columns = [
    { name: `In ${names.client}` },
    { name: `In ${names.upstream}` },
    { name: "What changes" },
  ];
  return { kind: "table", of: "fields", caption, columns, rows };
}
