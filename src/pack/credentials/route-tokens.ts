/** The key `tokens` of a route: which members of its objects are tokens. */
import { objectPath } from "../bodies/object-wrapper.ts";
import { findPath } from "../fields/shape.ts";
import { type SourceLocation, suggestionFor } from "../../base/index.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import type { Envelope } from "../lists/envelopes.ts";
import type { Resource } from "../load/resource.ts";

/** Names of the members of token objects in a response. */
export interface TokensStep {
  readonly token: string;
  readonly scopes: string;
  readonly expires?: string | undefined;
  /** Whether v4 has just created the token. Only then the response has the complete token. */
  readonly created?: true | undefined;
  /** Whether the call deletes the token. */
  readonly deleted?: true | undefined;
  /** The keys that lead to the rows in the client's list; undefined for a single object. */
  readonly rows: readonly string[] | undefined;
  /** The keys that lead to the object in a row. */
  readonly item: readonly string[];
}

/** Compiles the key `tokens` of a route. Its members must be fields of the object in the response. */
export function compileTokens(
  { tokens, response, aggregate, merge, catalog, read_route: readRoute }: RouteDefinition,
  { fields, name }: Pick<Resource, "fields" | "name">,
  { list: listShape, item }: Pick<Envelope, "list" | "item">,
  location: SourceLocation,
): TokensStep | undefined {
  if (!tokens) return undefined;
  const { created, deleted, ...members } = tokens;
  if (deleted && (created || response !== "none" || readRoute === undefined))
    location
      .at("deleted")
      .report('"deleted" needs "response: none" and "read_route", and tokens that existed before');
  else if (!deleted && (response === "none" || response === "file" || (created && response === "list")))
    location.report('"tokens" needs a route that responds with an object, or a list of existing tokens');
  if (aggregate ?? merge ?? catalog)
    location.report(
      '"tokens" excludes "aggregate", "merge" and "catalog": their responses would show upstream scopes',
    );
  for (const [key, member = ""] of Object.entries(members))
    if (!fields.has(member))
      location.at(key).report({
        message: `the object has no field "${member}"`,
        hint: suggestionFor(member, [...fields.keys()]),
      });
  const rows = response === "list" ? findPath(listShape, "items") : undefined;
  return { ...tokens, rows, item: rows ? objectPath(item, name) : [] };
}
