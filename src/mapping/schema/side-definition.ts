/** The schemas of `client` and `upstream` in `pack.yaml`: what a dialect has everywhere. */
import { z } from "zod";
import { about } from "./about.ts";
import { authScheme, headerName, pathPrefix } from "./text.ts";

const json = z.json();
const name = z.string().min(1);

/** A prefix of all paths. */
const basePath = about(pathPrefix.default(""), "Prefix of all paths. Default: none.", "/v1");

const dialectName = about(
  z.string().regex(/^[A-Za-z][\w .-]*$/, "must be a name of letters, digits, dots, dashes and blanks"),
  "Name of the dialect in messages, the console, reports and OpenAPI.",
  "alpha",
);

const credentials = z.strictObject({
  scheme: about(authScheme, "Scheme of the `Authorization` header, in any case.", "Bearer"),
});

const pageParameter = about(name, "The query parameter with the page.", "page");

const operator = z.union([name, z.array(name).min(1)]);
const OPERATORS = ["and", "or", "gt", "gte", "lt", "lte", "contains", "neq", "order_by", "order"] as const;

const filters = z.strictObject({
  header: about(headerName, "The header with the filter, a JSON object.", "X-Query"),
  operators: about(
    z.partialRecord(z.enum(OPERATORS), operator),
    "The operators that the dialect has, with their spelling. Of several spellings the first is the documented one.",
    { gte: "$gte", neq: ["$neq", "$ne"] },
  ),
});

const listShape = about(
  json.optional(),
  "A list as JSON, with `$items` where the items are. Further values are `$page`, `$pages` and `$total`; `$list` is the key `list` of the resource. Other values are constants. Default: the array itself.",
  { $list: "$items", page: "$page", total: "$total" },
);

const errorShape = about(
  json.optional(),
  "An error as JSON. An array has one entry for each problem; `$message` and `$field` are its values. Default: `{ message: $message }`.",
  { errors: [{ field: "$field", reason: "$message" }] },
);

const responses = z.strictObject({ list: listShape, error: errorShape });
const responsesKey = about(responses.default({}), "The shapes of responses, as JSON with `$` names.", {
  list: { data: "$items", total: "$total" },
});
const id = about(name.default("id"), "The member with the id of an object.", "id");

/** The schema of `client`. */
export const clientDefinition = z.strictObject({
  name: dialectName.default("client"),
  base_path: basePath,
  credentials: about(credentials.optional(), "Where clients send their token. Without it: they have none.", {
    scheme: "token",
  }),
  id,
  path_parameters: about(
    z.record(name, z.enum(["integer", "text", "path", "ip", "ip4", "ip6"])).default({}),
    "Types of path parameters: digits, one segment of text (the default), the rest of the path, or an IP address (of one family).",
    { id: "integer", slug: "path" },
  ),
  pagination: about(
    z
      .strictObject({
        parameter: pageParameter,
        size: about(z.int().positive(), "Number of items of a page.", 25),
      })
      .optional(),
    "How clients ask for a page. Without it: lists have no pages.",
    { parameter: "page", size: 25 },
  ),
  filters: about(filters.optional(), "How clients filter and sort lists. Without it: they can't.", {
    header: "X-Query",
    operators: { gte: "$gte" },
  }),
  responses: responsesKey,
  upstream_header: about(
    headerName.optional(),
    "A response header that names the upstream request. Without it: no such header.",
    "X-Upstream-Request",
  ),
  always_ok: about(
    z
      .strictObject({
        request_header: about(headerName, "The request header; its value is `true`.", "X-Always-Ok"),
        response_header: about(headerName, "The response header with the real status.", "X-Real-Status"),
      })
      .optional(),
    "If a client sends this header, it always gets status 200, and the real status in another header.",
    { request_header: "X-Always-Ok", response_header: "X-Real-Status" },
  ),
  welcome: about(
    z
      .strictObject({
        path: about(name, "A path that clients may GET.", "/books"),
        scopes: about(name, "Scopes of the printed token.", "books:look"),
      })
      .optional(),
    "The example that `serve` prints at the start.",
    { path: "/books", scopes: "books:look" },
  ),
});

/** The schema of `upstream`. */
export const upstreamDefinition = z.strictObject({
  name: dialectName.default("upstream"),
  base_path: basePath,
  credentials: about(
    credentials.optional(),
    "How the token is sent to the upstream. Without it: it gets none.",
    {
      scheme: "Bearer",
    },
  ),
  id,
  pagination: about(
    z
      .strictObject({
        parameter: pageParameter,
        size: about(
          z.strictObject({
            parameter: about(name, "The query parameter with the number of items.", "page_size"),
            maximum: about(z.int().positive(), "The largest number.", 100),
          }),
          "How the gateway asks for a number of items.",
          { parameter: "page_size", maximum: 100 },
        ),
      })
      .optional(),
    "How the upstream pages lists. Without it: lists are complete.",
    { parameter: "page", size: { parameter: "page_size", maximum: 100 } },
  ),
  filters: about(filters.optional(), "How the upstream filters and sorts lists. Without it: it can't.", {
    header: "X-Query",
    operators: { gte: "$gte" },
  }),
  responses: responsesKey,
  token_check: about(
    name.optional(),
    "A GET that any token may send. It checks unknown tokens before a file is received.",
    "GET /profile",
  ),
});

export type FiltersDefinition = z.infer<typeof filters>;
