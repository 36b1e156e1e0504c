import type { FieldRule } from "./field-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { Catalog } from "../calls/compile-catalog.ts";
import type { FieldKeyContext } from "./keys/field-key.ts";

/**
 * One rule of a pack defines four translations. A file of this folder compiles each of them:
 */
export type CompileFields<T> = (
  rules: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
  /** Returns the location at which diagnostics about a field are reported. */
  locationOf: (field: string) => SourceLocation,
) => T;

export interface FieldContext extends FieldKeyContext {
  readonly catalogs: ReadonlyMap<string, Catalog>;
  readonly resources: ReadonlyMap<string, { readonly definition: ResourceDefinition }>;
  /** Whether v4's errors write indexes like keys (`lines.0.sku`), and whether alpha's contain indexes. */
  readonly errorIndexes: { readonly haveDots: boolean; readonly areKept: boolean };
  /** `$values(kind, value)` of expressions: looks a v4 value up in the table of a value kind. */
  readonly lookup: (kind: string, value: unknown) => unknown;
  /** Translates v4 scopes to alpha, limited to the scopes that the client requested. */
  readonly scopesOf: (v4: unknown, asked: unknown) => unknown;
  readonly scopesFor: (alpha: unknown) => unknown;
  readonly dialect: DialectDefinition;
}
