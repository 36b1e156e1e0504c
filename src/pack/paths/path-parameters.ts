/** Path parameters of the client → values of the upstream's path. */
import { HttpError } from "../errors/http-error.ts";
import { parseScalar } from "./query.ts";
import { mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import { failureAsValue } from "../expressions/compile-expression.ts";
import type { PathParameterDefinitions } from "./path-definition.ts";
import { isText, type Parameters, type ParameterType } from "./router.ts";
import type { ValueKind } from "../values/value-kind.ts";

/** A compiled path parameter. */
export interface PathParameterRule {
  readonly type: ParameterType;
  /** The value kind. Undefined if the value is the same on both sides. */
  readonly kind: ValueKind | undefined;
}

/** Path parameters by name. */
export type PathParameterRules = Readonly<Record<string, PathParameterRule>>;

/** Compiles how a path parameter becomes a value: a number if its type is `integer`, otherwise the unchanged text. */
export const compilePathValue = (
  type: ParameterType | undefined,
): (<T extends string | number | boolean>(value: T) => T | string | number | boolean) =>
  type === "integer" ? (value) => parseScalar(String(value), "integer") ?? value : (value) => value;

/** Compiles the path parameters of a pack or of a resource. */
export const compilePathParameters = (
  definitions: PathParameterDefinitions,
  values: ReadonlyMap<string, ValueKind>,
  location: SourceLocation,
): PathParameterRules =>
  Object.fromEntries(
    Object.entries(definitions).map(([name, rule]): [string, PathParameterRule] => {
      if (typeof rule === "string") return [name, { type: rule, kind: undefined }];
      const at = location.at(name, "values");
      const kind =
        rule.values === undefined ? undefined : resolveReference(at, "value kind", rule.values, values);
      return [name, { type: rule.type, kind }];
    }),
  );

/**
 * Compiles the translation of the path parameters of a route; undefined if all are the same on both sides. The function
 * throws {HttpError} 404 for a value that the upstream can't have.
 */
export function compilePathValues(
  names: readonly string[],
  rules: PathParameterRules,
): ((parameters: Parameters) => MaybePromise<Parameters>) | undefined {
  const kinds = names.flatMap((name) => {
    const kind = rules[name]?.kind;
    return kind ? [{ name, kind }] : [];
  });
  if (kinds.length === 0) return undefined;
  return (parameters) =>
    thenMaybe(
      mapMaybe(kinds, ({ name, kind }) =>
        failureAsValue(() => kind.write(kind.ofText.alpha(parameters[name]), {})),
      ),
      (written) => {
        const translated = { ...parameters };
        for (const [index, { name }] of kinds.entries()) {
          const value = written[index];
          const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
          if (!isText(text)) throw new HttpError(404, "Not found");
          translated[name] = text;
        }
        return translated;
      },
    );
}
