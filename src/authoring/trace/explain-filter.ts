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

/**
 * Explains the conditions of a filter in a header: the member of the upstream, and its values by the table, the catalog or the
 * expression of the field. Catalogs are not recorded, so a value of a catalog is taken as it would be before they are read.
 */
export function explainFilter(
  { alpha: { filter } }: AuditRecord,
  { filterFields, resource }: Route,
  textOf: (value: unknown) => string | null,
): TracedCondition[] {
  const fields = filterFields(NO_CATALOGS);
  const found: TracedCondition[] = [];
  function search(part: unknown): void {
    if (Array.isArray(part)) return part.forEach(search);
    if (!isObject(part)) return;
    for (const [name, condition] of Object.entries(part)) {
      const field = fields.get(name);
      if (!field) {
        search(condition);
        continue;
      }
      const { values, catalog } = resource.members.get(name) ?? {};
      const rule =
        values === undefined
          ? catalog === undefined
            ? "the same value"
            : `by the catalog ${catalog}`
          : `by the value table ${values}`;
      for (const value of operandsOf(condition).slice(0, MAX_FIELDS - found.length))
        found.push({
          field: name,
          value: textOf(value) ?? "nothing",
          v4: field.v4,
          values: (field.translate ? (field.translate(value) ?? []) : [value]).map(
            (translated) => textOf(translated) ?? "nothing",
          ),
          rule,
        });
    }
  }
  search(parse(filter));
  return found;
}
