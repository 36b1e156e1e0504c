/** The schema of query parameters, of a dialect and of a route. */
import { z } from "zod";
import { about } from "../../base/index.ts";

const json = z.json();
const name = z.string().min(1);
const multiple = z.enum(["repeat", "comma"]);

const parameterRule = z.strictObject({
  upstream: about(
    z.union([name, z.record(name, name)]).optional(),
    "Name of the upstream's parameter. `lang: locale` is short for `lang: { upstream: locale }`. Several parameters: their names, each with JSONata like `write`.",
    "locale",
  ),
  path: about(
    name.optional(),
    "Instead of `upstream`: the value is in the path of the upstream's operation, in braces under this name.",
    "id",
  ),
  schema: about(
    z.record(z.string(), json).optional(),
    "JSON Schema of one value. A value of `type` `integer`, `number` or `boolean` is converted from its text. Default: any text.",
    { type: "integer", minimum: 1 },
  ),
  values: about(
    name.optional(),
    "A value kind of `pack.yaml` (`values`): client value → upstream value.",
    "state",
  ),
  arguments: about(z.record(z.string(), json).optional(), "Arguments of the value kind.", { rate: 100 }),
  write: about(
    z.string().min(1).optional(),
    "JSONata over all parameters that the client sent and the pack names. `$value` is the value of this one. An undefined result is not sent.",
    "$lowercase($value)",
  ),
  default: about(json.optional(), "The value if the client has not sent the parameter.", "en"),
  required: about(z.literal(true).optional(), "A request without the parameter is a 400.", true),
  multiple: about(
    multiple.optional(),
    "The parameter may have several values: repeated (`a=1&a=2`), or separated by commas (`a=1,2`). Without it: repeating it is a 400.",
    "comma",
  ),
  upstream_multiple: about(
    multiple.optional(),
    "How the upstream reads several values. Default: like `multiple`.",
    "repeat",
  ),
  reject: about(
    name.optional(),
    "Instead of `upstream`: a request with the parameter is a 400 with this message of `pack.yaml`.",
    "no_counterpart",
  ),
  ignore: about(
    z.literal(true).optional(),
    "Instead of `upstream`: the parameter is known and has no effect.",
    true,
  ),
});

/** A parameter: its rule, or in short form only its upstream name. */
export const parameter = z.preprocess(
  (rule) => (typeof rule === "string" ? { upstream: rule } : rule),
  parameterRule,
);

const parameters = about(z.record(name, parameter).default({}), "Parameters by the client's names.", {
  lang: "locale",
});
const unknown = z.enum(["ignore", "reject"]);

const pathParameterType = z.enum(["integer", "text", "path", "ip", "ip4", "ip6"]);
const pathParameterRule = z.strictObject({
  type: about(pathParameterType.default("text"), "What it matches. Default: one segment of text.", "integer"),
  values: about(
    name.optional(),
    "A value kind of `pack.yaml` (`values`): client value → upstream value. A value that has none is a 404.",
    "reader_id",
  ),
});

/** Path parameters by name. */
export const pathParameters = z.record(name, z.union([pathParameterType, pathParameterRule]));

export type PathParameterDefinitions = z.infer<typeof pathParameters>;

/** How clients choose the members of the objects in a response. */
export const sparseFields = z.strictObject({
  parameter: about(
    name,
    "The parameter with the names of the members. `{name}` in it is the `object` of the resource.",
    "fields",
  ),
  multiple: about(
    multiple.default("comma"),
    "How it has several names: separated by commas (`fields=a,b`, the default), or repeated (`fields=a&fields=b`).",
    "repeat",
  ),
  always: about(z.array(name).default([]), "Members that are always there.", ["id"]),
  unknown: about(
    z.enum(["ignore", "reject"]).default("ignore"),
    "What happens to names that no object of the response has: nothing (the default), or the request is a 400.",
    "reject",
  ),
});

/** The same for one route. */
export const routeSparseFields = about(
  z.union([z.literal("none"), sparseFields]).optional(),
  "How clients choose the members of this route's objects, or `none`. Default: `client.sparse_fields`.",
  { parameter: "fields", always: ["id"] },
);

export type SparseFieldsDefinition = z.infer<typeof sparseFields>;

/** Which slashes of a path count. */
export const slashes = z.strictObject({
  trailing: about(
    z.enum(["any", "exact"]).optional(),
    "A slash at the end of a path: it has no effect (`any`, the default), or a path is the one that its route is written with (`exact`). Another one is a 404.",
    "exact",
  ),
  doubled: about(
    z.enum(["any", "reject"]).optional(),
    "Several slashes in a row: like one (`any`, the default), or a 404 (`reject`).",
    "reject",
  ),
});

/** What all routes do with the client's query. */
export const clientQuery = z.strictObject({
  parameters,
  unknown: about(
    unknown.default("ignore"),
    "What happens to a parameter that the pack does not name: `ignore` (the audit record names it), or `reject` (400). Default: `ignore`.",
    "reject",
  ),
});

/** What one route does with the client's query. */
export const routeQuery = z.strictObject({
  parameters,
  unknown: about(unknown.optional(), "The same key of `client.query`, for this route.", "reject"),
});

export type ParameterDefinition = z.infer<typeof parameter>;

/** The names of the upstream's parameters that one of the client becomes. */
export const upstreamNamesOf = ({ upstream = {} }: Pick<ParameterDefinition, "upstream">): string[] =>
  typeof upstream === "string" ? [upstream] : Object.keys(upstream);
