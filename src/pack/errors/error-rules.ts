/** Reports mistakes in the shapes of errors. */
import { shapesOf, type ErrorShape, type Responses } from "./errors.ts";
import {
  ERROR_NAMES,
  findPlaces,
  hasName,
  isRequestName,
  KEY_NAMES,
  keysIn,
  namesInText,
  REQUEST_NAMES,
  requestNameOf,
  textsWithNames,
  writesName,
  writtenNames,
} from "./error-places.ts";
import { namesIn, reportUnknownNames, type Shape } from "../values/shape.ts";
import { closestMatch, type SourceLocation, suggestionFor } from "../../base/index.ts";
import type { ErrorsDefinition } from "./errors-definition.ts";

/** Names that an error of the upstream needs one of: the others say nothing about a problem. */
const READABLE = ["message", "title", "code", "field", "pointer"];

/** Reports names that a shape of errors can't have, and keys that can't be names of values. */
function checkErrorShape(
  shape: Shape,
  side: "client" | "upstream",
  parameters: readonly string[],
  location: SourceLocation,
): void {
  const ofRequest = side === "client" ? [...REQUEST_NAMES, ...parameters.map(requestNameOf)] : [];
  const names = [...ERROR_NAMES, ...ofRequest];
  const known = new Set(names.map((name) => `$${name}`));
  const found = namesIn(shape).map(({ name }) => `$${name}`);
  const inTexts = side === "client" ? textsWithNames(shape).flatMap(namesInText).filter(isRequestName) : [];
  for (const name of inTexts.filter((each) => !ofRequest.includes(each)))
    location.report({ message: `unknown name "{${name}}"`, hint: suggestionFor(name, ofRequest) });
  reportUnknownNames(shape, names, location);
  const keys = KEY_NAMES.map((name) => `$${name}`);
  const allowed = side === "client" ? [...keys, "$name"] : keys;
  for (const key of keysIn(shape).filter((each) => !allowed.includes(each)))
    if (known.has(key) || closestMatch(key, allowed) !== undefined)
      location.report({
        message: `"${key}" can't be a key of an error`,
        hint: `keys of values are ${allowed.join(", ")}`,
      });
  const isReadable = findPlaces(shape).length > 0 || found.some((name) => READABLE.includes(name.slice(1)));
  if (side === "upstream" && !isReadable)
    location.report({
      message: "nothing of this error says what the problem is",
      hint: `a value is one of ${READABLE.map((name) => `$${name}`).join(", ")}`,
    });
}

/** Whether one of several shapes of the client has a value of a name. */
export const haveName = (shapes: readonly ErrorShape[], name: "field" | "code" | "pointer"): boolean =>
  shapes.some(({ shape }) => writesName(shape, name));

/** Whether codes of errors have an effect: a shape contains the code, or applies only to some codes. */
export const useCodes = (shapes: readonly ErrorShape[]): boolean =>
  haveName(shapes, "code") || shapes.some(({ codes }) => codes !== undefined);

/**
 * Reports shapes that no error uses, and names of values that errors can't have.
 *
 * @param all What is written here and what applies beside it.
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
  const isUsed = side === "client" ? writesName : hasName;
  if (responses.no_field !== undefined && !shapesOf(all).some(({ shape }) => isUsed(shape, "field")))
    location
      .at("no_field")
      .report(
        `"no_field" has no effect: errors have no $field${side === "client" ? " and no text with {field}" : ""}`,
      );
}

/** Reports texts and codes of errors that the client's shapes have no place for. */
export function checkValidation(
  { validation }: ErrorsDefinition,
  clientShapes: readonly ErrorShape[],
  location: SourceLocation,
): void {
  const shapes = clientShapes.map(({ shape }) => shape);
  const hasCode = useCodes(clientShapes);
  if (validation?.query?.field !== undefined && !haveName(clientShapes, "field"))
    location
      .at("errors", "validation", "query", "field")
      .report(
        '"field" has no effect: the errors of clients have no $field and no text with {field} ("responses.error", "error_shapes")',
      );
  const isBesideList = shapes.some(
    (shape) =>
      findPlaces(shape).length > 0 &&
      writtenNames(shape).some(
        ({ name, path }) => name === "message" && !path.some((key) => /^(\[\]|\$.*)$/.test(key)),
      ),
  );
  for (const [rules, at] of [
    [validation, location.at("errors", "validation")],
    [validation?.query, location.at("errors", "validation", "query")],
  ] as const) {
    if (rules?.codes && !hasCode)
      at.at("codes").report('"codes" has no effect: the errors of clients have no $code ("responses.error")');
    if (rules?.message !== undefined && !isBesideList)
      at.at("message").report(
        '"message" needs $message beside an array with the problems ("responses.error")',
      );
  }
}
