/**
 * The law of checks: a check that has a result for a body also has a result for the same body with a null that the
 * schema allows.
 */
import { ExpressionError } from "../../jsonata/index.ts";
import {
  allowsNull,
  type BodyRules,
  compileRemover,
  compileSetter,
  type JsonObject,
  NO_CATALOGS,
  schemaAt,
} from "../../pack/index.ts";
import * as fc from "fast-check";
import { type Generation, sample, valuesOf } from "./generate-values.ts";
import type { MutableReport } from "./law-report.ts";

/** Removes the members that a schema does not allow; undefined if the body remains invalid. */
function validBody(body: JsonObject, { check, isList, normalise }: BodyRules): JsonObject | undefined {
  const faultsOf = (object: JsonObject) => check(isList ? [object] : object);
  const { body: normal } = normalise(body);
  for (const { field } of faultsOf(normal)) if (field !== undefined) compileRemover(field)(normal);
  return faultsOf(normal).length === 0 ? normal : undefined;
}

/** Returns the failure of a check; undefined if all checks have a result. */
async function failureOf(body: JsonObject, { write }: BodyRules): Promise<string | undefined> {
  const context = { catalogs: NO_CATALOGS, calls: {}, path: {}, client: "192.0.2.1", body };
  const { faults } = await write(body, context);
  const causes = faults.map(({ cause }) => cause).filter((cause) => cause instanceof ExpressionError);
  return causes.find(({ origin }) => origin?.path.includes("checks") === true)?.message;
}

/** Returns a pattern for the members of a body except one, by their names. */
function membersOf({ members, schema }: BodyRules, without: string): fc.Arbitrary<Record<string, unknown>> {
  const values = members.flatMap(({ name }) => {
    const ofMember = name === without ? undefined : valuesOf(schemaAt(schema, name));
    return ofMember ? [[name, ofMember] as const] : [];
  });
  return fc.record(Object.fromEntries(values), { requiredKeys: [] });
}

/** Checks one body. @param subject the name of the body in findings */
export async function checkChecks(
  subject: string,
  body: BodyRules,
  generation: Generation,
  report: MutableReport,
): Promise<void> {
  // A merged body needs the object from a call before the main call.
  if (body.checks.length === 0 || body.mergeSources.length > 0) return;
  for (const { name } of body.members) {
    if (!allowsNull(schemaAt(body.schema, name))) continue;
    for (const others of sample(membersOf(body, name), generation)) {
      const sent: JsonObject = {};
      for (const [other, value] of Object.entries(others)) compileSetter(other)(sent, value);
      const without = validBody(sent, body);
      if (!without || (await failureOf(without, body)) !== undefined) continue;
      compileSetter(name)(sent, null);
      const withNull = validBody(sent, body);
      if (!withNull) continue;
      report.cases += 1;
      const failure = await failureOf(withNull, body);
      if (failure === undefined) continue;
      const expected = "a text, or nothing";
      report.findings.push({ kind: "check", subject, value: withNull, expected, actual: failure });
      break;
    }
  }
}
