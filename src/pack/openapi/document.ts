import type { Pack } from "../load/pack.ts";
import { credentialPlaces, type CredentialsPlace } from "../credentials/credentials.ts";
import { scopeNames } from "../routes/route-source.ts";
import {
  describeErrorResponses,
  describeErrors,
  describeResponseHeaders,
  ERRORS,
  referToHeaders,
  type DescribedPlan,
} from "./responses.ts";
import { describeObject, extensionName, objectRef, type Json } from "./schemas.ts";
import { describePaths, securitySchemeNames } from "./operations.ts";

/** Describes the location of the token. OpenAPI defines the scheme `Basic`; other schemes are described as a header. */
function describeCredentials({ scheme, parameter, basic, header, query, cookie }: CredentialsPlace): Json {
  if (basic !== undefined)
    return { type: "http", scheme: "basic", description: `The token is ${BASIC_PARTS[basic]}.` };
  if (query !== undefined) return { type: "apiKey", in: "query", name: query };
  if (cookie !== undefined) return { type: "apiKey", in: "cookie", name: cookie };
  if (header !== undefined) return { type: "apiKey", in: "header", name: header };
  return {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: `\`Authorization: ${scheme} ${parameter === undefined ? "TOKEN" : `${parameter}="TOKEN"`}\`, with a token that has the scope.`,
  };
}

const BASIC_PARTS = {
  username: "the user name",
  password: "the password",
  both: "the user name and the password",
} as const;

/** Lists all scopes, by resource and level. */
const listScopes = ({ dialect }: Pack): string[] =>
  dialect.scopes ? [dialect.scopes.all, ...scopeNames(dialect)] : [];

/**
 * Describes the alpha API of a pack in OpenAPI 3.1, with the product names of the service.
 *
 * @param plan The plan for the end of the API, if there is one.
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
        [ERRORS]: describeErrors(pack.errors.client.shapes),
      },
      headers: responseHeaders,
      responses: describeErrorResponses(pack, objectRef(ERRORS), referToHeaders(responseHeaders)),
      securitySchemes: Object.fromEntries(
        credentialPlaces(client.credentials).map((place, index) => [
          securitySchemeNames(client.credentials)[index],
          { ...describeCredentials(place), "x-scopes": listScopes(pack) },
        ]),
      ),
    },
  };
}
