/** v4 error → alpha error: the name of the field, through the rule that writes it. */
import type { CompileFields } from "./field-context.ts";

/** A v4 member, and what an error about it names in alpha. */
interface ErrorField {
  readonly v4: string;
  readonly alpha: string;
  /** `whole`: alpha names the field itself, whatever the tail; a member's name: that member of it. */
  readonly error: string | undefined;
  /** Names a member of the object that the field holds. */
  readonly memberName: (v4: string) => string | undefined;
}

const isWithin = (name: string, parent: string): boolean =>
  name.startsWith(parent) &&
  (name.length === parent.length || name[parent.length] === "." || name[parent.length] === "[");

function alphaName(rule: ErrorField, tail: string): string {
  if (rule.error === "whole") return rule.alpha;
  if (rule.error !== undefined) return `${rule.alpha}.${rule.error}`;
  const below = tail.replaceAll(/\[[^\].]*\]?/g, "");
  const member = below.startsWith(".") ? rule.memberName(below.slice(1)) : undefined;
  return rule.alpha + (member === undefined ? below : `.${member}`);
}

/**
 * Compiles the error direction. The rule with the longest v4 path wins. What follows that path is kept
 * (`stackscript_data.x` → `stackscript_udf_responses.x`) without array indexes, because alpha errors name only members.
 *
 * @returns The alpha name of a v4 field; `undefined` where no rule has it, because alpha errors name only members of
 *   the body that the client sent.
 */
export const compileError: CompileFields<(field: string) => string | undefined> = (
  rules,
  { values, errorFields },
) => {
  const fields = [...rules].flatMap(
    ([alpha, { upstream: v4, values: kind, error_field: error, object = "" }]): ErrorField[] => {
      if (v4 === undefined) return [];
      const memberName = (member: string) => errorFields.get(object)?.(member);
      return [{ v4, alpha, error: error ?? values.get(kind ?? "")?.errorField, memberName }];
    },
  );
  const longestFirst = fields.sort((a, b) => b.v4.length - a.v4.length);
  return (field) => {
    const rule = longestFirst.find(({ v4 }) => isWithin(field, v4));
    return rule && alphaName(rule, field.slice(rule.v4.length));
  };
};
