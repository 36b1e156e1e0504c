/** The errors of both dialects: their shapes, compiled and checked. */
import { STATUS_CODES } from "node:http";
import { checkSide, checkValidation, haveName, useCodes } from "./error-rules.ts";
import { createErrorFormat, shapesOf, type ErrorFormat, type ErrorShape, type Responses } from "./errors.ts";
import type { ErrorCodes, InvalidPart } from "./error-codes.ts";
import { namesInText, parameterOfName, textsWithNames } from "./error-places.ts";
import type { ErrorSummary } from "./http-error.ts";
import type { Statuses } from "./statuses.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { EnvelopeDefinition } from "./responses-definition.ts";
import { reportFailureCodes } from "./failure-codes.ts";
import type { LocatedFile } from "../load/resource-files.ts";
import type { FieldContext } from "../fields/field-context.ts";
import type { Shape } from "../values/shape.ts";

/** The errors of both sides. */
export interface ErrorFormats {
  readonly client: ErrorFormat;
  readonly upstream: ErrorFormat;
}

/** The rules of both dialects about errors. */
type CompiledErrors = ReturnType<typeof compileErrors>;

/** The errors of a route: its own, or those of the pack. */
export const errorsOf = (
  route: { readonly errors: ErrorFormats | undefined } | undefined,
  { errors }: Pick<CompiledErrors, "errors">,
): ErrorFormats => route?.errors ?? errors;

/** The phrase of a status, or of its class if it has none (RFC 9110, section 15). */
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
    dialect.client.responses.field_indexes !== "none" || haveName(allClientShapes(dialect, files), "pointer"),
});

/** How statuses and codes of the client are said in its errors. */
export interface ErrorTranslation {
  readonly statuses: Statuses;
  readonly errorCodes: ErrorCodes;
}

function createFormats(
  { client, upstream }: Readonly<Record<"client" | "upstream", Responses>>,
  indexes: DialectDefinition["client"]["responses"]["field_indexes"],
  { statuses, errorCodes }: ErrorTranslation,
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
function withOwn(others: Responses, own: Responses = {}): Responses {
  const inherited = own.error === undefined ? others.error_shapes : undefined;
  const { more_error_shapes: more } = own;
  const rest = own.error_shapes ?? inherited;
  return {
    error: own.error ?? others.error,
    error_shapes: more ? [...more, ...(rest ?? [])] : rest,
    no_field: own.no_field ?? others.no_field,
  };
}

/** The shapes of both sides for envelopes, in ascending order of precedence. */
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
  for (const side of ["client", "upstream"] as const)
    checkSide(side, envelope[side] ?? {}, all[side], parameters, location.at(side));
}

/** A route of a resource, as far as its errors are concerned. */
interface RouteErrors {
  readonly client: string;
  /** The names of its path parameters. */
  readonly parameters: readonly string[];
  readonly envelope?: EnvelopeDefinition | undefined;
}

/** Reports texts of a resource's errors with a path parameter that one of its routes with these errors lacks. */
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
    for (const name of new Set(textsWithNames(shape).flatMap(namesInText))) {
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

const hasErrors = ({ client, upstream }: EnvelopeDefinition): boolean =>
  [client, upstream].some(
    (own) => (own?.error ?? own?.error_shapes ?? own?.more_error_shapes ?? own?.no_field) !== undefined,
  );

/** Compiles the errors of a route. Undefined: they are the pack's. @param envelopes of its resource, and its own */
export function compileOwnErrors(
  envelopes: readonly (EnvelopeDefinition | undefined)[],
  dialect: DialectDefinition,
  translation: ErrorTranslation,
): ErrorFormats | undefined {
  if (!envelopes.some((envelope) => envelope && hasErrors(envelope))) return undefined;
  const { field_indexes: indexes } = dialect.client.responses;
  return createFormats(responsesOf(dialect, envelopes), indexes, translation);
}

/**
 * Compiles and checks the shapes of errors.
 *
 * @param files The resource files, whose routes may have shapes of their own.
 * @param parameters The path parameters of all routes.
 */
export function compileErrors(
  definition: DialectDefinition,
  files: Files,
  parameters: readonly string[],
  translation: ErrorTranslation,
  location: SourceLocation,
) {
  const { client, upstream, errors } = definition;
  for (const side of ["client", "upstream"] as const) {
    const { responses } = definition[side];
    checkSide(side, responses, responses, parameters, location.at(side, "responses"));
  }
  const clientShapes = allClientShapes(definition, files);
  if (client.responses.field_indexes !== "none" && !haveName(clientShapes, "field"))
    location
      .at("client", "responses", "field_indexes")
      .report('"field_indexes" has no effect: errors have no $field');
  checkValidation(errors, clientShapes, location);
  if (!useCodes(clientShapes)) reportFailureCodes(definition, files, location);
  const { validation } = errors;
  const summaryOf = (message: string | undefined): ErrorSummary | undefined =>
    message === undefined ? undefined : { reason: message, isComplete: true };
  return {
    /** Where a route has no others (`errorsOf`). */
    errors: createFormats(
      { client: client.responses, upstream: upstream.responses },
      client.responses.field_indexes,
      translation,
    ),
    /** Whether the parameter of a filter, an order or a page is the field of its errors. */
    namesParameters: validation?.query?.field !== undefined,
    /** The text of the whole error about a request that breaks a rule; undefined: the reasons. */
    validationSummaries: {
      body: summaryOf(validation?.message),
      query: summaryOf(validation?.query?.message ?? validation?.message),
    } satisfies Record<InvalidPart, unknown>,
  };
}
