/** The schema of `credentials` of both sides in `pack.yaml`. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { authScheme, cookieName, fieldHeaderName, parameterName, realm } from "../values/text-types.ts";

/**
 * The schema of a location of a token. It contains exactly one of the keys, and may contain `parameter` in addition to
 * `scheme`.
 */
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
    "The scheme `Basic`. The token is the decoded user name, the password, or both with a colon.",
    "username",
  ),
  header: about(fieldHeaderName.optional(), "A header that contains only the token.", "X-Api-Key"),
  query: about(
    parameterName.optional(),
    "A query parameter. It is neither recorded nor passed to the other side.",
    "key",
  ),
  cookie: about(cookieName.optional(), "A cookie.", "sid"),
});

/** The schema of the locations in which clients send their token. */
export const clientCredentials = credentialsPlace.extend({
  or: about(
    z.array(credentialsPlace).min(1).optional(),
    "Further places. The first place with a token is used.",
    [{ basic: "username" }],
  ),
  realm: about(
    realm.optional(),
    "The realm in `WWW-Authenticate` of a 401. Default: no such header.",
    "orders",
  ),
});

/** The schema of the location in which the upstream expects a token, and of the token's kind. */
export const upstreamCredentials = credentialsPlace.extend({
  token: about(
    z.enum(["client", "setting", "table"]).default("client"),
    "The token that the upstream gets: the client's (`client`), the setting `UPSTREAM_TOKEN` (`setting`), or the client's entry in `UPSTREAM_TOKENS_FILE` (`table`). Unknown tokens get status 401.",
    "table",
  ),
});

export type ClientCredentialsDefinition = z.infer<typeof clientCredentials>;
