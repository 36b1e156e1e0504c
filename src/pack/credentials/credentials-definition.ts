/** The schema of `credentials` of both sides in `pack.yaml`. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { authScheme, cookieName, fieldHeaderName, parameterName, realm } from "../fields/text-types.ts";

/** One place of a token. Exactly one of its members is there, and `parameter` beside `scheme`. */
export const credentialsPlace = z.strictObject({
  scheme: about(authScheme.optional(), "Scheme of the `Authorization` header, in any case.", "Bearer"),
  parameter: about(
    z
      .string()
      .regex(/^[\w!#$%&'*+.^`|~-]+$/, "is no name of a parameter")
      .optional(),
    'With `scheme`: the parameter that is the token, as in `Token token="KEY"`. Default: all after the scheme.',
    "token",
  ),
  basic: about(
    z.enum(["username", "password", "both"]).optional(),
    "The scheme is `Basic`. The token is the decoded user name, the password, or both with a colon.",
    "username",
  ),
  header: about(fieldHeaderName.optional(), "A header with nothing but the token.", "X-Api-Key"),
  query: about(
    parameterName.optional(),
    "A query parameter. It is in no record, and not passed to the other side.",
    "key",
  ),
  cookie: about(cookieName.optional(), "A cookie.", "sid"),
});

/** Where clients send their token. */
export const clientCredentials = credentialsPlace.extend({
  or: about(
    z.array(credentialsPlace).min(1).optional(),
    "Further places. The first one with a token counts.",
    [{ basic: "username" }],
  ),
  realm: about(
    realm.optional(),
    "A 401 has the header `WWW-Authenticate` with the scheme and this realm. Default: it has none.",
    "orders",
  ),
});

/** Where the upstream gets a token, and which. */
export const upstreamCredentials = credentialsPlace.extend({
  token: about(
    z.enum(["client", "setting", "table"]).default("client"),
    "The token that the upstream gets: the client's (`client`), that of `UPSTREAM_TOKEN` (`setting`), or the one that the file of `UPSTREAM_TOKENS_FILE` has for the client's (`table`). Tokens that `CLIENT_TOKENS` or the file lacks are a 401.",
    "table",
  ),
});

export type ClientCredentialsDefinition = z.infer<typeof clientCredentials>;
