/** Sections that the report and the page of a client share. */
import { type MigrationState, STATE_LABELS } from "../../audit/index.ts";
import {
  formatCount,
  verbFor,
  type Block,
  type Line,
  listNames,
  listOf,
  plural,
  type Severity,
  type Span,
  tableOf,
  type Tone,
} from "../../base/index.ts";
import type { ApiNames } from "../../pack/index.ts";
import type { CallGuide } from "./call-guide.ts";
import {
  capitalize,
  type Counterpart,
  type Difference,
  type FieldChange,
  type ObjectChanges,
} from "./model.ts";
import { createFieldsTable, parseSentence } from "./outline-fields.ts";

/** Returns the label of a state. */
export const stateTag = (state: MigrationState): Span => {
  const { label, tone } = STATE_LABELS[state];
  return { tag: label, tone };
};

const SEVERITY_TONES: Readonly<Record<Severity, Tone | undefined>> = {
  meaning: "bad",
  detail: "warn",
  rounding: undefined,
};

/** Returns the label for the severity of a loss. */
export const severityTag = (severity: Severity): Span => ({ tag: severity, tone: SEVERITY_TONES[severity] });

const NOT_NEEDED: Span = { tag: "not needed", tone: "good" };
const NO_COUNTERPART: Span = { tag: "no counterpart", tone: "bad" };

/** Lists the calls that replace a call, or returns a note that there are none. */
export const describeCalls = (calls: readonly string[], counterpart: Counterpart): readonly Span[] =>
  calls.length > 0 ? listNames(calls) : [counterpart === "unneeded" ? NOT_NEEDED : NO_COUNTERPART];

function describeCounterpart({ counterpart, reason }: GuidedCall, { upstream }: ApiNames): Line {
  const name = capitalize(upstream);
  if (counterpart === "none")
    return [NO_COUNTERPART, ` ${name} has no replacement. The gateway returns the error: "${reason}"`];
  if (counterpart === "unneeded") return [NOT_NEEDED, ` ${name} does this automatically: remove the call.`];
  return [NO_COUNTERPART, " The active mapping does not have this call."];
}

/**
 * Describes the things that a client must know before it changes calls: scopes, calls without a replacement, and wrong
 * paths.
 */
export function describeNeeds(
  calls: readonly Pick<CallGuide, "route" | "counterpart">[],
  { scopes, unmatched }: { readonly scopes: readonly string[]; readonly unmatched: number },
  { client, upstream }: ApiNames,
): Line[] {
  const without = calls.filter(({ counterpart }) => counterpart === "none").map(({ route }) => route);
  return [
    ...(scopes.length === 0 ? [] : [[`Scopes to request in ${upstream}: `, ...listNames(scopes), "."]]),
    ...(without.length === 0 ? [] : [[`Without a counterpart in ${upstream}: `, ...listNames(without), "."]]),
    ...(unmatched === 0
      ? []
      : [`${plural(unmatched, "request")} had paths that ${client} never had: an error of the client.`]),
  ];
}

type GuidedCall = Pick<
  CallGuide,
  "route" | "counterpart" | "reason" | "scope" | "sends" | "filters" | "notes"
>;

/** The notes about a call, except for the changes of its fields. */
interface CallWords {
  /** The number of times that the call was made, and the dates. */
  readonly summary: Line;
  /** Commands that demonstrate it. */
  readonly commands?: readonly Block[];
  /** Objects in its responses that change, and the ids of their descriptions. */
  readonly objects: readonly { readonly object: string; readonly id: string }[];
  readonly details: readonly Line[];
}

/** Returns a call of a client, and its changes. */
export function outlineCall(call: GuidedCall, words: CallWords, names: ApiNames): Block {
  const { scope, counterpart, filters, sends, notes } = call;
  const { summary, commands = [], objects, details } = words;
  const links = objects.flatMap(({ object, id }, index): Span[] => [
    index === 0 ? "" : ", ",
    { link: object, to: id },
  ]);
  const items: Line[] = [
    ...(scope ? [["Scope: ", { code: scope.alpha }, " becomes ", { code: scope.v4 }, "."]] : []),
    ...(links.length > 0 ? [["The response: see ", ...links, " below."]] : []),
    ...details,
    ...notes.map(parseSentence),
  ];
  const tables: readonly (readonly [caption: string, fields: readonly FieldChange[]])[] = [
    ["Fields in filters", filters],
    ["Members of the body", sends],
  ];
  return {
    kind: "section",
    as: "frame",
    blocks: [
      { kind: "heading", level: 4, line: [{ code: call.route }] },
      { kind: "text", line: summary },
      ...(counterpart === "call" ? [] : [{ kind: "text" as const, line: describeCounterpart(call, names) }]),
      ...commands,
      ...tables.flatMap(([caption, fields]) =>
        fields.length > 0 ? [createFieldsTable(caption, fields, names)] : [],
      ),
      ...listOf(items),
    ],
  };
}

/**
 * Returns the changes of the objects in responses.
 *
 * @param level the level of the heading
 * @param anchorOf returns the id of an object's heading
 */
export function outlineObjects(
  objects: readonly ObjectChanges[],
  { level, anchorOf }: { readonly level: 2 | 3; readonly anchorOf: (object: string) => string },
  names: ApiNames,
): Block[] {
  if (objects.length === 0) return [];
  return [
    { kind: "heading", level, line: "What changes in responses" },
    ...objects.map(({ object, same, fields }): Block => ({
      kind: "section",
      as: "group",
      blocks: [
        {
          kind: "heading",
          level: level === 2 ? 3 : 4,
          line: [{ code: object }],
          id: anchorOf(object),
        },
        {
          kind: "text",
          line: `${plural(fields.length, "field")} of ${formatCount(fields.length + same)} ${verbFor(fields.length, "change")}.`,
        },
        createFieldsTable(`Fields of ${object} that change`, fields, names),
      ],
    })),
  ];
}

/** Returns the changes that affect all calls. */
export function outlineEveryCall(
  differences: readonly Difference[],
  { client, upstream }: ApiNames,
): Block[] {
  return [
    { kind: "heading", level: 2, line: "What changes in all calls", id: "every-call" },
    tableOf(`In ${client} and in ${upstream}`, differences, [
      ["", ({ what }) => what],
      [`In ${client}`, ({ alpha }) => alpha],
      [`In ${upstream}`, ({ v4 }) => v4],
    ]),
  ];
}
