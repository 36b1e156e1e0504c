import { isObject } from "../../dialect/json/parse.ts";
import type { FieldRule } from "../../mapping/schema/definition.ts";
import { compileGetter } from "../../mapping/compile/member-paths.ts";
import type { Resource } from "../../mapping/compile/resource.ts";
import { classOf } from "../../mapping/summary.ts";
import type { ExplainedField, V4Side } from "./explanation.ts";
import { describeRead } from "./rule-words.ts";

/** One alpha object and the v4 object it was made from, as they were recorded. */
export interface ObjectPair {
  /** Where it stands in alpha's answer: `list[0]`; empty for the answer itself. */
  readonly at: string;
  readonly alpha: unknown;
  /** Undefined where it was not recorded. */
  readonly v4: unknown;
  /** The call that gave it, and its place in that call's answer. */
  readonly from: { readonly call: string | null; readonly at: string };
}

export interface FieldSources {
  readonly resources: ReadonlyMap<string, Resource>;
  /** Answers of the extra reads by their names: the call, and what it gave. */
  readonly besides: ReadonlyMap<string, { readonly call: string; readonly value: unknown }>;
}

const below = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);

/** The one member of one extra read that an expression names; undefined where it names none, or several. */
function besideOf({ read = "" }: FieldRule, { besides }: FieldSources): V4Side | undefined {
  const named = new Set([...read.matchAll(/\$with\.(\w+(?:\.\w+)*)/g)].map(([, path = ""]) => path));
  const [path = ""] = named;
  const [name = "", ...rest] = path.split(".");
  const found = besides.get(name);
  if (!found) return undefined;
  const names = new Set([...named].map((each) => each.split(".", 1)[0]));
  if (names.size > 1) return { call: null, field: null };
  if (named.size > 1 || rest.length === 0) return { call: found.call, field: null };
  const field = rest.join(".");
  return { call: found.call, field, value: compileGetter(field)(found.value) };
}

function v4Side(rule: FieldRule, { v4, from }: ObjectPair, sources: FieldSources): V4Side {
  if (rule.const !== undefined) return { call: null, field: null };
  if (rule.v4 === undefined) {
    // A read that was not made, or failed, is no source.
    const own = rule.read?.includes("$with") ? null : from.call;
    return besideOf(rule, sources) ?? { call: own, field: null };
  }
  const value = compileGetter(rule.v4)(v4);
  return { call: from.call, field: below(from.at, rule.v4), ...(value !== undefined && { value }) };
}

/** Objects within an object are explained member by member, where what v4 has for them stands beside them. */
function within(name: string, rule: FieldRule, pair: ObjectPair, sources: FieldSources): ExplainedField[] {
  const resource = rule.object === undefined ? undefined : sources.resources.get(rule.object);
  const shown = compileGetter(name)(pair.alpha);
  const plain = rule.v4 !== undefined && rule.read === undefined;
  const origin = plain ? compileGetter(rule.v4 ?? name)(pair.v4) : undefined;
  const one = (alpha: unknown, v4: unknown, at: string): ExplainedField[] => {
    if (!resource || !isObject(alpha)) return [];
    const from = { call: pair.from.call, at: below(pair.from.at, (rule.v4 ?? name) + at) };
    return explainObject(resource, { at: below(pair.at, name + at), alpha, v4, from }, sources);
  };
  if (!plain) return [];
  if (!Array.isArray(shown)) return one(shown, origin, "");
  return shown.flatMap((item, row) => one(item, Array.isArray(origin) ? origin[row] : undefined, `[${row}]`));
}

/** Explains every field of one object by the rules of its resource. */
export function explainObject(resource: Resource, pair: ObjectPair, sources: FieldSources): ExplainedField[] {
  return [...resource.fields].flatMap(([name, rule]) => {
    const inside = within(name, rule, pair, sources);
    if (inside.length > 0) return inside;
    const v4 = v4Side(rule, pair, sources);
    const missing = pair.v4 !== undefined && v4.field !== null && (v4.value ?? null) === null;
    return [
      {
        field: below(pair.at, name),
        class: classOf(name, rule),
        value: compileGetter(name)(pair.alpha),
        v4,
        rule: describeRead(name, rule, missing),
        loss: rule.loss ?? null,
      },
    ];
  });
}
