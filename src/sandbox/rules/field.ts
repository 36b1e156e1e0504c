/**
 * How a member is described: in the fields of a resource and in the bodies of its calls. Plain data with
 * no functions and no regular expressions, so that the service's own words can be put into it.
 */

export type FieldType =
  | "string"
  | "date-time"
  | "integer"
  | "number"
  | "boolean"
  | "object"
  | "strings"
  | "integers"
  | "objects";

export interface Field {
  readonly type: FieldType;
  readonly nullable?: true;
  /** Usable in `X-Filter`. */
  readonly filter?: true;
  /** Accepted in PUT; other members of a PUT body are ignored. */
  readonly write?: true;
  /** Accepted in POST, beside those that PUT accepts. */
  readonly create?: true;
  /** Must be in the body of POST and of an action. */
  readonly required?: true;
  /** What it is where nobody says; default the empty value of its type, null where that is allowed. */
  readonly default?: unknown;
  /** No two rows beside each other have the same, or no two of the service. */
  readonly unique?: "siblings" | "everywhere";
  /** Least and most characters of a string, value of a number, or items of an array. */
  readonly min?: number;
  readonly max?: number;
  /** A regular expression that the whole string must match. */
  readonly pattern?: string;
  /** Strings that are right whatever `min` and `pattern` say. */
  readonly alwaysAllowed?: readonly string[];
  /** The only strings allowed. */
  readonly values?: readonly string[];
  /** The members of an object, or of each item of an array of objects; without it any member is kept. */
  readonly members?: Fields;
  /** The rule that each item of an array of strings keeps. */
  readonly items?: Field;
}

export type Fields = Readonly<Record<string, Field>>;
