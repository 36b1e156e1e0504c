import type { Pack } from "../../mapping/pack.ts";
import { describeObject, objectRef } from "./schemas.ts";
import { describePaths } from "./operations.ts";

type Json = Record<string, unknown>;

/** The name of the schema of errors. No object of a pack has a dot in its name. */
const ERRORS = "errors.envelope";

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  400: "The request is invalid. All errors are listed.",
  401: "The token is missing or invalid.",
  403: "The token does not have the scope.",
  404: "Not found.",
  500: "An error of the service.",
};

function errorSchema({ errors: { list, reason, field } }: Pack["dialect"]): Json {
  const error = {
    type: "object",
    required: [reason],
    properties: {
      [reason]: { type: "string" },
      [field]: {
        type: "string",
        description: "The member of the body, as a path with dots.",
      },
    },
  };
  return {
    type: "object",
    required: [list],
    properties: { [list]: { type: "array", minItems: 1, items: error } },
  };
}

function describeResponses({ dialect }: Pack): Json {
  const { same, other_4xx: badRequest, other, rate_limited: limited } = dialect.statuses;
  const content = { "application/json": { schema: objectRef(ERRORS) } };
  const headers = {
    "Retry-After": { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
  };
  const plain = [badRequest, ...same, other].map((status) => [
    status,
    { description: DESCRIPTIONS[status] ?? "The request is rejected.", content },
  ]);
  return {
    ...Object.fromEntries(plain),
    [limited.alpha]: { description: `${limited.phrase}: the rate limit is used up.`, headers, content },
  };
}

/** All scopes, by resource and level. */
const listScopes = ({ dialect: { scopes } }: Pack): string[] => [
  scopes.all,
  ...Object.keys(scopes.resources).flatMap((resource) =>
    scopes.levels.map((level) => `${resource}:${level}`),
  ),
];

/** Describes the alpha API of a pack in OpenAPI 3.1, with the product names of the service. */
export function describePack(pack: Pack, version: string): Json {
  const { alpha } = pack.dialect;
  const objects = [...pack.resources.values()].filter(({ fields }) => fields.size > 0);
  return {
    openapi: "3.1.1",
    info: {
      title: "Alpha API of the gateway",
      version,
      description:
        "Generated from the mapping pack. `x-v4-equivalent` is the v4 call of an operation, `x-v4-field` the v4 field " +
        "of a member, and `x-loss` what the translation loses.",
    },
    servers: [{ url: alpha.prefix }],
    paths: describePaths(pack),
    components: {
      schemas: {
        ...Object.fromEntries(objects.map((resource) => [resource.name, describeObject(resource, pack)])),
        [ERRORS]: errorSchema(pack.dialect),
      },
      responses: describeResponses(pack),
      securitySchemes: {
        token: {
          type: "apiKey",
          in: "header",
          name: "Authorization",
          description: `\`Authorization: ${alpha.scheme} TOKEN\`, with a token that has the scope.`,
          "x-scopes": listScopes(pack),
        },
      },
    },
  };
}
