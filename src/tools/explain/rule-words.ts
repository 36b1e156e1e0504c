import type { FieldRule } from "../../mapping/schema/definition.ts";

const oneLine = (expression: string): string => expression.trim().replaceAll(/\s+/g, " ");

function source(name: string, { v4, read, const: fixed }: FieldRule): string {
  if (fixed !== undefined) return `always ${JSON.stringify(fixed)}`;
  if (read !== undefined) return `made by ${oneLine(read)}`;
  return v4 === name ? "as v4 has it" : `from ${v4}`;
}

function steps({ type, as, catalog, object, array }: FieldRule): string[] {
  return [
    ...(type === "date-time" ? ["as a time in UTC"] : []),
    ...(as === undefined ? [] : [`through the values of ${as}`]),
    ...(catalog === undefined ? [] : [`shown whole out of the catalog ${catalog}`]),
    ...(object === undefined ? [] : [`shown as ${object}`]),
    ...(array === true ? ["in a list of one"] : []),
  ];
}

/** How a field is read, in words. `missing`: v4 has nothing there, so that the neutral value stands in. */
export function describeRead(name: string, rule: FieldRule, missing: boolean): string {
  const neutral = missing && rule.const === undefined ? ["v4 has nothing here"] : [];
  return [source(name, rule), ...steps(rule), ...neutral].join(", ");
}

/** How a member of a body is written, in words. */
export function describeWrite(name: string, { v4, as, catalog, write }: FieldRule): string {
  const target = write === undefined ? (v4 === name ? "sent as it is" : `sent as ${v4}`) : "";
  return [
    target || `sent as ${v4}, made by ${oneLine(write ?? "")}`,
    ...(as === undefined ? [] : [`through the values of ${as}`]),
    ...(catalog === undefined ? [] : [`as an id of the catalog ${catalog}`]),
  ].join(", ");
}
