import { fieldTexts, type FieldClass, type FieldRule } from "../../pack/index.ts";

/** The v4 side of a field. */
export interface V4Side {
  /** The recorded request, or the catalog, that it comes from, `GET /path`; null if there is none. */
  readonly call: string | null;
  /** Its path in that response or body; null if it is not a single member. */
  readonly field: string | null;
  /** Missing if it was not recorded. */
  readonly value?: unknown;
}

/** A field of a response or a body: alpha's value, v4's value, and the rule between them. */
export interface ExplainedField {
  /** The path in alpha: `list[0].name`. */
  readonly field: string;
  readonly class: FieldClass;
  readonly value?: unknown;
  readonly v4: V4Side;
  /** The rule in words. */
  readonly rule: string;
  readonly loss: string | null;
}

/** One error of a response; `v4` is null if the gateway rejected the request. */
export interface ExplainedError {
  readonly reason: string;
  readonly field: string | null;
  readonly v4: V4Side | null;
}

/** The translation of the client's body. */
export interface ExplainedBody {
  readonly fields: readonly ExplainedField[];
  /** Alpha members without a rule. */
  readonly dropped: readonly string[];
  /** v4 members that the gateway added. */
  readonly added: readonly string[];
}

/** Where a response and its fields come from, by the active pack. */
export interface Explanation {
  readonly route: string | null;
  /** Why the explanation is incomplete; null if it is complete. */
  readonly note: string | null;
  readonly answer: readonly ExplainedField[];
  readonly errors: readonly ExplainedError[];
  readonly body: ExplainedBody | null;
}

/** An expression on one line. */
export const toLine = (expression: string): string => expression.trim().replaceAll(/\s+/g, " ");

function describeSource(name: string, { upstream: v4, read, const: constant }: FieldRule): string {
  if (constant !== undefined) return `always ${JSON.stringify(constant)}`;
  if (read !== undefined) return `computed by ${toLine(read)}`;
  return v4 === name ? "the same name" : `from ${v4}`;
}

/** Describes how a field of a response is read. `isMissing`: v4 has no value, so the field has its default. */
export function describeRead(name: string, rule: FieldRule, isMissing: boolean): string {
  const emptyNote = isMissing && rule.const === undefined ? ["the upstream has no value"] : [];
  return [
    describeSource(name, rule),
    ...fieldTexts(rule).flatMap(({ read }) => read ?? []),
    ...emptyNote,
  ].join(", ");
}

/** Describes how a member of a body is written. */
export function describeWrite(name: string, rule: FieldRule): string {
  const { upstream: v4, write } = rule;
  const target = write === undefined ? (v4 === name ? "sent unchanged" : `sent as ${v4}`) : "";
  return [
    target || `sent as ${v4}, computed by ${toLine(write ?? "")}`,
    ...fieldTexts(rule).flatMap((texts) => texts.write ?? []),
  ].join(", ");
}
