import type { FieldRule } from "./field-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { MaybePromise } from "../../jsonata/index.ts";
import type { Change, JsonObject, ReadFunction, WriteContext } from "../translation-context.ts";
import type { Catalog } from "../calls/compile-catalog.ts";
import type { ValueKind } from "./value-kinds.ts";

/**
 * One rule of a pack gives four translations, each compiled by a file of this folder:
 *
 * | File | Direction | From | To |
 * |---|---|---|---|
 * | `read.ts` | v4 → alpha | the text of a v4 object | the text of an alpha object |
 * | `write.ts` | alpha → v4 | a member of an alpha body | the value of a v4 member |
 * | `filter.ts` | alpha → v4 | a field of an alpha filter | a condition on a v4 field |
 * | `error.ts` | v4 → alpha | the field of a v4 error | the name of an alpha field |
 *
 * @typeParam T The translation of all fields together
 */
export type CompileFields<T> = (
  rules: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
  /** Where diagnostics about a field are reported. */
  locationOf: (field: string) => SourceLocation,
) => T;

/** What rules may refer to. Functions of objects are looked up when they run, since resources refer to each other. */
export interface FieldContext {
  readonly values: ReadonlyMap<string, ValueKind>;
  readonly catalogs: ReadonlyMap<string, Catalog>;
  readonly readers: ReadonlyMap<string, ReadFunction>;
  /** Translate an object inside an alpha body to v4, by the rules of its own fields. */
  readonly objectWrites: ReadonlyMap<
    string,
    (object: JsonObject, writing: WriteContext, change?: Change<JsonObject>) => MaybePromise<unknown>
  >;
  /** Translate the field of a v4 error inside an object to alpha. */
  readonly errorFields: ReadonlyMap<string, (v4: string) => string | undefined>;
  /** Whether v4's errors write indexes like keys (`lines.0.sku`), and whether alpha's have indexes. */
  readonly errorIndexes: { readonly haveDots: boolean; readonly areKept: boolean };
  readonly resources: ReadonlyMap<string, { readonly definition: ResourceDefinition }>;
  /** Whether the translation of an object, or of one inside it, may lose something. */
  readonly mayLose: (object: string) => boolean;
  /** `$values(kind, value)` of expressions: looks a v4 value up in the table of a value kind. */
  readonly lookup: (kind: string, value: unknown) => unknown;
  /** Translates v4 scopes to alpha, limited to the scopes that the client asked for. */
  readonly scopesOf: (v4: unknown, asked: unknown) => unknown;
  /** Translates alpha scopes to v4. */
  readonly scopesFor: (alpha: unknown) => unknown;
  /** The headers that may have the client's token, in lower case. */
  readonly tokenHeaders: readonly string[];
  /** The member with the id of an object. */
  readonly id: string;
  /** Whether clients have filters in the query, where all values are texts. */
  readonly filtersInQuery: boolean;
  /** Whether responses to clients leave out fields without a value. */
  readonly omitsNull: boolean;
}
