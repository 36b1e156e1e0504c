/** Reports mistakes in the shapes of errors, and codes and texts for which no shape has a location. */
import { shapesOf, type ErrorShape, type Responses } from "./errors.ts";
import {
  ERROR_NAMES,
  errorNames,
  findPlaces,
  isEntryKey,
  isRequestName,
  KEY_NAMES,
  REQUEST_NAMES,
} from "./error-places.ts";
import type { Failure } from "./http-error.ts";
import { reportUnknownNames, type Shape } from "../values/shape.ts";
import { closestMatch, type SourceLocation, suggestionFor } from "../../base/index.ts";
import type { CallDefinition } from "../calls/call-definition.ts";
import type { LocatedFile } from "../load/resource-files.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { ErrorsDefinition } from "./errors-definition.ts";

/** Names of which an upstream error needs at least one, because the other names do not describe a problem. */
const READABLE = ["message", "title", "code", "field", "pointer"];

const withSign = (name: string): string => `$${name}`;

/** Reports names that a shape of errors can't contain, and keys that can't be names of values. */
function checkErrorShape(
  shape: Shape,
  side: "client" | "upstream",
  parameters: readonly string[],
  location: SourceLocation,
): void {
  const isClient = side === "client";
  const ofRequest = isClient ? [...REQUEST_NAMES, ...parameters.map((name) => `path.${name}`)] : [];
  const names = [...ERROR_NAMES, ...ofRequest];
  const found = errorNames(shape);
  for (const { name, as } of found)
    if (isClient && as === "text" && isRequestName(name) && !ofRequest.includes(name))
      location.report({ message: `unknown name "{${name}}"`, hint: suggestionFor(name, ofRequest) });
  reportUnknownNames(shape, names, location);
  const allowed = [...KEY_NAMES, ...(isClient ? ["name"] : [])].map(withSign);
  for (const key of found.flatMap(({ name, as }) => (as === "key" ? withSign(name) : []))) {
    const isMeant = names.map(withSign).includes(key) || closestMatch(key, allowed) !== undefined;
    if (isMeant && !allowed.includes(key))
      location.report({
        message: `"${key}" can't be a key of an error`,
        hint: `keys of values are ${allowed.join(", ")}`,
      });
  }
  const isReadable = found.some(({ name, as }) => as === "value" && READABLE.includes(name));
  if (!isClient && !isReadable && findPlaces(shape).length === 0)
    location.report({
      message: "nothing of this error says what the problem is",
      hint: `a value is one of ${READABLE.map(withSign).join(", ")}`,
    });
}

/** Whether one of several shapes of the client contains the value of a name. */
export const haveName = (shapes: readonly ErrorShape[], wanted: "field" | "code" | "pointer"): boolean =>
  shapes.some(({ shape }) => errorNames(shape).some(({ name }) => name === wanted));

/** Whether codes of errors have an effect: a shape contains the code, or only applies to some codes. */
export const useCodes = (shapes: readonly ErrorShape[]): boolean =>
  haveName(shapes, "code") || shapes.some(({ code }) => code !== undefined);

/**
 * Reports shapes that no error uses, and names of values that errors can't contain.
 *
 * @param all The shapes that are defined here, and the inherited ones
 * @param parameters The path parameters of the routes that have these errors.
 */
export function checkSide(
  side: "client" | "upstream",
  responses: Responses,
  all: Responses,
  parameters: readonly string[],
  location: SourceLocation,
): void {
  if (responses.error !== undefined) checkErrorShape(responses.error, side, parameters, location.at("error"));
  for (const key of ["error_shapes", "more_error_shapes"] as const)
    for (const [index, { status, code, fields, shape }] of (responses[key] ?? []).entries()) {
      const at = location.at(key, index);
      checkErrorShape(shape, side, parameters, at.at("shape"));
      if (status === undefined && code === undefined && fields === undefined)
        at.report({
          message: "this shape is for all errors, so that those after it and `error` have no effect",
          hint: 'add "status", "code" or "fields", or make it "error"',
        });
    }
  if (responses.no_field === undefined) return;
  // The upstream's errors are only read, and a field within a text is not found.
  const hasField = shapesOf(all).some(({ shape }) =>
    errorNames(shape).some(({ name, as }) => name === "field" && (side === "client" || as !== "text")),
  );
  const text = side === "client" ? " and no text with {field}" : "";
  if (!hasField) location.at("no_field").report(`"no_field" has no effect: errors have no $field${text}`);
}

/** Whether an error contains a text outside of the entries for its problems. */
const hasTextBesideEntries = ({ shape }: ErrorShape): boolean =>
  findPlaces(shape).length > 0 &&
  errorNames(shape).some(
    ({ name, as, path }) =>
      name === "message" && as !== "key" && !path.some((key) => key.startsWith("$") || isEntryKey(key)),
  );

/** Reports texts and codes of errors that the client's shapes can't contain. */
export function checkValidation(
  validation: ErrorsDefinition["validation"],
  clientShapes: readonly ErrorShape[],
  location: SourceLocation,
): void {
  const query = location.at("query");
  if (validation?.query?.field !== undefined && !haveName(clientShapes, "field"))
    query
      .at("field")
      .report(
        '"field" has no effect: the errors of clients have no $field and no text with {field} ("responses.error", "error_shapes")',
      );
  for (const [rules, at] of [
    [validation, location],
    [validation?.query, query],
  ] as const) {
    if (rules?.codes && !useCodes(clientShapes))
      at.at("codes").report('"codes" has no effect: the errors of clients have no $code ("responses.error")');
    if (rules?.message !== undefined && !clientShapes.some(hasTextBesideEntries))
      at.at("message").report(
        '"message" needs $message beside an array with the problems ("responses.error")',
      );
  }
}

/** Reports codes of failed checks and calls if the clients' errors can't contain a code. */
export function reportFailureCodes(
  { calls: shared }: DialectDefinition,
  files: readonly LocatedFile<ResourceDefinition>[],
  pack: SourceLocation,
): void {
  const report = (failure: Failure | undefined, at: SourceLocation): void => {
    if (failure?.code !== undefined)
      at.at("code").report('"code" has no effect: the errors of clients have no $code ("responses.error")');
  };
  const reportChecks = (checks: readonly Failure[] = [], at: SourceLocation): void =>
    checks.forEach((check, index) => report(check, at.at(index)));
  const reportCall = ({ checks, failure }: CallDefinition, at: SourceLocation): void => {
    reportChecks(checks, at.at("checks"));
    report(failure, at.at("failure"));
  };
  for (const [name, call] of Object.entries(shared)) reportCall(call, pack.at("calls", name));
  for (const { definition, location } of files) {
    for (const [name, { checks }] of Object.entries(definition.bodies ?? {}))
      reportChecks(checks, location.at("bodies", name, "checks"));
    for (const [index, { failures = {}, calls = [] }] of (definition.routes ?? []).entries()) {
      const at = location.at("routes", index);
      report(failures.checks, at.at("failures", "checks"));
      calls.forEach((call, place) => {
        if (typeof call !== "string") reportCall(call, at.at("calls", place));
      });
    }
  }
}
