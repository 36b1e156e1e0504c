/** Alpha body → v4 body: the value of each v4 member. */
import { thenMaybe, type MaybePromise } from "../../../jsonata/index.ts";
import { compileExpressionAt, type SourceLocation } from "../../load/source-location.ts";
import type { FieldRule } from "../../schema/definition.ts";
import type { JsonObject, WriteContext } from "../../translation-context.ts";
import { applyValueKind } from "../value-kinds.ts";
import type { CompileFields, FieldContext } from "./context.ts";

/** Translates a member of an alpha body to the value of one v4 member. `undefined` is not sent. */
export type WriteFunction = (
  value: unknown,
  body: JsonObject,
  writing: WriteContext,
) => MaybePromise<unknown>;

/** The result of a write for an id that the catalog does not have. */
export const UNKNOWN_ID = Symbol("unknown id");

const WRITE_VARIABLES = ["value", "values", "first", "path", "client", "scopesFor"];

/** Compiles the write direction: one function per field, by alpha name. */
export const compileWrite: CompileFields<ReadonlyMap<string, WriteFunction>> = (rules, context, locationOf) =>
  new Map([...rules].map(([name, rule]) => [name, compileFieldWrite(rule, context, locationOf(name))]));

/** A member that is null is written, too: body rules have dropped every null that means "not given". */
function compileFieldWrite(rule: FieldRule, context: FieldContext, location: SourceLocation): WriteFunction {
  const kind = rule.as === undefined ? undefined : context.values.get(rule.as);
  const catalog = rule.catalog === undefined ? undefined : context.catalogs.get(rule.catalog);
  const expression =
    rule.write === undefined
      ? undefined
      : compileExpressionAt(location.at("write"), rule.write, WRITE_VARIABLES);
  const convert = kind && applyValueKind(kind.write, rule.args ?? {});
  const idOf = (value: unknown, { catalogs }: WriteContext): unknown =>
    catalog && typeof value === "string" ? (catalog.v4Id(value, catalogs) ?? UNKNOWN_ID) : value;
  const toId = (value: unknown, writing: WriteContext): unknown => {
    if (!catalog || !Array.isArray(value)) return idOf(value, writing);
    const ids = value.map((each) => idOf(each, writing));
    return ids.includes(UNKNOWN_ID) ? UNKNOWN_ID : ids;
  };
  return (value, body, writing) => {
    const { prerequisites, path, client } = writing;
    const written = expression
      ? expression.evaluate(body, {
          value,
          values: context.lookup,
          first: prerequisites,
          path,
          client,
          scopesFor: context.scopesFor,
        })
      : value;
    return thenMaybe(convert ? convert(written) : written, (converted) => toId(converted, writing));
  };
}
