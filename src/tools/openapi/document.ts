import type { Pack } from "../../mapping/pack.ts";
import { credentialPlaces, type CredentialsPlace } from "../../dialect/credentials.ts";
import { keyNameOf } from "../../dialect/error-places.ts";
import type { ErrorFormat } from "../../dialect/errors.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { isItemTemplate, namesIn, nameOf, type Shape } from "../../dialect/shape.ts";
import { describeObject, extensionName, objectRef, type Json } from "./schemas.ts";
import { describePaths, securitySchemeNames } from "./operations.ts";
import { describeResponseHeaders, referToHeaders, type DescribedPlan } from "./response-headers.ts";

/** The name of the schema of errors. No object of a pack has a dot in its name. */
const ERRORS = "errors.envelope";

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  400: "The request is invalid. All errors are listed.",
  401: "The token is missing or invalid.",
  403: "The token does not have the scope.",
  404: "Not found.",
  500: "An error of the service.",
};

/** Values that not every error has. */
const OPTIONAL_NAMES: ReadonlySet<string> = new Set(["field", "pointer", "code", "name"]);

/** Whether each problem is an item of the array. One without any of its values is not. */
function hasEachProblem(item: Shape): boolean {
  const names = namesIn(item).flatMap(({ name }) => (name === "name" ? [] : [name]));
  return names.length === 0 || names.some((name) => !OPTIONAL_NAMES.has(name));
}

/**
 * The schema of a shape: `describe` gives that of a name. An array has the items of the problems, and an object with a key
 * such as `$field` has them by that value.
 */
function describeShape(shape: unknown, describe: (name: string) => Json): Json {
  const name = nameOf(shape);
  if (name !== undefined) return describe(name);
  if (isItemTemplate(shape)) {
    const items = describeShape(shape[0], describe);
    return { type: "array", ...(hasEachProblem(shape[0]) && { minItems: 1 }), items };
  }
  if (!isObject(shape)) return { const: shape };
  const all = Object.entries(shape);
  const keyed = all.find(([key]) => keyNameOf(key) !== undefined);
  const members = all.filter(([key]) => keyNameOf(key) === undefined);
  const required = members
    .filter(([, value]) => !OPTIONAL_NAMES.has(nameOf(value) ?? ""))
    .map(([key]) => key);
  return {
    type: "object",
    required,
    properties: Object.fromEntries(members.map(([key, value]) => [key, describeShape(value, describe)])),
    ...(keyed && { additionalProperties: describeShape(keyed[1], describe) }),
  };
}

const describeErrorName = (name: string): Json => {
  if (name === "status") return { type: "integer" };
  if (name !== "field") return { type: "string" };
  return { type: "string", description: "The member of the body, as a path with dots." };
};

/** The schema of errors: one of several where the pack has more shapes. */
function describeErrors({ shapes }: ErrorFormat): Json {
  const schemas = shapes.map((shape) => describeShape(shape, describeErrorName));
  return schemas.length > 1 ? { anyOf: schemas } : (schemas[0] ?? {});
}

function describeResponses({ statuses, responseTypes }: Pack, common: Json): Json {
  const content = { [responseTypes.error]: { schema: objectRef(ERRORS) } };
  const limitHeaders = {
    ...common,
    "Retry-After": { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
  };
  const described = Object.fromEntries(
    statuses.all.map((status) => {
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

/** Where requests have their token. OpenAPI knows the scheme `Basic`; others are a header of their own. */
function describeCredentials({ scheme, basic, header, query, cookie }: CredentialsPlace): Json {
  if (basic !== undefined)
    return { type: "http", scheme: "basic", description: `The token is ${BASIC_PARTS[basic]}.` };
  if (query !== undefined) return { type: "apiKey", in: "query", name: query };
  if (cookie !== undefined) return { type: "apiKey", in: "cookie", name: cookie };
  if (header !== undefined) return { type: "apiKey", in: "header", name: header };
  return {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: `\`Authorization: ${scheme} TOKEN\`, with a token that has the scope.`,
  };
}

const BASIC_PARTS = {
  username: "the user name",
  password: "the password",
  both: "the user name and the password",
} as const;

/** All scopes, by resource and level. */
const listScopes = ({ dialect: { scopes } }: Pack): string[] =>
  scopes ? [scopes.all, ...resourceScopes(scopes)] : [];

const resourceScopes = (scopes: NonNullable<Pack["dialect"]["scopes"]>): string[] =>
  Object.keys(scopes.resources).flatMap((resource) => scopes.levels.map((level) => `${resource}:${level}`));

/**
 * Describes the alpha API of a pack in OpenAPI 3.1, with the product names of the service.
 *
 * @param plan The plan by which the API ends, if there is one.
 */
export function describePack(pack: Pack, version: string, plan?: DescribedPlan): Json {
  const { client, upstream } = pack.dialect;
  const { name } = client;
  const responseHeaders = describeResponseHeaders(pack, plan);
  const objects = [...pack.resources.values()].filter(({ fields }) => fields.size > 0);
  return {
    openapi: "3.1.1",
    info: {
      title: `${name[0]?.toUpperCase()}${name.slice(1)} API of the gateway`,
      version,
      description:
        `Generated from the mapping pack. \`${extensionName(pack, "equivalent")}\` is the ${upstream.name} call of an ` +
        `operation, null where there is none, \`${extensionName(pack, "field")}\` the ${upstream.name} field of a member, and \`x-loss\` what the ` +
        `translation loses.${plan ? " `x-sunset` is the time at which an operation ends." : ""}`,
    },
    servers: [{ url: client.base_path || "/" }],
    paths: describePaths(pack, plan),
    components: {
      schemas: {
        ...Object.fromEntries(objects.map((resource) => [resource.name, describeObject(resource, pack)])),
        [ERRORS]: describeErrors(pack.errors.client),
      },
      headers: responseHeaders,
      responses: describeResponses(pack, referToHeaders(responseHeaders)),
      securitySchemes: Object.fromEntries(
        credentialPlaces(client.credentials).map((place, index) => [
          securitySchemeNames(client.credentials)[index],
          { ...describeCredentials(place), "x-scopes": listScopes(pack) },
        ]),
      ),
    },
  };
}
