/** The filter and order of a list if the client gives none, and values that mean no filter. */
import { fieldNames, type Condition, type Conditions, type Filter, type Order } from "./condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import { forParameter, throwFilterError } from "./filter-error.ts";

/** The defaults of one list, in the client's names and values. */
export interface FilterDefaults {
  /** The values that mean no filter, by field. */
  readonly all: ReadonlyMap<string, Scalar>;
  /** The conditions on fields that the client's filter does not have. */
  readonly conditions: ReadonlyMap<string, Condition>;
  /** Empty: the order of the upstream. */
  readonly order: readonly Order[];
}

/** Leaves conditions out that are true for every row: those with a value that means no filter. */
function removeAll(conditions: Conditions, all: FilterDefaults["all"]): Conditions {
  return conditions.flatMap((condition): Conditions => {
    if (condition.kind !== "field") {
      const members = condition.members.map((member) => removeAll(member, all));
      const isEmptied = members.map(
        (member, index) => member.length === 0 && condition.members[index]?.length !== 0,
      );
      if (condition.kind === "or") return isEmptied.includes(true) ? [] : [{ ...condition, members }];
      const others = members.filter((_member, index) => !isEmptied[index]);
      return others.length === 0 && members.length > 0 ? [] : [{ ...condition, members: others }];
    }
    const value = all.get(condition.field);
    const found = condition.tests.find((test) => test.value === value && test.operator !== "contains");
    if (value === undefined || !found) return [condition];
    if (found.operator !== "eq")
      forParameter(condition.parameter, () =>
        throwFilterError(condition.field, `cannot be compared with "${value}" by this operator.`),
      );
    return [];
  });
}

/**
 * Completes the filter of a client.
 *
 * @throws {HttpError} 400 for a value that means no filter, with an operator
 */
export function completeFilter(filter: Filter, { all, conditions, order }: FilterDefaults): Filter {
  const given = new Set(conditions.size === 0 ? [] : fieldNames(filter.conditions));
  const missing = [...conditions].flatMap(([field, condition]) => (given.has(field) ? [] : [condition]));
  return {
    ...filter,
    conditions: [...(all.size === 0 ? filter.conditions : removeAll(filter.conditions, all)), ...missing],
    ...(!filter.order?.length && order.length > 0 && { order }),
  };
}
