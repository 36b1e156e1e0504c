/** The keys of a route about access, and about the tokens in its objects. */
import { z } from "zod";
import { about, type SourceLocation, suggestionFor } from "../../base/index.ts";
import { objectPath } from "../bodies/object-wrapper.ts";
import { levelsLoss } from "../calls/loss-texts.ts";
import { findPath } from "../values/shape.ts";
import { hasParts } from "../calls/call-definition.ts";
import { routeKey } from "./key.ts";
import type { KeyContext } from "./key-context.ts";
import { has, needs, states } from "../key-rules.ts";
import { flagKey, textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

export const scope = routeKey({
  schema: textKey(
    "`public`, `token` (any), or `resource:level`. Default: `token` if clients have credentials, otherwise `public`.",
    "books:look",
  ),
});

export const withoutScopes = routeKey({
  schema: textKey("The object for tokens without any scope. Default: status 403.", "public_profile"),
  rules: [
    needs(
      'a route that responds with an object, without "one_of"',
      (route) => route.keys.response === "object" && !has(route, "one_of"),
    ),
  ],
});

const tokensDefinition = z.strictObject({
  token: about(name, "The field with the token.", "token"),
  scopes: about(name, "The field with the token's scopes.", "scopes"),
  expires: textKey("The field with the token's expiry.", "ends_at"),
  created: flagKey("The response contains the complete, new token."),
  deleted: flagKey("The upstream deletes the token. `read_route` first reads it."),
});

/** The names of the members of token objects in a response. */
export interface TokensStep extends z.infer<typeof tokensDefinition> {
  /** The keys that lead to the rows of the client's list; undefined for a single object. */
  readonly rows: readonly string[] | undefined;
  /** The keys that lead to the object of a row. */
  readonly item: readonly string[];
}

/** Reports tokens that the responses of a route can't contain. */
function reportInvalidTokens(
  { created, deleted }: z.infer<typeof tokensDefinition>,
  { response, read_route: readRoute }: KeyContext["keys"],
  location: SourceLocation,
): void {
  if (deleted && (created || response !== "none" || readRoute === undefined))
    location
      .at("deleted")
      .report('"deleted" needs "response: none" and "read_route", and tokens that existed before');
  else if (!deleted && (response === "none" || response === "file" || (created && response === "list")))
    location.report('"tokens" needs a route that responds with an object, or a list of existing tokens');
}

export const tokens = routeKey({
  schema: about(
    tokensDefinition.optional(),
    "The objects are tokens. Requested levels are stored, enforced and shown.",
    { token: "token", scopes: "scopes" },
  ),
  rules: [
    states(
      (route) => hasParts(route.keys) || ["aggregate", "catalog"].some((key) => has(route, key)),
      '"tokens" excludes "aggregate", "catalog" and parts of an object: their responses would show upstream scopes',
    ),
  ],
  compile(definition, { keys, location, resource, clientShapes }): TokensStep {
    const { created: _created, deleted: _deleted, ...members } = definition;
    reportInvalidTokens(definition, keys, location);
    for (const [key, member = ""] of Object.entries(members))
      if (!resource.fields.has(member))
        location.at(key).report({
          message: `the object has no field "${member}"`,
          hint: suggestionFor(member, [...resource.fields.keys()]),
        });
    const rows = keys.response === "list" ? findPath(clientShapes.list, "items") : undefined;
    return { ...definition, rows, item: rows ? objectPath(clientShapes.item, resource.name) : [] };
  },
  comparison: { obstacle: "token" },
  losses: ({ scopes }) => [levelsLoss(scopes)],
});
