/** How a dialect filters and sorts lists, as the pack writes it. */

/** The neutral name of an operator. The spellings of both dialects are data of the pack. */
export type Operator =
  | "and"
  | "or"
  | "gt"
  | "gte"
  | "lt"
  | "lte"
  | "contains"
  | "neq"
  | "order_by"
  | "order"
  | "search";

/**
 * The operators that a dialect has, with their spellings. Of several spellings the first is the documented one. In a query
 * the spelling is a parameter with the placeholder {@link FIELD}.
 */
export type OperatorSpellings = Readonly<Partial<Record<Operator, string | readonly string[]>>>;

/** How several values are in a query: in repeated parameters, or in one with commas. */
export type Multiple = "repeat" | "comma";

/** The order of a list in a query. */
export interface SortDefinition {
  readonly parameter: string;
  /** The parameter with the direction; undefined if the order has it. */
  readonly direction?: string | undefined;
  /** The order by a field, or the direction. */
  readonly ascending?: string | undefined;
  readonly descending?: string | undefined;
  /** Undefined: a list is sorted by one field. */
  readonly multiple?: Multiple | undefined;
}

/** How a dialect filters lists: with a JSON header, or in the query. */
export interface FilterDefinition {
  readonly header?: string | undefined;
  /** In a query: the parameter that a field must be equal to. */
  readonly parameter?: string | undefined;
  readonly operators: OperatorSpellings;
  /** In a query: the parameter with several values, one of which a field must be equal to. */
  readonly in?: { readonly parameter: string; readonly multiple: Multiple } | undefined;
  readonly sort?: SortDefinition | undefined;
  readonly unknown?: "ignore" | "reject" | undefined;
}

/** The placeholder of a field's name in a parameter. */
export const FIELD = "{field}";

/** Returns a parameter with the name of a field. */
export const fillName = (template: string, field: string): string => template.replace(FIELD, () => field);

/** Returns the part of a text that is in the place of a field's name; undefined if it does not have the form. */
export function nameIn(template: string, text: string): string | undefined {
  const [before = "", after = ""] = template.split(FIELD);
  const length = text.length - before.length - after.length;
  if (length <= 0 || !text.startsWith(before) || !text.endsWith(after)) return undefined;
  return text.slice(before.length, before.length + length);
}

/** All spellings of an operator. */
export const spellingsOf = (spellings: string | readonly string[] | undefined): readonly string[] =>
  spellings === undefined ? [] : [spellings].flat();
