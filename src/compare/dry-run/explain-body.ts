import { type AuditRecord, isTruncated } from "../../audit/index.ts";
import {
  type BodyRules,
  classOf,
  compileGetter,
  type FieldClass,
  type FieldRule,
  type JsonObject,
  parseForm,
  printForm,
  type Route,
} from "../../pack/index.ts";
import { isObject, MAX_DEPTH } from "../../base/index.ts";
import { describeWrite, type ExplainedBody, type ExplainedField } from "./explanation.ts";
import { callName } from "./recorded.ts";

/** A member with its own expression for writing is a `value`, whatever its class is for reading. */
const writeClass = (name: string, rule: FieldRule): FieldClass =>
  rule.write === undefined ? classOf(name, rule) : "value";

/** The name under which the client sent a member: its name or an alias. */
const findSentName = (name: string, { aliases = [] }: FieldRule, body: JsonObject): string | undefined =>
  [name, ...aliases].find((candidate) => compileGetter(candidate)(body) !== undefined);

/** Nests the members of a recorded form: `address[city]`. */
const nestForm = (body: JsonObject): unknown =>
  parseForm(printForm(body, "repeat"), { maxDepth: MAX_DEPTH, maxValues: Infinity });

/** The client's object in a recorded body; undefined if the body is a list, or has no object. */
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
