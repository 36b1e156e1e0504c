/** The errors of both dialects: their shapes, compiled and checked. */
import { STATUS_CODES } from "node:http";
import { checkSide, checkValidation, haveName, reportFailureCodes, useCodes } from "./check-errors.ts";
import { createErrorFormat, shapesOf, type ErrorFormat, type ErrorShape, type Responses } from "./errors.ts";
import { errorNames, parameterOfName } from "./error-places.ts";
import type { ErrorSummary } from "./http-error.ts";
import type { ErrorCodes, InvalidPart, Statuses } from "./statuses.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { EnvelopeDefinition } from "./responses-definition.ts";
import type { LocatedFile } from "../load/resource-files.ts";
import type { FieldContext } from "../fields/field-context.ts";
import type { Shape } from "../values/shape.ts";

/** The errors of both sides. */
export interface ErrorFormats {
  readonly client: ErrorFormat;
  readonly upstream: ErrorFormat;
}

/** Returns the errors of a route: its own, or those of the pack. */
export const errorsOf = (
  route: { readonly errors: ErrorFormats | undefined } | undefined,
  { errors }: { readonly errors: ErrorFormats },
): ErrorFormats => route?.errors ?? errors;

type Files = readonly LocatedFile<ResourceDefinition>[];
type Envelopes = readonly (EnvelopeDefinition | undefined)[];

const SIDES = ["client", "upstream"] as const;

/** Returns all shapes of the client: those of the pack, of resources and of routes. */
const allClientShapes = ({ client }: DialectDefinition, files: Files): readonly ErrorShape[] => {
  const own = files.flatMap(({ definition: { envelope, routes = [] } }) =>
    [envelope, ...routes.map((route) => route.envelope)].flatMap((each) => each?.client ?? []),
  );
  return [client.responses, ...own].flatMap(shapesOf);
};

/** Returns how names of fields are translated between the errors of both dialects. */
export const errorIndexesOf = (dialect: DialectDefinition, files: Files): FieldContext["errorIndexes"] => ({
  haveDots: dialect.upstream.responses.field_indexes === "dots",
  areKept:
    dialect.client.responses.field_indexes !== "none" || haveName(allClientShapes(dialect, files), "pointer"),
});

/** How errors of the client express statuses and codes. */
export interface ErrorTranslation {
  readonly statuses: Statuses;
  readonly errorCodes: ErrorCodes;
}

/** Returns the phrase of a status, or of its class if it has none (RFC 9110, section 15). */
const phraseOf = (status: number): string | undefined =>
  STATUS_CODES[status] ?? STATUS_CODES[Math.floor(status / 100) * 100];

function createFormats(
  dialect: DialectDefinition,
  envelopes: Envelopes,
  { statuses, errorCodes }: ErrorTranslation,
): ErrorFormats {
  const { client, upstream } = responsesOf(dialect, envelopes);
  return {
    client: createErrorFormat(shapesOf(client), {
      codeOf: errorCodes.ofStatus,
      titleOf: (status) => statuses.phrases[status] ?? phraseOf(status),
      noField: client.no_field,
      indexes: dialect.client.responses.field_indexes,
    }),
    upstream: createErrorFormat(shapesOf(upstream), {
      codeOf: () => undefined,
      titleOf: (status) => STATUS_CODES[status],
      noField: upstream.no_field,
      indexes: "brackets",
    }),
  };
}

/**
 * Merges own shapes with inherited ones. An own `error` applies to all errors, even those for which there is an
 * inherited shape.
 */
function withOwn(others: Responses, own: Responses = {}): Responses {
  const inherited = own.error === undefined ? others.error_shapes : undefined;
  const rest = own.error_shapes ?? inherited;
  return {
    error: own.error ?? others.error,
    error_shapes: own.more_error_shapes ? [...own.more_error_shapes, ...(rest ?? [])] : rest,
    no_field: own.no_field ?? others.no_field,
  };
}

/** Returns the shapes of both sides for envelopes, in ascending order of precedence. */
const responsesOf = (dialect: DialectDefinition, envelopes: Envelopes) => ({
  client: envelopes.reduce<Responses>((all, own) => withOwn(all, own?.client), dialect.client.responses),
  upstream: envelopes.reduce<Responses>(
    (all, own) => withOwn(all, own?.upstream),
    dialect.upstream.responses,
  ),
});

/**
 * Reports mistakes in the errors of an envelope.
 *
 * @param outer If `envelope` belongs to a route: the envelope of the route's resource.
 * @param parameters The path parameters of the routes that have these errors.
 */
