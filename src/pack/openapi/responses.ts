/** The error responses, the schema of their bodies, and the headers of all responses. */
import { errorNames, isRequestName, keyNameOf, problemNames } from "../errors/error-places.ts";
import { isObject } from "../../base/index.ts";
import { isItemTemplate, nameOf, type Shape } from "../values/shape.ts";
import type { Pack } from "../load/pack.ts";
import type { Json } from "./schemas.ts";

/** The name of the schema of errors. No object of a pack has a dot in its name. */
export const ERRORS = "errors.envelope";

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  400: "The request is invalid. All errors are listed.",
  401: "The token is missing or invalid.",
  403: "The token does not have the scope.",
  404: "Not found.",
  500: "An error of the service.",
};

/** Values that only some errors contain. */
const OPTIONAL_NAMES: ReadonlySet<string> = new Set(["field", "pointer", "code", "name"]);

const isOptional = (name: string): boolean => OPTIONAL_NAMES.has(name) || isRequestName(name);

/** Returns the schema of a value of an error. */
function describeErrorName(name: string): Json {
  if (name === "status" || name === "retry_after") return { type: "integer" };
  if (name !== "field") return { type: "string" };
  return { type: "string", description: "The member of the body, as a path with dots." };
}

/**
 * Returns the schema of a shape of errors. An array contains the items of the problems. An object with a key such as
 * `$field` contains problems as members.
 */
function describeErrorShape(shape: unknown): Json {
  const name = nameOf(shape);
  if (name !== undefined) return describeErrorName(name);
  if (isItemTemplate(shape)) {
    // If a problem has none of the values of an item, it has no item.
    const names = problemNames(shape[0]);
    const hasEachProblem = names.length === 0 || names.some((each) => !isOptional(each));
    return { type: "array", ...(hasEachProblem && { minItems: 1 }), items: describeErrorShape(shape[0]) };
  }
  if (typeof shape === "string" && errorNames(shape).length > 0) return { type: "string" };
  if (!isObject(shape)) return { const: shape };
  const all = Object.entries(shape);
  const keyed = all.find(([key]) => keyNameOf(key) !== undefined);
  const members = all.filter(([key]) => keyNameOf(key) === undefined);
  return {
    type: "object",
    required: members.filter(([, value]) => !isOptional(nameOf(value) ?? "")).map(([key]) => key),
    properties: Object.fromEntries(members.map(([key, value]) => [key, describeErrorShape(value)])),
    ...(keyed && { additionalProperties: describeErrorShape(keyed[1]) }),
  };
}

/** Returns the schema of errors: a choice if there are several shapes. */
export function describeErrors(shapes: readonly Shape[]): Json {
  const schemas = shapes.map(describeErrorShape);
  return schemas.length > 1 ? { anyOf: schemas } : (schemas[0] ?? {});
}

/**
 * Describes the error responses, by status.
 *
 * @param schema the schema of their bodies
 * @param headers the headers of all responses
 * @param also statuses that only some operations use
 */
export function describeErrorResponses(
  { statuses, responseTypes }: Pack,
  schema: Json,
  headers: Json,
  also: readonly number[] = [],
): Json {
  const content = { [responseTypes.error]: { schema } };
  const retryAfter = { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } };
  const describe = (status: number): Json => {
    if (status !== statuses.limited)
      return { description: DESCRIPTIONS[status] ?? "The request is rejected.", headers, content };
    const phrase = statuses.phrases[status] ?? "Too Many Requests";
    const description = `${phrase}: the rate limit is used up.`;
    return { description, headers: { ...headers, "Retry-After": retryAfter }, content };
  };
  const all = new Set([...statuses.all, ...also]);
  return {
    ...Object.fromEntries([...all].map((status) => [status, describe(status)])),
    ...(statuses.passesOthers && {
      default: { description: "Another error of the service.", headers, content },
    }),
  };
}

/** The parts of the plan that the description contains. */
export interface DescribedPlan {
  /** Returns the time when a route ends for all clients, in milliseconds since the epoch; undefined if no date is known. */
  endOf(route: string): number | undefined;
}

const text = (description: string): Json => ({ description, schema: { type: "string" } });

const PLAN_HEADERS: Json = {
  Deprecation: text("When the end of this interface was announced: `@` and seconds since 1970 (RFC 9745)."),
  Sunset: text("When this operation ends for this client (RFC 8594), if there is a date."),
  Link: text("Where the end is described, and the call that takes the place of this one (RFC 8288)."),
};

/** Describes the headers that all responses can contain. */
export function describeResponseHeaders(
  { dialect: { client, upstream }, rateLimitHeaders }: Pack,
  plan: DescribedPlan | undefined,
): Json {
  const { upstream_header: call, upstream_filter_header: filter } = client;
  const limit = {
    description: "The rate limit of the token or address.",
    schema: { type: "integer", minimum: 0 },
  };
  return {
    "X-Request-Id": text("The id of the request."),
    ...Object.fromEntries(rateLimitHeaders.client.names.map((name) => [name, limit])),
    ...(call !== undefined && {
      [call]: text(`The call of ${upstream.name} that takes the place of this one.`),
    }),
    ...(filter !== undefined && { [filter]: text("The filter of that call.") }),
    ...(plan && PLAN_HEADERS),
  };
}

/** Returns references to headers of the components. */
export const referToHeaders = (headers: Json): Json =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
