/** A family of keys of a field: one value contains their schemas, their rules, and their effects. */
import type { z } from "zod";
import type { Json, JsonText, PaddedText, SourceLocation } from "../../../base/index.ts";
import type { MaybePromise } from "../../../jsonata/index.ts";
import type { ValueKind, Scalar } from "../../values/value-kind.ts";
import type { ExpandWithCache, ReadStepFunction } from "./stub-cache.ts";
import type { OperandRules } from "../../filters/operand.ts";
import type { FilterField } from "../../filters/translate.ts";
import type {
  CatalogCopy,
  Change,
  JsonObject,
  ReadContext,
  ReadFunction,
  WriteContext,
} from "../../translation-context.ts";
import type { KeyRule } from "../../key-rules.ts";

/** The facts about a field that rules need. */
interface FieldFacts {
  readonly keys: WrittenField;
  /** Whether the field belongs to `inputs`, so that no response contains it. */
  readonly isInput: boolean;
}

type Schemas = Readonly<Record<string, z.ZodType>>;

/** The facts about a field for a family of keys: the family's own keys, and the keys of the field's source. */
type OwnKeys<S extends Schemas> = { readonly [Name in keyof S]?: z.output<S[Name]> } & {
  readonly upstream?: string | undefined;
  readonly write?: string | undefined;
};

/** A field as the pack writes it. */
export type WrittenField = OwnKeys<Schemas>;

/** The translations of a nested object. */
interface ObjectTranslation {
  readonly read: ReadFunction;
  /** Translates an object inside an alpha body to v4, by the rules of its own fields. */
  readonly writeObject: (
    object: JsonObject,
    writing: WriteContext,
    change?: Change<JsonObject>,
  ) => MaybePromise<unknown>;
  /** Translates the field of a v4 error inside an object to alpha. */
  readonly errorField: (v4: string) => string | undefined;
}

/** The part of a catalog that the translation of fields needs: see `calls/compile-catalog.ts`. */
export interface CatalogTranslation {
  readonly name: string;
  readonly hiddenPrefix: string | undefined;
  readonly renames: boolean;
  readonly mayBeAsync: boolean;
  readonly stubMembers: readonly string[] | undefined;
  alphaId(v4Id: string): string;
  v4Id(requested: string, copy: CatalogCopy): string | undefined;
  filterIds(requested: string, copy: CatalogCopy): readonly string[] | undefined;
  readonly expand: (v4Id: JsonText, row: () => string, reading: ReadContext) => MaybePromise<JsonText>;
  readonly expandAll: (v4Ids: readonly string[], reading: ReadContext) => string;
  readonly cachedText: NonNullable<ReadStep["cachedText"]>;
}

/** The definitions that keys of a field may refer to. */
export interface FieldKeyContext {
  readonly values: ReadonlyMap<string, ValueKind>;
  readonly catalogs: ReadonlyMap<string, CatalogTranslation>;
  /** The objects of the pack. They are read when functions run, since objects refer to each other. */
  readonly objects: ReadonlyMap<string, ObjectTranslation>;
  readonly resources: ReadonlyMap<string, unknown>;
  /** Whether the translation of an object, or of a nested object, may lose something. */
  readonly mayLose: (object: string) => boolean;
  /** The member that contains the id of an object. */
  readonly id: string;
}

/** One conversion of a value of a response. It is not called for a value that is null or missing. */
export interface ReadStep {
  readonly run: ReadStepFunction;
  /** Whether `run` may return a promise. Readers of nested objects may as well, and are not considered here. */
  readonly mayBeAsync: boolean;
  /** The cached result for the value between two offsets, as UTF-8. */
  readonly cachedText?: (
    bytes: Uint8Array,
    start: number,
    end: number,
    reading: ReadContext,
  ) => PaddedText | undefined;
  /** Replaces `run` for a value in a v4 object. `members` are the other members that the result depends on. */
  readonly expand?: { readonly run: ExpandWithCache; readonly members: readonly string[] };
  /** Whether the step would return this value unchanged. */
  readonly isUnchanged?: (bytes: Uint8Array, start: number, end: number) => boolean;
}

