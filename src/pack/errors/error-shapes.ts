/** The errors of both dialects: their shapes, compiled and checked. */
import { STATUS_CODES } from "node:http";
import { findPlaces, KEY_NAMES, keysIn } from "./error-places.ts";
import { REQUEST_NAMES, requestNameOf } from "./error-request.ts";
import { createErrorFormat, type ErrorFormat, type ErrorShape } from "./errors.ts";
import type { ErrorCodes, InvalidPart } from "./error-codes.ts";
import type { ErrorSummary } from "./http-error.ts";
import { namesIn, type Shape } from "../fields/shape.ts";
import type { Statuses } from "./statuses.ts";
import { closestMatch, type SourceLocation, suggestionFor } from "../../base/index.ts";
import { parametersIn, parseSegment } from "../routes/router.ts";
import type { DialectDefinition, ErrorsDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import type { EnvelopeDefinition } from "./responses-definition.ts";
import { reportFailureCodes } from "./route-failures.ts";
import type { LocatedFile } from "../load/resource-files.ts";
import type { FieldContext } from "../fields/field-context.ts";

/** The errors of both sides. */
export interface ErrorFormats {
  readonly client: ErrorFormat;
  readonly upstream: ErrorFormat;
}

/** What both dialects say about errors. */
export interface CompiledErrors {
  /** Where a route has no others (`errorsOf`). */
  readonly errors: ErrorFormats;
  /** What errors about a request that breaks a rule say as a whole; undefined for their reasons. */
  readonly validationSummaries: Readonly<Record<InvalidPart, ErrorSummary | undefined>>;
  /** Whether the parameter of a filter, an order or a page is the field of its errors. */
  readonly namesParameters: boolean;
}

/** The errors of a route: its own, or those of the pack. */
export const errorsOf = (
  route: { readonly errors: ErrorFormats | undefined } | undefined,
  { errors }: Pick<CompiledErrors, "errors">,
): ErrorFormats => route?.errors ?? errors;

type Responses = Pick<
  DialectDefinition["client" | "upstream"]["responses"],
  "error" | "error_shapes" | "no_field"
>;

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

/** The path parameters of the client's paths of routes, in the order of their first. */
const pathParametersOf = (routes: readonly Pick<RouteDefinition, "client">[]): string[] => [
  ...new Set(
    routes.flatMap(({ client }) =>
      client
        .split("/")
        .flatMap((segment) => parametersIn(parseSegment(segment, () => "text")))
        .map(({ parameter }) => parameter),
    ),
  ),
];

/** Reports names that a shape of errors can't have, and keys that can't be names of values. */
function checkErrorShape(
  shape: Shape,
  side: "client" | "upstream",
  parameters: readonly string[],
  location: SourceLocation,
): void {
  const ofRequest = side === "client" ? [...REQUEST_NAMES, ...parameters.map(requestNameOf)] : [];
  const known = [...ERROR_NAMES, ...ofRequest].map((name) => `$${name}`);
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

const hasFieldIn = (shapes: readonly ErrorShape[]): boolean =>
  shapes.some(
    ({ shape }) => keysIn(shape).includes("$field") || namesIn(shape).some(({ name }) => name === "field"),
  );

/**
 * Reports shapes that no error has, and names of values that errors can't have.
 *
 * @param all What is written here and what applies beside it.
 * @param parameters The path parameters of the routes that have these errors.
 */
function checkSide(
  side: "client" | "upstream",
  responses: Responses,
  all: Responses,
  parameters: readonly string[],
  location: SourceLocation,
): void {
  if (responses.error !== undefined) checkErrorShape(responses.error, side, parameters, location.at("error"));
  for (const [index, { status, fields, shape }] of (responses.error_shapes ?? []).entries()) {
    const at = location.at("error_shapes", index);
    checkErrorShape(shape, side, parameters, at.at("shape"));
    if (status === undefined && fields === undefined)
      at.report({
        message: "this shape is for all errors, so that those after it and `error` have no effect",
        hint: 'add "status" or "fields", or make it "error"',
      });
  }
  if (responses.no_field !== undefined && !hasFieldIn(shapesOf(all)))
    location.at("no_field").report('"no_field" has no effect: errors have no $field');
}

const hasCodeIn = (shapes: readonly ErrorShape[]): boolean =>
  shapes.some(
    ({ shape }) => keysIn(shape).includes("$code") || namesIn(shape).some(({ name }) => name === "code"),
  );

/** Reports texts and codes of errors that the client's shapes have no place for. */
function checkValidation(
  { validation }: ErrorsDefinition,
  clientShapes: readonly ErrorShape[],
  location: SourceLocation,
): void {
  const shapes = clientShapes.map(({ shape }) => shape);
  const hasCode = hasCodeIn(clientShapes);
  if (validation?.query?.field !== undefined && !hasFieldIn(clientShapes))
    location
      .at("errors", "validation", "query", "field")
      .report('"field" has no effect: the errors of clients have no $field ("responses.error")');
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

type Files = readonly LocatedFile<ResourceDefinition>[];

/** All shapes of the client: of the pack, of resources and of routes. */
const allClientShapes = ({ client }: DialectDefinition, files: Files): readonly ErrorShape[] => {
  const own = files.flatMap(({ definition: { envelope, routes = [] } }) =>
    [envelope, ...routes.map((route) => route.envelope)].flatMap((each) => each?.client ?? []),
  );
  return [client.responses, ...own].flatMap(shapesOf);
};

/** How names of fields are translated between the errors of both dialects. */
export const errorIndexesOf = (dialect: DialectDefinition, files: Files): FieldContext["errorIndexes"] => ({
  haveDots: dialect.upstream.responses.field_indexes === "dots",
  areKept:
    dialect.client.responses.field_indexes !== "none" ||
    allClientShapes(dialect, files).some(
      ({ shape }) =>
        keysIn(shape).includes("$pointer") || namesIn(shape).some(({ name }) => name === "pointer"),
    ),
});

/** How statuses and codes of the client are said in its errors. */
interface Translation {
  readonly statuses: Statuses;
  readonly errorCodes: ErrorCodes;
}

function createFormats(
  { client, upstream }: Readonly<Record<"client" | "upstream", Responses>>,
  indexes: DialectDefinition["client"]["responses"]["field_indexes"],
  { statuses, errorCodes }: Translation,
): ErrorFormats {
  return {
    client: createErrorFormat(
      shapesOf(client),
      {
        codeOf: errorCodes.ofStatus,
        titleOf: (status) => statuses.phrases[status] ?? phraseOf(status),
      },
      { noField: client.no_field, indexes },
    ),
    upstream: createErrorFormat(
      shapesOf(upstream),
      { codeOf: () => undefined, titleOf: (status) => STATUS_CODES[status] },
      { noField: upstream.no_field, indexes: "brackets" },
    ),
  };
}

/** Own shapes over others. An own `error` is for all errors, also those for which the others have a shape. */
const withOwn = (others: Responses, own: Responses = {}): Responses => ({
  error: own.error ?? others.error,
  error_shapes: own.error_shapes ?? (own.error === undefined ? others.error_shapes : undefined),
  no_field: own.no_field ?? others.no_field,
});

/** The shapes of both sides for envelopes, the one that counts least first. */
const responsesOf = (
  { client, upstream }: DialectDefinition,
  envelopes: readonly (EnvelopeDefinition | undefined)[],
): Record<"client" | "upstream", Responses> => ({
  client: envelopes.reduce<Responses>((all, own) => withOwn(all, own?.client), client.responses),
  upstream: envelopes.reduce<Responses>((all, own) => withOwn(all, own?.upstream), upstream.responses),
});

/**
 * Reports mistakes in the errors of an envelope.
 *
 * @param outer The envelope of its resource, for one of a route.
 * @param routes Those that have these errors.
 */
export function checkOwnErrors(
  envelope: EnvelopeDefinition,
  outer: EnvelopeDefinition | undefined,
  dialect: DialectDefinition,
  routes: readonly Pick<RouteDefinition, "client">[],
  location: SourceLocation,
): void {
  const all = responsesOf(dialect, [outer, envelope]);
  const parameters = pathParametersOf(routes);
  for (const side of ["client", "upstream"] as const)
    checkSide(side, envelope[side] ?? {}, all[side], parameters, location.at(side));
}

const hasErrors = ({ client, upstream }: EnvelopeDefinition): boolean =>
  [client, upstream].some((own) => (own?.error ?? own?.error_shapes ?? own?.no_field) !== undefined);

/** Compiles the errors of a route; undefined: they are those of the pack. @param envelopes of its resource, and its own */
export function compileOwnErrors(
  envelopes: readonly (EnvelopeDefinition | undefined)[],
  dialect: DialectDefinition,
  translation: Translation,
): ErrorFormats | undefined {
  if (!envelopes.some((envelope) => envelope && hasErrors(envelope))) return undefined;
  const { field_indexes: indexes } = dialect.client.responses;
  return createFormats(responsesOf(dialect, envelopes), indexes, translation);
}

/** Compiles and checks the shapes of errors. @param files The resource files, whose routes may have shapes of their own. */
export function compileErrors(
  definition: DialectDefinition,
  files: Files,
  translation: Translation,
  location: SourceLocation,
): CompiledErrors {
  const { client, upstream, errors } = definition;
  const parameters = pathParametersOf(files.flatMap((file) => file.definition.routes ?? []));
  for (const side of ["client", "upstream"] as const) {
    const {
      [side]: { responses },
    } = definition;
    checkSide(side, responses, responses, parameters, location.at(side, "responses"));
  }
  const clientShapes = allClientShapes(definition, files);
  if (client.responses.field_indexes !== "none" && !hasFieldIn(clientShapes))
    location
      .at("client", "responses", "field_indexes")
      .report('"field_indexes" has no effect: errors have no $field');
  checkValidation(errors, clientShapes, location);
  if (!hasCodeIn(clientShapes)) reportFailureCodes(definition, files, location);
  const { validation } = errors;
  const summaryOf = (message: string | undefined): ErrorSummary | undefined =>
    message === undefined ? undefined : { reason: message, isComplete: true };
  return {
    errors: createFormats(
      { client: client.responses, upstream: upstream.responses },
      client.responses.field_indexes,
      translation,
    ),
    namesParameters: validation?.query?.field !== undefined,
    validationSummaries: {
      body: summaryOf(validation?.message),
      query: summaryOf(validation?.query?.message ?? validation?.message),
    },
  };
}
