/** The order of a list in a query: `sort=-created`, `sort=name,-created`, `sort=created,desc`. */
import { formatParameter, type Query } from "../paths/query.ts";
import type { Order } from "./condition.ts";
import { fillName, nameIn, type SortDefinition } from "./filter-definition.ts";
import { throwFilterError, throwParameterError, type ListRule } from "./filter-error.ts";

export const ONE_ORDER = "can be ordered by one field only.";

/** Maximum number of fields that a list is sorted by. */
const MAX_ORDERS = 10;

/** Reads and writes the order of lists of one dialect. */
export type SortParameter = ReturnType<typeof createSortParameter>;

/** Returns the only value of a parameter; undefined if it is missing or empty. */
export function onlyValue(query: Query, name: string, rule: ListRule = "sort"): string | undefined {
  const [value, ...others] = query.get(name) ?? [];
  if (others.length > 0) throwParameterError(name, "is given more than once.", rule);
  return value === "" ? undefined : value;
}

/** Creates the reader and writer of a dialect's order. */
export function createSortParameter({ parameter, ascending, descending, multiple }: SortDefinition) {
  // Longer forms are tried first: `-created` also matches the form of a field.
  const forms = [
    { template: descending, isDescending: true },
    { template: ascending, isDescending: false },
  ].toSorted((a, b) => b.template.length - a.template.length);

  function readOne(text: string): Order {
    for (const { template, isDescending } of forms) {
      const field = nameIn(template, text);
      if (field !== undefined) return { field, descending: isDescending };
    }
    return { field: text };
  }

  function textsOf(query: Query): readonly string[] {
    if (multiple === "repeat") return query.get(parameter) ?? [];
    const value = onlyValue(query, parameter);
    if (value === undefined) return [];
    return multiple === "comma" ? value.split(",") : [value];
  }

  return {
    /** @throws {HttpError} 400 if the order is ambiguous */
    read(query: Query): readonly Order[] {
      const texts = textsOf(query).filter((text) => text !== "");
      if (texts.length > MAX_ORDERS)
        throwParameterError(parameter, `has more than ${MAX_ORDERS} fields.`, "sort");
      return texts.map(readOne);
    },
    /** Returns the text of the parameters. @throws {HttpError} 400 if the dialect can't sort by so many fields */
    write(order: readonly Order[]): string {
      const texts = order.map((each) => fillName(each.descending ? descending : ascending, each.field));
      if (multiple === undefined && texts.length > 1) throwFilterError("A list", ONE_ORDER, "sort");
      const values = multiple === "comma" && texts.length > 0 ? [texts.join(",")] : texts;
      return values.map((value) => formatParameter(parameter, value)).join("&");
    },
  };
}
