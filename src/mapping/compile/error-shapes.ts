/** The errors of both dialects: their shapes, compiled and checked. */
import { STATUS_CODES } from "node:http";
import { findPlaces, KEY_NAMES, keysIn } from "../../dialect/error-places.ts";
import { createErrorFormat, type ErrorFormat, type ErrorShape } from "../../dialect/errors.ts";
import type { ErrorCodes, InvalidPart } from "../../dialect/error-codes.ts";
import type { ErrorSummary } from "../../dialect/http-error.ts";
import { namesIn, type Shape } from "../../dialect/shape.ts";
import type { Statuses } from "../../dialect/statuses.ts";
import type { SourceLocation } from "../load/source-location.ts";
import { closestMatch, suggestionFor } from "../load/suggest.ts";
import type { DialectDefinition, ErrorsDefinition } from "../schema/pack-definition.ts";
import type { FieldContext } from "./field/field-context.ts";

/** What both dialects say about errors. */
export interface CompiledErrors {
  readonly errors: { readonly client: ErrorFormat; readonly upstream: ErrorFormat };
  /** What errors about a request that breaks a rule say as a whole; undefined for their reasons. */
  readonly validationSummaries: Readonly<Record<InvalidPart, ErrorSummary | undefined>>;
}

type Responses = DialectDefinition["client" | "upstream"]["responses"];

/** The shape of a dialect that writes none. */
const DEFAULT_ERROR = { message: "$message" };

/** The shapes of a dialect, the one for all other errors last. */
const shapesOf = ({ error = DEFAULT_ERROR, error_shapes: others = [] }: Responses): ErrorShape[] => [
  ...others.map(({ status, fields, shape }) => ({
    statuses: status === undefined ? undefined : [status].flat(),
    fields,
    shape,
  })),
  { shape: error },
];

const ERROR_NAMES = ["message", "field", "pointer", "code", "status", "title", "name"];

/** Names of which an error of the upstream needs one: the others say nothing about a problem. */
const READABLE = ["message", "title", "code", "field", "pointer"];

/** Reports names that a shape of errors can't have, and keys that can't be names of values. */
function checkErrorShape(shape: Shape, side: "client" | "upstream", location: SourceLocation): void {
  const known = ERROR_NAMES.map((name) => `$${name}`);
  const found = namesIn(shape).map(({ name }) => `$${name}`);
  for (const name of found.filter((each) => !known.includes(each)))
    location.report({ message: `unknown name "${name}"`, hint: suggestionFor(name, known) });
  const keys = KEY_NAMES.map((name) => `$${name}`);
  const allowed = side === "client" ? [...keys, "$name"] : keys;
  for (const key of keysIn(shape).filter((each) => !allowed.includes(each)))
    if (known.includes(key) || closestMatch(key, allowed) !== undefined)
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

/** Reports shapes that no error has, and names of values that errors can't have. */
function checkSide(side: "client" | "upstream", responses: Responses, location: SourceLocation): void {
  if (responses.error !== undefined) checkErrorShape(responses.error, side, location.at("error"));
  for (const [index, { status, fields, shape }] of (responses.error_shapes ?? []).entries()) {
    const at = location.at("error_shapes", index);
    checkErrorShape(shape, side, at.at("shape"));
    if (status === undefined && fields === undefined)
      at.report({
        message: "this shape is for all errors, so that those after it and `error` have no effect",
        hint: 'add "status" or "fields", or make it "error"',
      });
  }
  const hasField = shapesOf(responses).some(
    ({ shape }) => keysIn(shape).includes("$field") || namesIn(shape).some(({ name }) => name === "field"),
  );
  if (responses.no_field !== undefined && !hasField)
    location.at("no_field").report('"no_field" has no effect: errors have no $field');
  if (side === "client" && responses.field_indexes !== "none" && !hasField)
    location.at("field_indexes").report('"field_indexes" has no effect: errors have no $field');
}

/** Reports texts and codes of errors that the client's shapes have no place for. */
function checkValidation(
  { validation }: ErrorsDefinition,
  responses: Responses,
  location: SourceLocation,
): void {
  const shapes = shapesOf(responses).map(({ shape }) => shape);
  const hasCode = shapes.some(
    (shape) => keysIn(shape).includes("$code") || namesIn(shape).some(({ name }) => name === "code"),
  );
  const isBesideList = shapes.some(
    (shape) =>
      findPlaces(shape).length > 0 &&
      namesIn(shape).some(
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

/** The phrase of a status; of one that has none, that of its class (RFC 9110, section 15). */
const phraseOf = (status: number): string | undefined =>
  STATUS_CODES[status] ?? STATUS_CODES[Math.floor(status / 100) * 100];

/** How names of fields are translated between the errors of both dialects. */
export const errorIndexesOf = ({ client, upstream }: DialectDefinition): FieldContext["errorIndexes"] => ({
  haveDots: upstream.responses.field_indexes === "dots",
  areKept:
    client.responses.field_indexes !== "none" ||
    shapesOf(client.responses).some(
      ({ shape }) =>
        keysIn(shape).includes("$pointer") || namesIn(shape).some(({ name }) => name === "pointer"),
    ),
});

/** Compiles and checks the shapes of errors. */
export function compileErrors(
  { client, upstream, errors }: DialectDefinition,
  { statuses, errorCodes }: { readonly statuses: Statuses; readonly errorCodes: ErrorCodes },
  location: SourceLocation,
): CompiledErrors {
  checkSide("client", client.responses, location.at("client", "responses"));
  checkSide("upstream", upstream.responses, location.at("upstream", "responses"));
  checkValidation(errors, client.responses, location);
  const { validation } = errors;
  const summaryOf = (message: string | undefined): ErrorSummary | undefined =>
    message === undefined ? undefined : { reason: message, isComplete: true };
  return {
    errors: {
      client: createErrorFormat(
        shapesOf(client.responses),
        {
          codeOf: errorCodes.ofStatus,
          titleOf: (status) => statuses.phrases[status] ?? phraseOf(status),
        },
        { noField: client.responses.no_field, indexes: client.responses.field_indexes },
      ),
      upstream: createErrorFormat(
        shapesOf(upstream.responses),
        { codeOf: () => undefined, titleOf: (status) => STATUS_CODES[status] },
        { noField: upstream.responses.no_field, indexes: "brackets" },
      ),
    },
    validationSummaries: {
      body: summaryOf(validation?.message),
      query: summaryOf(validation?.query?.message ?? validation?.message),
    },
  };
}
