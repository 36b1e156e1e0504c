/** The responses with errors, and the schema of their bodies. */
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

/** Values that not every error has. */
const OPTIONAL_NAMES: ReadonlySet<string> = new Set(["field", "pointer", "code", "name"]);

const isOptional = (name: string): boolean => OPTIONAL_NAMES.has(name) || isRequestName(name);

/** Whether each problem is an item of the array. One without any of its values is not. */
function hasEachProblem(item: Shape): boolean {
  const names = problemNames(item);
  return names.length === 0 || names.some((name) => !isOptional(name));
}

/**
 * The schema of a shape. `describe` gives the schema of a name. An array contains the items of the problems. In an
 * object with a key such as `$field`, problems are members.
 */
function describeShape(shape: unknown, describe: (name: string) => Json): Json {
  const name = nameOf(shape);
  if (name !== undefined) return describe(name);
  if (isItemTemplate(shape)) {
    const items = describeShape(shape[0], describe);
    return { type: "array", ...(hasEachProblem(shape[0]) && { minItems: 1 }), items };
  }
  if (typeof shape === "string" && errorNames(shape).length > 0) return { type: "string" };
  if (!isObject(shape)) return { const: shape };
  const all = Object.entries(shape);
  const keyed = all.find(([key]) => keyNameOf(key) !== undefined);
  const members = all.filter(([key]) => keyNameOf(key) === undefined);
  const required = members.filter(([, value]) => !isOptional(nameOf(value) ?? "")).map(([key]) => key);
  return {
    type: "object",
    required,
    properties: Object.fromEntries(members.map(([key, value]) => [key, describeShape(value, describe)])),
    ...(keyed && { additionalProperties: describeShape(keyed[1], describe) }),
  };
}

const describeErrorName = (name: string): Json => {
  if (name === "status" || name === "retry_after") return { type: "integer" };
  if (name !== "field") return { type: "string" };
  return { type: "string", description: "The member of the body, as a path with dots." };
};

/** The schema of errors: one of several where there are more shapes. */
export function describeErrors(shapes: readonly Shape[]): Json {
  const schemas = shapes.map((shape) => describeShape(shape, describeErrorName));
  return schemas.length > 1 ? { anyOf: schemas } : (schemas[0] ?? {});
}

/**
 * The responses with errors, by status.
 *
 * @param schema of their bodies
 * @param common Headers of all responses.
 * @param also Statuses that not every operation may have.
 */
export function describeErrorResponses(
  { statuses, responseTypes }: Pack,
  schema: Json,
  common: Json,
  also: readonly number[] = [],
): Json {
  const content = { [responseTypes.error]: { schema } };
  const limitHeaders = {
    ...common,
    "Retry-After": { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
  };
  const described = Object.fromEntries(
    [...new Set([...statuses.all, ...also])].map((status) => {
      if (status !== statuses.limited)
        return [
          status,
          { description: DESCRIPTIONS[status] ?? "The request is rejected.", headers: common, content },
        ];
      const phrase = statuses.phrases[status] ?? "Too Many Requests";
      return [
        status,
        { description: `${phrase}: the rate limit is used up.`, headers: limitHeaders, content },
      ];
    }),
  );
  return statuses.passesOthers
    ? { ...described, default: { description: "Another error of the service.", headers: common, content } }
    : described;
}
