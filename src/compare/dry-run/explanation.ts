/** The sources of the fields of a response and of a body, by the active pack. */
import {
  type BodyRules,
  classOf,
  compileGetter,
  type FieldClass,
  type FieldRule,
  fieldTexts,
  type JsonObject,
  parseForm,
  printForm,
  type Route,
} from "../../pack/index.ts";
import { type AuditRecord, isTruncated } from "../../audit/index.ts";
import { isObject, MAX_DEPTH } from "../../base/index.ts";
import { callName } from "./recorded-v4.ts";

/** The v4 side of a field. */
export interface V4Side {
  /** The recorded request, or the catalog, that provides the field, `GET /path`. Null if missing. */
  readonly call: string | null;
  /** The field's path in that response or body; null if it is not a single member. */
  readonly field: string | null;
  /** The value. Missing if it was not recorded. */
  readonly value?: unknown;
}

/** A field of a response or a body: alpha's value, v4's value, and the rule that connects them. */
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

/** The translation of the client's body. */
interface ExplainedBody {
  readonly fields: readonly ExplainedField[];
  /** Alpha members without a rule. */
  readonly dropped: readonly string[];
  /** v4 members that the gateway added. */
  readonly added: readonly string[];
}

/** Writes an expression on one line. */
export const toLine = (expression: string): string => expression.trim().replaceAll(/\s+/g, " ");

function describeSource(name: string, { upstream: v4, read, const: constant }: FieldRule): string {
  if (constant !== undefined) return `always ${JSON.stringify(constant)}`;
  if (read !== undefined) return `computed by ${toLine(read)}`;
  return v4 === name ? "the same name" : `from ${v4}`;
}

/** Describes how a field of a response is read. `isMissing`: v4 has no value, so the default is used. */
export function describeRead(name: string, rule: FieldRule, isMissing: boolean): string {
  const emptyNote = isMissing && rule.const === undefined ? ["the upstream has no value"] : [];
  return [
    describeSource(name, rule),
    ...fieldTexts(rule).flatMap(({ read }) => read ?? []),
    ...emptyNote,
  ].join(", ");
}

/** Describes how a member of a body is written. */
function describeWrite(name: string, rule: FieldRule): string {
  const { upstream: v4, write } = rule;
  const target = write === undefined ? (v4 === name ? "sent unchanged" : `sent as ${v4}`) : "";
  return [
    target || `sent as ${v4}, computed by ${toLine(write ?? "")}`,
    ...fieldTexts(rule).flatMap((texts) => texts.write ?? []),
  ].join(", ");
}

/** Returns the class of a field in a body. A member with its own `write` is a `value`, regardless of its class in responses. */
const writeClass = (name: string, rule: FieldRule): FieldClass =>
  rule.write === undefined ? classOf(name, rule) : "value";

/** Returns the name that the client used for a member: its name or an alias. */
const findSentName = (name: string, { aliases = [] }: FieldRule, body: JsonObject): string | undefined =>
  [name, ...aliases].find((candidate) => compileGetter(candidate)(body) !== undefined);

/** Nests the members of a recorded form: `address[city]`. */
const nestForm = (body: JsonObject): unknown =>
  parseForm(printForm(body, "repeat"), { maxDepth: MAX_DEPTH, maxValues: Infinity });

/** Returns the client's object in a recorded body; undefined if the body is a list, or contains no object. */
function sentObject(body: unknown, rules: BodyRules): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  try {
    const isForm = Object.keys(body).some((name) => name.includes("["));
    const object = rules.unwrap({ value: isForm ? nestForm(body) : body, isForm: false });
    return isObject(object) ? object : undefined;
  } catch {
    return undefined;
  }
}

/** Explains how a client's body became the v4 body; null if one of them is missing. */
export function explainBody(record: AuditRecord, route: Route): ExplainedBody | null {
  const call = record.v4.findLast((v4Call) => v4Call.body !== undefined);
  if (!route.body || isTruncated(record.alpha.body) || !call || isTruncated(call.body)) return null;
  const body = sentObject(record.alpha.body, route.body);
  const sent = route.body.format.unwrap(call.body);
  if (!body || !isObject(sent)) return null;

  const usedMembers = new Set<string>();
  const writtenMembers = new Set<string>();
  const fields = [...route.resource.members].flatMap(([name, rule]): ExplainedField[] => {
    const field = findSentName(name, rule, body);
    if (field === undefined || rule.upstream === undefined) return [];
    const value = compileGetter(rule.upstream)(sent);
    if (value === undefined) return [];
    usedMembers.add(field.split(".", 1)[0] ?? field);
    writtenMembers.add(rule.upstream.split(".", 1)[0] ?? rule.upstream);
    return [
      {
        field,
        class: writeClass(field, rule),
        value: compileGetter(field)(body),
        v4: { call: callName(call), field: rule.upstream, value },
        rule: describeWrite(field, rule),
        loss: null,
      },
    ];
  });
  return {
    fields,
    dropped: Object.keys(body).filter((name) => !usedMembers.has(name)),
    added: Object.keys(sent).filter((name) => !writtenMembers.has(name)),
  };
}
