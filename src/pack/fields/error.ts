/** v4 error → alpha error: the name of the field, through the rule that writes it. */
import { withBrackets } from "../errors/read-errors.ts";
import type { ErrorPart } from "./keys/field-key.ts";
import { errorPartOf } from "./keys/field-keys.ts";
import type { CompileFields, FieldContext } from "./field-context.ts";

/** A v4 member, and its name in alpha's errors. */
interface ErrorField extends ErrorPart {
  readonly v4: string;
  readonly alpha: string;
}

const isWithin = (name: string, parent: string): boolean =>
  name.startsWith(parent) &&
  (name.length === parent.length || name[parent.length] === "." || name[parent.length] === "[");

/** Matches the indexes of items at the start of the rest of a path. */
const INDEXES = /^(?:\[\d+\])*/;
/** Matches an item within a path, with or without an index. */
const ITEM = /\[[^\].]*\]?/g;
const NAMED_ITEM = /\[(?!\d+\])[^\].]*\]?/g;

function alphaName(rule: ErrorField, tail: string, { areKept }: FieldContext["errorIndexes"]): string {
  if (rule.error === "whole") return rule.alpha;
  if (rule.error !== undefined) return `${rule.alpha}.${rule.error}`;
  const [indexes = ""] = INDEXES.exec(tail) ?? [];
  const name = areKept ? rule.alpha + indexes : rule.alpha;
  const below = tail.slice(indexes.length);
  if (!rule.memberName) return name + below.replaceAll(areKept ? NAMED_ITEM : ITEM, "");
  // Members that no rule names belong to v4.
  const member = below.startsWith(".") ? rule.memberName(below.slice(1)) : undefined;
  return member === undefined ? name : `${name}.${member}`;
}

/**
 * Returns the field that `error_fields` defines for a member, or for its nearest parent. For `lines[0].price` this is
 * the entry `lines[0].price`, otherwise `lines.price`, which applies to all items.
 */
function ownName(field: string, names: ReadonlyMap<string, string>): string | undefined {
  if (names.size === 0) return undefined;
  let name = field;
  for (;;) {
    const found = names.get(name) ?? names.get(name.replaceAll(/\[\d*\]/g, ""));
    if (found !== undefined) return found;
    const end = Math.max(name.lastIndexOf("."), name.lastIndexOf("["));
    if (end < 0) return undefined;
    name = name.slice(0, end);
  }
}

/**
 * Compiles the error direction. A member of `error_fields` has precedence, then the rule with the longest v4 path. The
 * rest of the path is kept (`stackscript_data.x` → `stackscript_udf_responses.x`), or translated by the rules of a
 * nested object. Array indexes are only kept if alpha's errors contain them.
 *
 * @param names v4 members with the alpha field that errors about them contain (`error_fields`).
 * @returns The alpha name of a v4 field. Undefined if there is no rule, because alpha errors only contain members of
 *   the body that the client sent.
 */
export function compileError(
  rules: Parameters<CompileFields<unknown>>[0],
  names: ReadonlyMap<string, string>,
  context: FieldContext,
): (field: string) => string | undefined {
  const { errorIndexes } = context;
  const bracket = errorIndexes.haveDots ? withBrackets : (name: string): string => name;
  const ownNames = new Map([...names].map(([v4, alpha]) => [bracket(v4), alpha]));
  const fields = [...rules].flatMap(([alpha, rule]): ErrorField[] =>
    rule.upstream === undefined ? [] : [{ v4: rule.upstream, alpha, ...errorPartOf(rule, context) }],
  );
  const longestFirst = fields.sort((a, b) => b.v4.length - a.v4.length);
  return (sent) => {
    const field = bracket(sent);
    const own = ownName(field, ownNames);
    if (own !== undefined) return own;
    const rule = longestFirst.find(({ v4 }) => isWithin(field, v4));
    return rule && alphaName(rule, field.slice(rule.v4.length), errorIndexes);
  };
}
