/** The fields of one object in a response, each with its rule and its v4 member. */
import { classOf, compileGetter, type FieldRule, lossText, type Resource } from "../../pack/index.ts";
import { isObject } from "../../base/index.ts";
import { describeRead, type ExplainedField, type V4Side } from "../../compare/index.ts";

/** An alpha object, and the v4 object on which it is based. */
export interface ObjectPair {
  /** The object's path in alpha's response: `list[0]`; empty for the whole response. */
  readonly at: string;
  readonly alpha: unknown;
  /** The v4 object. Undefined if it was not recorded. */
  readonly v4: unknown;
  /** The v4 request that returned the object, and the object's path in the response. */
  readonly from: { readonly call: string | null; readonly at: string };
}

export interface FieldSources {
  readonly resources: ReadonlyMap<string, Resource>;
  /** The responses of calls, by the names of the calls. */
  readonly related: ReadonlyMap<string, { readonly call: string; readonly value: unknown }>;
  /** The losses of the response. For a list, they do not contain the rows. */
  readonly losses: readonly string[];
}

const joinPath = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);

/** Returns the member of a different call's response that an expression uses. Undefined if it uses none. */
function findRelatedSource({ read = "" }: FieldRule, { related }: FieldSources): V4Side | undefined {
  const paths = new Set([...read.matchAll(/\$calls\.(\w+(?:\.\w+)*)/g)].map(([, path = ""]) => path));
  const [path = ""] = paths;
  const [name = "", ...rest] = path.split(".");
  const response = related.get(name);
  if (!response) return undefined;
  const names = new Set([...paths].map((used) => used.split(".", 1)[0]));
  if (names.size > 1) return { call: null, field: null };
  if (paths.size > 1 || rest.length === 0) return { call: response.call, field: null };
  const field = rest.join(".");
  return { call: response.call, field, value: compileGetter(field)(response.value) };
}

function findV4Side(rule: FieldRule, { v4, from }: ObjectPair, sources: FieldSources): V4Side {
  if (rule.const !== undefined) return { call: null, field: null };
  if (rule.upstream === undefined) {
    // A call that was not sent, or that failed, is not a source.
    const ownCall = rule.read?.includes("$calls") ? null : from.call;
    return findRelatedSource(rule, sources) ?? { call: ownCall, field: null };
  }
  const value = compileGetter(rule.upstream)(v4);
  return { call: from.call, field: joinPath(from.at, rule.upstream), ...(value !== undefined && { value }) };
}

/** Explains the fields of a nested object, if its source is one v4 object. */
function explainNested(
  name: string,
  rule: FieldRule,
  pair: ObjectPair,
  sources: FieldSources,
): ExplainedField[] {
  const resource = rule.object === undefined ? undefined : sources.resources.get(rule.object);
  const nested = compileGetter(name)(pair.alpha);
  const hasSource = rule.upstream !== undefined && rule.read === undefined;
  const origin = hasSource ? compileGetter(rule.upstream ?? name)(pair.v4) : undefined;
  const explainOne = (alpha: unknown, v4: unknown, at: string): ExplainedField[] => {
    if (!resource || !isObject(alpha)) return [];
    const from = { call: pair.from.call, at: joinPath(pair.from.at, (rule.upstream ?? name) + at) };
    return explainObject(resource, { at: joinPath(pair.at, name + at), alpha, v4, from }, sources);
  };
  if (!hasSource) return [];
  if (!Array.isArray(nested)) return explainOne(nested, origin, "");
  return nested.flatMap((item, row) =>
    explainOne(item, Array.isArray(origin) ? origin[row] : undefined, `[${row}]`),
  );
}

/** Whether a possible loss of a field occurred in the response. Losses of nested objects start with the name of their field. */
function hasLost(name: string, rule: FieldRule, { losses }: FieldSources): boolean {
  const text = lossText(name, rule);
  return text !== undefined && losses.some((loss) => loss === text || loss.endsWith(`.${text}`));
}

/** Explains each field of an object by the rules of its resource. */
export function explainObject(resource: Resource, pair: ObjectPair, sources: FieldSources): ExplainedField[] {
  return [...resource.fields].flatMap(([name, rule]) => {
    const nested = explainNested(name, rule, pair, sources);
    if (nested.length > 0) return nested;
    const v4 = findV4Side(rule, pair, sources);
    const isMissing = pair.v4 !== undefined && v4.field !== null && (v4.value ?? null) === null;
    return [
      {
        field: joinPath(pair.at, name),
        class: classOf(name, rule),
        value: compileGetter(name)(pair.alpha),
        v4,
        rule: describeRead(name, rule, isMissing),
        loss: hasLost(name, rule, sources) ? (rule.loss ?? null) : null,
      },
    ];
  });
}
