import type { Pack } from "../../mapping/pack.ts";
import { describeObject, objectRef } from "./objects.ts";
import { describePaths } from "./operations.ts";

type Json = Record<string, unknown>;

/** Not the name of an object of any pack: those are words of an interface. */
const ERRORS = "errors.envelope";

const MEANING: Readonly<Record<string, string>> = {
  400: "The request is refused; every fault that could be found is told.",
  401: "There is no token, or none that is valid.",
  403: "The token does not permit this.",
  404: "There is no such thing.",
  500: "Something failed that the client is not to blame for.",
};

function errorSchema({ errors: { list, reason, field } }: Pack["dialect"]): Json {
  const fault = {
    type: "object",
    required: [reason],
    properties: {
      [reason]: { type: "string" },
      [field]: {
        type: "string",
        description: "The member of the body that it is about, dotted where nested.",
      },
    },
  };
  return {
    type: "object",
    required: [list],
    properties: { [list]: { type: "array", minItems: 1, items: fault } },
  };
}

function responses({ dialect }: Pack): Json {
  const { same, other_4xx: refused, other, rate_limited: limited } = dialect.statuses;
  const content = { "application/json": { schema: objectRef(ERRORS) } };
  const headers = {
    "Retry-After": { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
  };
  const plain = [refused, ...same, other].map((status) => [
    status,
    { description: MEANING[status] ?? "The request is refused.", content },
  ]);
  return {
    ...Object.fromEntries(plain),
    [limited.alpha]: { description: `${limited.phrase}: the rate limit is reached.`, headers, content },
  };
}

/** Every scope there is, ascending by resource. */
const scopesOf = ({ dialect: { scopes } }: Pack): string[] => [
  scopes.all,
  ...Object.keys(scopes.resources).flatMap((resource) =>
    scopes.levels.map((level) => `${resource}:${level}`),
  ),
];

/** An OpenAPI 3.1 description of the interface that a pack gives to its clients, in the service's words. */
export function describePack(pack: Pack, version: string): Json {
  const { alpha } = pack.dialect;
  const objects = [...pack.resources.values()].filter(({ fields }) => fields.size > 0);
  return {
    openapi: "3.1.1",
    info: {
      title: "Alpha, as the gateway answers it",
      version,
      description:
        "Generated from the mapping pack. `x-v4-equivalent` is the call that an operation becomes, `x-v4-field` " +
        "the place of a member in it, and `x-loss` what can't be kept.",
    },
    servers: [{ url: alpha.prefix }],
    paths: describePaths(pack),
    components: {
      schemas: {
        ...Object.fromEntries(objects.map((resource) => [resource.name, describeObject(resource, pack)])),
        [ERRORS]: errorSchema(pack.dialect),
      },
      responses: responses(pack),
      securitySchemes: {
        token: {
          type: "apiKey",
          in: "header",
          name: "Authorization",
          description: `\`Authorization: ${alpha.scheme} T\`, with T a token that has the scope.`,
          "x-scopes": scopesOf(pack),
        },
      },
    },
  };
}
