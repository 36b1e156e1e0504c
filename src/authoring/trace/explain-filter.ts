/** The translation of each condition of a client's filter. */
import type { AuditRecord } from "../../audit/index.ts";
import { isOperand, NO_CATALOGS, type Route, type Scalar } from "../../pack/index.ts";
import { isObject, parseJson } from "../../base/index.ts";
import { MAX_FIELDS, type TracedCondition } from "./trace.ts";

/** The values of comparisons, with any operator. */
function operandsOf(condition: unknown): Scalar[] {
  if (isOperand(condition)) return [condition];
  if (typeof condition !== "object" || condition === null) return [];
  return Object.values(condition).flatMap(operandsOf);
}

function parse(filter: string | null): unknown {
  try {
    return filter === null ? undefined : parseJson(filter);
  } catch {
    return undefined;
  }
}

/** Describes how the values of a field are translated. */
function describeRule(name: string, { resource }: Route): string {
  const { values, catalog } = resource.members.get(name) ?? {};
  if (values !== undefined) return `by the value table ${values}`;
  return catalog === undefined ? "the same value" : `by the catalog ${catalog}`;
}

/**
 * Explains the conditions of a filter in a header: the member of the upstream, and its values by the table, the catalog
 * or the expression of the field. Catalogs are not recorded, so the value of a catalog is explained as before catalogs
 * are read.
 */
export function explainFilter(
  { alpha: { filter } }: AuditRecord,
  route: Route,
  textOf: (value: unknown) => string | null,
): TracedCondition[] {
  const fields = route.filterFields(NO_CATALOGS);
  function explain(part: unknown): TracedCondition[] {
    if (Array.isArray(part)) return part.flatMap(explain);
    return Object.entries(isObject(part) ? part : {}).flatMap(([name, condition]) => {
      const field = fields.get(name);
      if (!field) return explain(condition);
      return operandsOf(condition).map((value) => ({
        field: name,
        value: textOf(value) ?? "nothing",
        v4: field.v4,
        values: (field.translate ? (field.translate(value) ?? []) : [value]).map(
          (translated) => textOf(translated) ?? "nothing",
        ),
        rule: describeRule(name, route),
      }));
    });
  }
  return explain(parse(filter)).slice(0, MAX_FIELDS);
}
