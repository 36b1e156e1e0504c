/** Laws that hold for every pack, checked with generated values: `alpha-gateway check --laws`. */
import { isDeepStrictEqual } from "node:util";
import { cursorAt, errorText, printJson } from "../../base/index.ts";
import {
  type BodyRules,
  compileGetter,
  compileSetter,
  type FieldRule,
  type JsonObject,
  NO_CATALOGS,
  type Pack,
  type Resource,
  schemaAt,
} from "../../pack/index.ts";
import { checkChecks } from "./check-law.ts";
import { checkErrors } from "./error-law.ts";
import { checkFilters, tableValues, type ValueTables } from "./filter-law.ts";
import { type Generation, sample, type Schema, valuesOf } from "./generate-values.ts";
import type { LawReport, MutableReport } from "./law-report.ts";

const READING = { catalogs: NO_CATALOGS, calls: {} };

/** Returns the client's object for an upstream object; an error becomes its message. */
async function read(resource: Resource, upstream: unknown): Promise<unknown> {
  try {
    return JSON.parse(await resource.read(cursorAt(printJson(upstream)), READING));
  } catch (error) {
    return `failed: ${(error as { jsonataCode?: string }).jsonataCode ?? errorText(error)}`;
  }
}

/** Returns the schema of a member. For a field with a value table: the values of the table that the schema allows. */
function schemaOf(
  field: string,
  { values: kind }: FieldRule,
  { schema }: BodyRules,
  tables: ValueTables,
): Schema {
  const written = schemaAt(schema, field);
  const words = tableValues(kind, tables).map(([, value]) => value);
  return words.length > 0 && !Array.isArray(written["enum"]) ? { enum: words } : written;
}

/** Returns the value that a client reads after it has written a value. Undefined if the value is invalid or not returned. */
async function readBack(
  field: string,
  body: BodyRules,
  resource: Resource,
  value: unknown,
): Promise<unknown> {
  const sent: JsonObject = {};
  compileSetter(field)(sent, value);
  const { body: normal, faults } = body.normalise(sent);
  const isInvalid = [...faults, ...body.check(normal)].some((fault) => fault.field?.startsWith(field));
  if (isInvalid || compileGetter(field)(normal) === undefined) return undefined;
  const calls: JsonObject = {};
  for (const source of body.mergeSources) compileSetter(source)(calls, {});
  const context = { catalogs: NO_CATALOGS, calls, path: {}, client: "192.0.2.1", body: normal };
  const { v4, faults: writeFaults } = await body.write(normal, context);
  if (writeFaults.some((fault) => fault.field?.startsWith(field))) return undefined;
  return compileGetter(field)(await read(resource, v4)) ?? undefined;
}

/** Checks that a client reads the value that it wrote, for each member that is also a field and declares no loss. */
async function checkRoundTrips(
  [name, body]: readonly [string, BodyRules],
  resource: Resource,
  tables: ValueTables,
  generation: Generation,
  report: MutableReport,
): Promise<void> {
  for (const { name: field, rule } of body.members) {
    const subject = `${resource.name}.${field} in "${name}"`;
    if (resource.fields.get(field) !== rule || rule.loss !== undefined) continue;
    const values = valuesOf(schemaOf(field, rule, body, tables));
    if (rule.catalog !== undefined || !values) {
      report.untested.push(subject);
      continue;
    }
    for (const value of sample(values, generation)) {
      const once = await readBack(field, body, resource, value);
      if (once === undefined) continue;
      report.cases += 1;
      const twice = await readBack(field, body, resource, once);
      const isStable = twice === undefined || isDeepStrictEqual(twice, once);
      if (isStable && isDeepStrictEqual(once, value)) continue;
      const finding = isStable
        ? ({ kind: "changed", value, expected: value, actual: once } as const)
        : ({ kind: "unstable", value: once, expected: once, actual: twice } as const);
      report.findings.push({ subject, ...finding });
      break;
    }
  }
}

/** Checks the laws of a pack with generated values. */
export async function checkLaws(pack: Pack, generation: Generation): Promise<LawReport> {
  const report: MutableReport = { cases: 0, untested: [], findings: [] };
  for (const resource of pack.resources.values()) {
    for (const body of resource.bodies) {
      await checkRoundTrips(body, resource, pack.dialect.values, generation, report);
      await checkChecks(`checks of ${resource.name} in "${body[0]}"`, body[1], generation, report);
    }
  }
  for (const route of pack.routes) await checkFilters(route, pack, report);
  checkErrors(pack, generation, report);
  return report;
}