/** One conversion of a value of a body. If a result is an `InvalidWrite`, no further conversion runs. */
export interface WriteStep {
  readonly run: (
    value: unknown,
    writing: WriteContext,
    change: Partial<Change<unknown>> | undefined,
  ) => MaybePromise<unknown>;
  /** Whether the conversion needs the whole object, even if only changes are sent to the upstream. */
  readonly needsWhole: boolean;
}

/** The rules of keys about filters of the upstream by a field. The translations of all keys run one after another. */
export interface FilterPart extends Omit<FilterField, "v4" | "translate" | keyof OperandRules> {
  readonly v4?: string;
  readonly translate?: (value: Scalar, copy: CatalogCopy) => readonly Scalar[] | undefined;
}

/** The rules of keys about lists that the gateway filters itself. */
export interface SelectPart {
  /** Whether the value is an object, or a list of them: it is compared by its id. */
  readonly hasId?: boolean;
  /** Returns the value of rows for a value of a filter; undefined if no row has it. */
  readonly translate?: (value: Scalar, copy: CatalogCopy) => Scalar | undefined;
}

/** The name of a field in an error. */
export interface ErrorPart {
  /**
   * `whole`: alpha uses the name of the field itself, regardless of the rest of the path. A member's name: alpha uses
   * that name.
   */
  readonly error?: string | undefined;
  /** Returns the name of a member of the object that the field contains. */
  readonly memberName?: ((v4: string) => string | undefined) | undefined;
}

/** Descriptions of the effects of a field's keys. */
export interface FieldTexts {
  /** The description for authors, about a value in a response: `as a time in UTC`. */
  readonly read?: string;
  /** The description for authors, about a value in a body. */
  readonly write?: string;
  /** Describes the change for clients that stop using the gateway. @param client the name of the client's dialect */
  readonly change?: (client: string) => string;
}

/**
 * Keys of a field that belong together. All hooks are optional. A key that only other code reads needs no hook.
 *
 * @typeParam S the schemas of the keys, each with its description and an example
 */
export interface FieldKeys<S extends Schemas> {
  readonly schemas: S;
  /** The rules of keys: required keys, excluded keys, and keys without an effect. */
  readonly rules?: { readonly [Name in keyof NoInfer<S>]?: readonly KeyRule<FieldFacts>[] };
  /** Upstream to client: the conversions of a value in a response. */
  read?(rule: OwnKeys<S>, context: FieldKeyContext, location: SourceLocation): readonly ReadStep[];
  /** Client to upstream: the conversion of a value in a body. Undefined if missing. */
  write?(rule: OwnKeys<S>, context: FieldKeyContext, location: SourceLocation): WriteStep | undefined;
  /** The values with which filters compare the field, whether the upstream filters or the gateway. */
  operand?(rule: OwnKeys<S>, context: FieldKeyContext): OperandRules;
  /** Client to upstream: filters by the field. */
  filter?(rule: OwnKeys<S>, context: FieldKeyContext, location: SourceLocation): FilterPart;
  /** Filters by the gateway, whose rows already have the client's values. */
  select?(rule: OwnKeys<S>, context: FieldKeyContext): SelectPart;
  /** Upstream to client: the field of an error. */
  error?(rule: OwnKeys<S>, context: FieldKeyContext): ErrorPart;
  /** Whether the client gets a list with the value as its only item. */
  makesList?(rule: OwnKeys<S>): boolean;
  /** How the value is determined; undefined if the keys do not define it. */
  classOf?(rule: OwnKeys<S>): "expanded" | "value" | undefined;
  texts?(rule: OwnKeys<S>): readonly FieldTexts[];
  /** Returns the schema of the value; undefined if the keys do not define it. @param object the schema of the nested object */
  openapi?(rule: OwnKeys<S>, object: Json | undefined): Json | undefined;
}

/** Defines keys of a field that belong together. */
export const fieldKeys = <S extends Schemas>(keys: FieldKeys<S>): FieldKeys<S> => keys;
