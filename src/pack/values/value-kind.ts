/** The functions of a value kind of a pack, which translates values that both sides write differently. */
import type { JsonText } from "../../base/index.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";

/** A single value that fields are compared with. */
export type Scalar = string | number | boolean | null;

/** A kind of value that alpha and v4 represent differently. `args` come from the field that uses the kind. */
export interface ValueKind {
  /** Creates the translation v4 → alpha of a value that is not null, as JSON text. */
  readonly reader: (args: Args) => {
    readonly read: (text: string) => MaybePromise<JsonText>;
    readonly mayBeAsync: boolean;
  };
  /** The result may be an {@link UnknownValue}. */
  readonly write: (value: unknown, args: Args) => MaybePromise<unknown>;
  /**
   * Converts a text of a path or a query to the value of the table that it means, such as a number. Other values stay
   * unchanged.
   */
  readonly ofText: { readonly alpha: (text: unknown) => unknown; readonly v4: (text: unknown) => unknown };
  /**
   * `$values` of expressions: looks up a v4 value in the table, which returns `otherwise` for unknown values, or
   * evaluates `read`. Undefined for a kind that has neither a table nor an expression that can be compiled.
   */
  readonly lookup: ((value: unknown) => unknown) | undefined;
  /** The translation of ids; undefined if the kind does not have both directions. */
  readonly ids: IdTranslation | undefined;
  /** All v4 values of every alpha value; empty if there is no table. */
  readonly v4ValuesByAlpha: ReadonlyMap<unknown, readonly unknown[]>;
  /**
   * Returns the v4 values of an alpha value in a filter. Empty if not all of them are known, because `otherwise` also
   * returns the value. Undefined if the value has no v4 value. The member itself is undefined if the kind has neither a
   * table nor a compiled `write`.
   */
  readonly filterValues: ((value: Scalar, args: Args) => readonly Scalar[] | undefined) | undefined;
  /** Whether the translation keeps the order of values. */
  readonly keepsOrder: boolean;
  readonly errorField: string | undefined;
  /**
   * Whether several v4 values have the same alpha value, and this is not the main one; undefined if an expression
   * decides this.
   */
  readonly isLostInRead: ((v4: unknown) => boolean) | undefined;
  /** Whether v4 receives the value of a different alpha value; undefined if this is unknown. */
  readonly isLostInWrite: ((alpha: unknown) => boolean) | undefined;
}

/** The translation of ids, which are texts. An id without a translation is undefined. */
interface IdTranslation {
  readonly toAlpha: (v4Id: string) => string | undefined;
  readonly toV4: (alphaId: string) => string | undefined;
  /** All v4 ids in the order of the table; undefined for expressions, which translate any text. */
  readonly v4Ids: readonly string[] | undefined;
}

/** The result of a write for a value that the table of a kind does not contain, if the kind rejects such values. */
export class UnknownValue {
  /** The text for clients. */
  readonly reason: string;

  constructor(known: Iterable<unknown>) {
    this.reason = `Must be one of ${[...known].join(", ")}.`;
  }
}

/** Arguments of a value kind by name. */
type Args = Readonly<Record<string, unknown>>;

/** Whether a value can be compared with fields, and is not null. */
export const isOperand = (value: unknown): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** Applies a kind to a value. Null and undefined stay unchanged. */
export const applyValueKind =
  (apply: ValueKind["write"], args: Args) =>
  (value: MaybePromise<unknown>): MaybePromise<unknown> =>
    thenMaybe(value, (given) => (given === undefined || given === null ? given : apply(given, args)));
