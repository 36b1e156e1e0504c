import { thenMaybe, type MaybePromise } from "../../../jsonata/index.ts";
import type { Catalog } from "../catalog.ts";
import type { FieldRule } from "../../schema/definition.ts";
import { compileExpressionAt, type SourceLocation } from "../../load/source-location.ts";
import type { JsonObject, ReadFunction, WriteContext } from "../../translation-context.ts";
import { applyValueKind, type ValueKind } from "../value-kinds.ts";

/** From a member of an alpha body to the value of one v4 member; undefined is not sent. */
export type WriteFunction = (
  value: unknown,
  body: JsonObject,
  writing: WriteContext,
) => MaybePromise<unknown>;

/** What a write gives for an id that no catalog knows. */
export const UNKNOWN_ID = Symbol("unknown record");

/** What rules may refer to. Readers are looked up when they run, since resources refer to each other. */
export interface WriteCompileContext {
  readonly values: ReadonlyMap<string, ValueKind>;
  readonly catalogs: ReadonlyMap<string, Catalog>;
  readonly readers: ReadonlyMap<string, ReadFunction>;
  readonly resources: ReadonlyMap<string, unknown>;
  readonly lookup: (kind: string, value: unknown) => unknown;
  /** v4's scopes in alpha's words, so far as they were asked for. */
  readonly scopesOf: (v4: unknown, asked: unknown) => unknown;
  /** Alpha's scopes in v4's words. */
  readonly scopesFor: (alpha: unknown) => unknown;
}

/** Compiles the way of one member of a body from alpha to v4. Null passes: it is there because it means something. */
export function compileWrite(
  rule: FieldRule,
  context: WriteCompileContext,
  place: SourceLocation,
): WriteFunction {
  const kind = rule.as === undefined ? undefined : context.values.get(rule.as);
  const catalog = rule.catalog === undefined ? undefined : context.catalogs.get(rule.catalog);
  const expression =
    rule.write === undefined
      ? undefined
      : compileExpressionAt(place.at("write"), rule.write, [
          "value",
          "values",
          "first",
          "path",
          "client",
          "scopesFor",
        ]);
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
    return thenMaybe(convert ? convert(written) : written, (found) => toId(found, writing));
  };
}
