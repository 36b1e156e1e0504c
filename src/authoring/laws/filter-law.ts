/** The law of filters: a filter by the value that clients read selects the object with that value. */
import { cursorAt, printJson } from "../../base/index.ts";
import {
  compileGetter,
  compileSetter,
  type JsonObject,
  NO_CATALOGS,
  type Pack,
  type Route,
} from "../../pack/index.ts";
import type { MutableReport } from "./law-report.ts";

/** The value kinds of a pack, by name. */
export type ValueTables = Pack["dialect"]["values"];

/** Returns the pairs of a value table, upstream value and client value; empty for a kind without a table. */
export function tableValues(kind: string | undefined, values: ValueTables): (readonly [unknown, unknown])[] {
  const { same = [], read } = values[kind ?? ""] ?? {};
  const table = typeof read === "object" ? read : [];
  return [...same.map((value) => [value, value] as const), ...table];
}

/** Checks the filters of a list by fields with a value table. */
export async function checkFilters(route: Route, { dialect }: Pack, report: MutableReport): Promise<void> {
  if (route.response !== "list") return;
  const { resource } = route;
  for (const [name, { translate }] of route.filterFields(NO_CATALOGS)) {
    const { upstream, values } = resource.members.get(name) ?? {};
    if (!translate || upstream === undefined) continue;
    for (const [value] of tableValues(values, dialect.values)) {
      const object: JsonObject = {};
      compileSetter(upstream)(object, value);
      const read = JSON.parse(
        await resource.read(cursorAt(printJson(object)), { catalogs: NO_CATALOGS, calls: {} }),
      ) as unknown;
      const clientValue = compileGetter(name)(read);
      if (clientValue === null || clientValue === undefined || typeof clientValue === "object") continue;
      report.cases += 1;
      const selected = translate(clientValue as string);
      // A filter by the value of `otherwise` is rejected.
      if (selected?.length === 0 || selected?.some((each) => String(each) === String(value))) continue;
      const subject = `${resource.name}.${name} in ${route.name}`;
      report.findings.push({
        kind: "filter",
        subject,
        value: clientValue,
        expected: value,
        actual: selected ?? [],
      });
    }
  }
}
