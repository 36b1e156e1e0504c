import type { AuditRecord } from "../../audit/record.ts";
import { isObject } from "../../dialect/json/parse.ts";
import type { FieldRule } from "../../mapping/schema/definition.ts";
import { compileGetter } from "../../mapping/compile/member-paths.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import type { Route } from "../../mapping/compile/route.ts";
import { classOf, type FieldClass } from "../../mapping/summary.ts";
import type { ExplainedBody, ExplainedField } from "./explanation.ts";
import { isTruncated, callName } from "./recorded.ts";
import { describeWrite } from "./rule-words.ts";

/** On the way out a formula of its own makes a value of it, whatever the way back is. */
const writtenAs = (name: string, rule: FieldRule): FieldClass =>
  rule.write === undefined ? classOf(name, rule) : "value";

/** The names under which a client may have sent a member. */
const sentAs = (name: string, { also = [] }: FieldRule, body: JsonObject): string | undefined =>
  [name, ...also].find((each) => compileGetter(each)(body) !== undefined);

/** Explains what became of a client's body on its way to v4; null where none was sent, or no call had one. */
export function explainBody(record: AuditRecord, route: Route): ExplainedBody | null {
  const { body } = record.alpha;
  const call = record.v4.findLast((each) => each.body !== undefined);
  if (
    !route.body ||
    !isObject(body) ||
    isTruncated(body) ||
    !call ||
    !isObject(call.body) ||
    isTruncated(call.body)
  )
    return null;

  const taken = new Set<string>();
  const written = new Set<string>();
  const fields = [...route.resource.members].flatMap(([name, rule]): ExplainedField[] => {
    const field = sentAs(name, rule, body);
    if (field === undefined || rule.v4 === undefined) return [];
    const value = compileGetter(rule.v4)(call.body);
    if (value === undefined) return [];
    taken.add(field.split(".", 1)[0] ?? field);
    written.add(rule.v4.split(".", 1)[0] ?? rule.v4);
    return [
      {
        field,
        class: writtenAs(field, rule),
        value: compileGetter(field)(body),
        v4: { call: callName(call), field: rule.v4, value },
        rule: describeWrite(field, rule),
        loss: null,
      },
    ];
  });
  return {
    fields,
    dropped: Object.keys(body).filter((name) => !taken.has(name)),
    added: Object.keys(call.body).filter((name) => !written.has(name)),
  };
}
