/** The keys of a route that define its client operation, and the upstream operation that replaces it. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { compileNamedValues } from "../expressions/conditions.ts";
import { compileScoped } from "../expressions/scope.ts";
import { passedHeaders } from "../headers/headers-definition.ts";
import { errorStatus } from "../values/text-types.ts";
import { routeQuery } from "../parameters/parameter-definition.ts";
import { routeKey } from "./key.ts";
import { has, type RouteFacts, states } from "../key-rules.ts";
import { flagKey, textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

export const client = routeKey({
  schema: about(name, "The client's operation.", "GET /books/:id"),
});

export const upstream = routeKey({
  schema: textKey("The main call. It can contain names in braces.", "GET /books/{id}"),
  rules: [
    states(
      (route) =>
        !has(route, "search") &&
        route.keys.response === "list" &&
        route.method === "GET" &&
        route.call !== "GET",
      'a list that the upstream reads by another method than GET needs "search"',
    ),
  ],
});

export const reject = routeKey({
  schema: about(
    z
      .union([
        name,
        z.strictObject({
          message: about(name, "A message of `pack.yaml`.", "no_counterpart"),
          status: about(errorStatus.default(400), "The client's status, 400 to 599. Default: 400.", 410),
        }),
      ])
      .optional(),
    "Instead of `upstream`: the upstream has no such operation. A message of `pack.yaml`, with or without a status.",
    "no_counterpart",
  ),
});

/** A key with a value for each side. */
type Sides = { readonly upstream?: unknown } | undefined;

export const catalog = routeKey({
  schema: about(
    z.union([z.literal(true), name]).optional(),
    "Instead of `upstream`: the response is a cached catalog, or an object of it. `true` for the catalog in this file, otherwise its `object`.",
    true,
  ),
  rules: [
    ({ keys }) =>
      (
        [
          ["pagination", 'the lists of "catalog" have a "pagination" of their own'],
          ["envelope", 'write it in "envelope" of the resource'],
        ] as const
      )
        .filter(([key]) => typeof keys[key] === "object" && (keys[key] as Sides)?.upstream !== undefined)
        .map(([key, hint]) => ({
          at: [key, "upstream"],
          message: '"upstream" has no effect: the response comes from the catalog',
          hint,
        })),
  ],
});

export const query = routeKey({
  schema: about(
    routeQuery.optional(),
    "Query parameters of this route. They extend `client.query`, or replace parameters with the same name.",
    { parameters: { expand: "embed" } },
  ),
});

export const values = routeKey({
  schema: about(
    z.record(name, name).optional(),
    "More names in braces for all paths, each with JSONata over the client's body.",
    { yard: '$headers."x-yard"' },
  ),
  compile(definition, { location, names }) {
    for (const each of Object.keys(definition))
      if (!names.used.has(each)) location.at(each).report(`"${each}" has no effect: no path has {${each}}`);
    const compile = (source: string, each: string) => compileScoped(source, location.at(each), "selection");
    return compileNamedValues(definition, compile);
  },
});

/** Whether a GET of the client sends a POST to the upstream. */
const isGetWithPost = ({ method, call, otherCalls }: RouteFacts): boolean =>
  method === "GET" && [call, ...otherCalls].includes("POST");

export const safe = routeKey({
  schema: flagKey("A `POST` that only reads. Comparisons may repeat it."),
  rules: [
    states(
      (route) => has(route, "upload") || !(route.method === "POST" || isGetWithPost(route)),
      '"safe" is for a POST on one of both sides, without a file: a GET with only GETs always is, and no other method can be',
    ),
  ],
});

export const rateLimit = routeKey({
  schema: about(z.enum(["create"]).optional(), "An additional rate limit.", "create"),
  guide: (_compiled, { upstream: name }) => [
    `The gateway had a lower rate limit for this call. ${name.charAt(0).toUpperCase()}${name.slice(1)} has its own limits.`,
  ],
});

/** The key `headers`. `headers/` compiles it together with `headers` of `client`. */
export const headers = routeKey({
  schema: about(
    passedHeaders.optional(),
    "Headers that pass on this route, in addition to those of `client.headers`.",
    { request: { "Idempotency-Key": { upstream: "Idempotency-Key", required: true } } },
  ),
});
