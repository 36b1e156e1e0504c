/** The keys of a route about the content of its response. */
import { z } from "zod";
import { about, resolveReference } from "../../base/index.ts";
import { envelope as envelopeDefinition } from "../errors/responses-definition.ts";
import { compileScoped } from "../expressions/scope.ts";
import { mediaType, textMediaType } from "../values/text-types.ts";
import { routeKey } from "./key.ts";
import { excludes, has, needs, states } from "../key-rules.ts";
import { textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);
const expression = z.string().min(1);

export const response = routeKey({
  schema: about(
    z.enum(["list", "object", "none", "file"]).default("object"),
    "The kind of response. `file` is the upstream's file.",
    "list",
  ),
  rules: [
    states(
      ({ keys, lacksListName }) => keys.response === "list" && lacksListName,
      'the shape of this list has its name, $list: add the key "list" to the resource',
    ),
    states(
      (route) => (route.keys.response === "file") !== has(route, "file"),
      '"file" has the media type of a route that responds with a file, and of no other route',
    ),
  ],
});

export const status = routeKey({
  schema: about(
    z.int().min(200).max(299).optional(),
    "The status of successful responses. With 204 they have no body, and `response` is `none`. Default: 200.",
    201,
  ),
  rules: [
    states(
      ({ keys }) => keys["status"] === 204 && keys.response !== "none",
      'a response with status 204 has no body: add "response: none"',
    ),
  ],
});

export const file = routeKey({
  schema: about(
    z
      .strictObject({
        content_type: about(mediaType, "The media type, exact or with a wildcard.", "image/*"),
      })
      .optional(),
    "The file of a `response: file`.",
    { content_type: "image/*" },
  ),
  openapi: ({ content_type: type }) => ({ content: { [type]: {} } }),
  comparison: { obstacle: "file" },
});

export const text = routeKey({
  schema: about(
    z
      .strictObject({
        content_type: about(textMediaType, "Its media type.", "text/csv; charset=utf-8"),
        body: about(
          expression,
          "JSONata over the client's response as JSON: the text.",
          '"id,name\\n" & $join(books.($string(id) & "," & name & "\\n"))',
        ),
      })
      .optional(),
    "Successful responses are a text, computed from the client's object or list.",
    { content_type: "text/plain; charset=utf-8", body: "title" },
  ),
  rules: [
    needs(
      "a route that responds with an object or a list",
      ({ keys, kind }) =>
        (keys.response === "object" || keys.response === "list") && kind !== "bulk" && kind !== "rejected",
    ),
  ],
  compile({ content_type: contentType, body }, { location }) {
    return { contentType, write: compileScoped(body, location.at("body"), "translated").evaluate };
  },
  openapi: ({ contentType }) => ({ content: { [contentType]: { schema: { type: "string" } } } }),
  comparison: { isText: true },
});

export const object = routeKey({
  schema: textKey(
    "The object of the response or of its rows. Bodies and filters remain those of this file. Default: the object of this file.",
    "receipt",
  ),
  rules: [
    excludes("one_of", "one of several objects is named there"),
    needs(
      "a route that responds with an object or a list of the upstream",
      ({ keys, kind }) =>
        (keys.response === "object" || keys.response === "list") && kind !== "catalog" && kind !== "rejected",
    ),
  ],
});

export const oneOf = routeKey({
  schema: about(
    z
      .array(
        z.strictObject({
          object: about(name, "A resource.", "restored_book"),
          when: textKey("JSONata over the upstream object.", 'type = "disk"'),
        }),
      )
      .min(1)
      .optional(),
    "Objects of the response. The first whose `when` is true is used. Default: the object of this file.",
    [{ object: "cat", when: 'kind = "cat"' }, { object: "dog" }],
  ),
});

export const exists = routeKey({
  schema: textKey(
    "JSONata over the client's object. If it is false, the client gets status 404.",
    'kind != "hidden"',
  ),
});

/** The reason in the 400 response if the upstream's response has no body. */
export const empty = routeKey({
  schema: textKey(
    "The message of `pack.yaml` for status 400 if the upstream's response has no body.",
    "unrestricted",
  ),
  compile: (message, { location, dialect }) =>
    resolveReference(location, "message", message, new Map(Object.entries(dialect.messages))),
});

/** Shapes that only exist for some responses. */
const SHAPES = { list: "list", item: "list", object: "object" } as const;

/** A key that contains shapes for each side. */
type Sides = { readonly [side in "client" | "upstream"]?: Readonly<Record<string, unknown>> };

export const envelope = routeKey({
  schema: about(
    envelopeDefinition.optional(),
    "Shapes that differ from `responses` of the pack, for this route.",
    { upstream: { object: { result: "$object" } } },
  ),
  rules: [
    ({ keys }) =>
      (["client", "upstream"] as const).flatMap((side) =>
        Object.entries(SHAPES)
          .filter(
            ([shape, used]) =>
              (keys["envelope"] as Sides)[side]?.[shape] !== undefined && keys.response !== used,
          )
          .map(([shape]) => ({
            at: ["envelope", side, shape],
            message: `"${shape}" has no effect: the route has "response: ${keys.response}"`,
          })),
      ),
  ],
});
