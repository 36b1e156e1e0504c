import type { FieldRule } from "./field-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { Catalog } from "../calls/compile-catalog.ts";
import type { FieldKeyContext } from "./keys/field-key.ts";

/**
 * One rule of a pack defines four translations. A file of this folder compiles each of them:
 *
 * | File | Direction | From | To |
 * |---|---|---|---|
 * | `read.ts` | v4 → alpha | the text of a v4 object | the text of an alpha object |
 * | `write.ts` | alpha → v4 | a member of an alpha body | the value of a v4 member |
 * | `filter-fields.ts` | alpha → v4 | a field of an alpha filter | a condition on a v4 field |
 * | `error.ts` | v4 → alpha | the field of a v4 error | the name of an alpha field |
 *
 * @typeParam T The translation of all fields together
 */
export type CompileFields<T> = (
  rules: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
  /** Returns the location at which diagnostics about a field are reported. */
  locationOf: (field: string) => SourceLocation,
) => T;

/** The definitions that rules may refer to. */
export interface FieldContext extends FieldKeyContext {
  readonly catalogs: ReadonlyMap<string, Catalog>;
  readonly resources: ReadonlyMap<string, { readonly definition: ResourceDefinition }>;
  /** Whether v4's errors write indexes like keys (`lines.0.sku`), and whether alpha's contain indexes. */
  readonly errorIndexes: { readonly haveDots: boolean; readonly areKept: boolean };
  /** `$values(kind, value)` of expressions: looks a v4 value up in the table of a value kind. */
  readonly lookup: (kind: string, value: unknown) => unknown;
  /** Translates v4 scopes to alpha, limited to the scopes that the client requested. */
  readonly scopesOf: (v4: unknown, asked: unknown) => unknown;
  /** Translates alpha scopes to v4. */
  readonly scopesFor: (alpha: unknown) => unknown;
  readonly dialect: DialectDefinition;
}
