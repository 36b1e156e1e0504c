/** v4 error → alpha error: the name of the field, through the rule that writes it. */
import { withBrackets } from "../errors/error-fields.ts";
import type { CompileFields, FieldContext } from "./field-context.ts";

/** A v4 member, and what an error about it names in alpha. */
interface ErrorField {
  readonly v4: string;
  readonly alpha: string;
  /** `whole`: alpha names the field itself, whatever the tail; a member's name: that member of it. */
  readonly error: string | undefined;
  /** Names a member of the object that the field holds; undefined if the pack does not describe one. */
  readonly memberName: ((v4: string) => string | undefined) | undefined;
}

const isWithin = (name: string, parent: string): boolean =>
  name.startsWith(parent) &&
  (name.length === parent.length || name[parent.length] === "." || name[parent.length] === "[");

/** Indexes of items at the start of what follows a path. */
const INDEXES = /^(?:\[\d+\])*/;
/** An item within a path, and one that is not named by its index. */
const ITEM = /\[[^\].]*\]?/g;
const NAMED_ITEM = /\[(?!\d+\])[^\].]*\]?/g;

function alphaName(rule: ErrorField, tail: string, { areKept }: FieldContext["errorIndexes"]): string {
  if (rule.error === "whole") return rule.alpha;
  if (rule.error !== undefined) return `${rule.alpha}.${rule.error}`;
  const [indexes = ""] = INDEXES.exec(tail) ?? [];
  const name = areKept ? rule.alpha + indexes : rule.alpha;
  const below = tail.slice(indexes.length);
  if (!rule.memberName) return name + below.replaceAll(areKept ? NAMED_ITEM : ITEM, "");
  // Members that no rule names are v4's.
  const member = below.startsWith(".") ? rule.memberName(below.slice(1)) : undefined;
  return member === undefined ? name : `${name}.${member}`;
}

/** Without its indexes, by the members that `error_fields` names: `lines[0].price` is `lines.price`. */
function ownName(field: string, names: ReadonlyMap<string, string>): string | undefined {
  if (names.size === 0) return undefined;
  let name = field.replaceAll(/\[\d*\]/g, "");
  for (;;) {
    const found = names.get(name);
    if (found !== undefined) return found;
    const end = name.lastIndexOf(".");
    if (end < 0) return undefined;
    name = name.slice(0, end);
  }
}

/**
 * Compiles the error direction. A member of `error_fields` has precedence, then the rule with the longest v4 path. What
 * follows that path is kept (`stackscript_data.x` → `stackscript_udf_responses.x`), in an object of the pack by the rules of
 * that object. Array indexes are kept only if alpha's errors have them.
 *
 * @param names v4 members with the alpha field that errors about them name (`error_fields`).
 * @returns The alpha name of a v4 field; `undefined` where no rule has it, because alpha errors name only members of
 *   the body that the client sent.
 */
export function compileError(
  rules: Parameters<CompileFields<unknown>>[0],
  names: ReadonlyMap<string, string>,
  { values, errorFields, resources, errorIndexes }: FieldContext,
): (field: string) => string | undefined {
  const fields = [...rules].flatMap(
    ([alpha, { upstream: v4, values: kind, error_field: error, object = "" }]): ErrorField[] => {
      if (v4 === undefined) return [];
      const memberName = resources.has(object)
        ? (member: string) => errorFields.get(object)?.(member)
        : undefined;
      return [{ v4, alpha, error: error ?? values.get(kind ?? "")?.errorField, memberName }];
    },
  );
  const longestFirst = fields.sort((a, b) => b.v4.length - a.v4.length);
  return (sent) => {
    const field = errorIndexes.haveDots ? withBrackets(sent) : sent;
    const own = ownName(field, names);
    if (own !== undefined) return own;
    const rule = longestFirst.find(({ v4 }) => isWithin(field, v4));
    return rule && alphaName(rule, field.slice(rule.v4.length), errorIndexes);
  };
}