export function checkOwnErrors(
  envelope: EnvelopeDefinition,
  outer: EnvelopeDefinition | undefined,
  dialect: DialectDefinition,
  parameters: readonly string[],
  location: SourceLocation,
): void {
  const all = responsesOf(dialect, [outer, envelope]);
  for (const side of SIDES) checkSide(side, envelope[side] ?? {}, all[side], parameters, location.at(side));
}

/** The facts about a route of a resource that concern its errors. */
interface RouteErrors {
  readonly client: string;
  /** The names of the route's path parameters. */
  readonly parameters: readonly string[];
  readonly envelope?: EnvelopeDefinition | undefined;
}

/** Reports texts of a resource's errors that contain a path parameter which one of the affected routes lacks. */
export function checkSharedTexts(
  envelope: EnvelopeDefinition,
  routes: readonly RouteErrors[],
  dialect: DialectDefinition,
  location: SourceLocation,
): void {
  const { error, error_shapes: others = [], more_error_shapes: more = [] } = envelope.client ?? {};
  const known = new Set(routes.flatMap(({ parameters }) => parameters));
  const check = (shape: Shape, at: SourceLocation): void => {
    const users = routes.filter((route) =>
      shapesOf(responsesOf(dialect, [envelope, route.envelope]).client).some((used) => used.shape === shape),
    );
    for (const name of new Set(errorNames(shape).flatMap(({ name, as }) => (as === "text" ? name : [])))) {
      const parameter = parameterOfName(name);
      if (parameter === undefined || !known.has(parameter)) continue;
      const without = users.find(({ parameters }) => !parameters.includes(parameter));
      if (without)
        at.report({
          message: `"{${name}}" is empty in errors of "${without.client}", which has no such path parameter`,
          hint: "write the shape in the envelopes of the routes that have it",
        });
    }
  };
  if (error !== undefined) check(error, location.at("error"));
  others.forEach(({ shape }, index) => check(shape, location.at("error_shapes", index, "shape")));
  more.forEach(({ shape }, index) => check(shape, location.at("more_error_shapes", index, "shape")));
}

/**
 * Compiles the errors of a route. Undefined if the route uses those of the pack. @param envelopes the envelopes of the
 * resource and of the route
 */
export function compileOwnErrors(
  envelopes: Envelopes,
  dialect: DialectDefinition,
  translation: ErrorTranslation,
): ErrorFormats | undefined {
  const own = envelopes.flatMap((envelope) => [envelope?.client ?? {}, envelope?.upstream ?? {}]);
  const hasErrors = own.some(
    ({ error, error_shapes: shapes, more_error_shapes: more, no_field: noField }) =>
      (error ?? shapes ?? more ?? noField) !== undefined,
  );
  return hasErrors ? createFormats(dialect, envelopes, translation) : undefined;
}

/**
 * Compiles and checks the shapes of errors.
 *
 * @param files The resource files, whose routes may define their own shapes.
 * @param parameters The path parameters of all routes.
 */
export function compileErrors(
  definition: DialectDefinition,
  files: Files,
  parameters: readonly string[],
  translation: ErrorTranslation,
  location: SourceLocation,
) {
  for (const side of SIDES) {
    const { responses } = definition[side];
    checkSide(side, responses, responses, parameters, location.at(side, "responses"));
  }
  const clientShapes = allClientShapes(definition, files);
  if (definition.client.responses.field_indexes !== "none" && !haveName(clientShapes, "field"))
    location
      .at("client", "responses", "field_indexes")
      .report('"field_indexes" has no effect: errors have no $field');
  const { validation } = definition.errors;
  checkValidation(validation, clientShapes, location.at("errors", "validation"));
  if (!useCodes(clientShapes)) reportFailureCodes(definition, files, location);
  const summaryOf = (message: string | undefined): ErrorSummary | undefined =>
    message === undefined ? undefined : { reason: message, isComplete: true };
  return {
    /** Used if a route has no own errors (`errorsOf`). */
    errors: createFormats(definition, [], translation),
    /** Whether errors about a filter, an order or a page contain the parameter as their field. */
    namesParameters: validation?.query?.field !== undefined,
    /** The text of the whole error about a request that breaks a rule; undefined: the reasons are used. */
    validationSummaries: {
      body: summaryOf(validation?.message),
      query: summaryOf(validation?.query?.message ?? validation?.message),
    } satisfies Record<InvalidPart, unknown>,
  };
}
