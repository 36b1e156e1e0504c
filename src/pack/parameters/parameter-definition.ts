/** The schema of query parameters, for a dialect and for a route. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { flagKey, textKey } from "../values/key-schemas.ts";

const json = z.json();
const name = z.string().min(1);
const multiple = z.enum(["repeat", "comma"]);

const parameterRule = z.strictObject({
  upstream: about(
    z.union([name, z.record(name, name)]).optional(),
    "The upstream's parameter (short form: `lang: locale`), or several, as a map of names to JSONata.",
    "locale",
  ),
  path: textKey("Instead of `upstream`: the name in braces in the upstream's path.", "id"),
  schema: about(
    z.record(z.string(), json).optional(),
    "JSON Schema of one value, which is converted from text to its `type`. Default: any text.",
    { type: "integer", minimum: 1 },
  ),
  values: textKey("A value kind of `pack.yaml`, applied after `write`.", "state"),
  write: textKey(
    "JSONata over the client's parameters. `$value` is this parameter: a text, or a list with `multiple`. An undefined result is not sent.",
    "$lowercase($value)",
  ),
  default: about(json.optional(), "The value if the client has not sent the parameter.", "en"),
  required: flagKey("A request without the parameter gets status 400."),
  multiple: about(
    multiple.optional(),
    "The format of several values: repeated (`a=1&a=2`), or separated by commas (`a=1,2`). Default: one value.",
    "comma",
  ),
  upstream_multiple: about(
    multiple.optional(),
    "The upstream's format of several values. Default: as in `multiple`.",
    "repeat",
  ),
  reject: textKey(
    "Instead of `upstream`: the parameter gets status 400 with this message of `pack.yaml`.",
    "no_counterpart",
  ),
  ignore: flagKey("Instead of `upstream`: the parameter has no effect."),
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

/** The rules for the client's query on all routes. */
export const clientQuery = z.strictObject({
  parameters,
  unknown: about(
    unknown.default("ignore"),
    "Other parameters have no effect (`ignore`, the default), or get status 400 (`reject`).",
    "reject",
  ),
});

/** The rules for the client's query on one route. */
export const routeQuery = z.strictObject({
  parameters,
  unknown: about(unknown.optional(), "The same key of `client.query`, for this route.", "reject"),
});

export type ParameterDefinition = z.infer<typeof parameter>;

/** Returns the names of the upstream's parameters that replace a client's parameter. */
export const upstreamNamesOf = ({ upstream = {} }: Pick<ParameterDefinition, "upstream">): string[] =>
  typeof upstream === "string" ? [upstream] : Object.keys(upstream);
