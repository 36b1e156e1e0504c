/** The schema of one field. */
import { z } from "zod";
import { about, SEVERITIES } from "../../base/index.ts";

const json = z.json();
const name = z.string().min(1);
const expression = z.string().min(1);

/** How clients filter by a field, in long form. */
const filterRule = z.strictObject({
  upstream: about(
    name.optional(),
    "The upstream's name in filters. Default: `upstream` of the field.",
    "status",
  ),
  all: about(name.optional(), "The client's value that means no filter by the field.", "all"),
  upstream_all: about(
    z.union([name, z.number(), z.boolean()]).optional(),
    "The upstream's value that means no filter. It is sent with every list that is not filtered by the field, for an upstream with a default filter.",
    "any",
  ),
});

/** The rule of one field. It serves all four translations: response, body, filter, and field of an error. */
const fieldRule = z.strictObject({
  upstream: about(
    name.optional(),
    "Name in the upstream object, body and error, dotted if nested. `label: label` is short for `label: { upstream: label }`.",
    "specs.vcpus",
  ),
  format: about(
    z.enum(["date-time"]).optional(),
    "`date-time`: converted to `YYYY-MM-DDTHH:MM:SS` in UTC in responses, and compared as a time in filters.",
    "date-time",
  ),
  type: about(
    z.enum(["string", "integer", "number", "boolean"]).optional(),
    "Type of the client's value where a filter in a query has it as text. Default: `string`, or the type of the table of `values`.",
    "integer",
  ),
  values: about(
    name.optional(),
    "A value kind of `pack.yaml` (`values`), applied in both directions.",
    "state",
  ),
  arguments: about(
    z.record(z.string(), json).optional(),
    "Arguments of the value kind: variables of its expressions.",
    { default: 90 },
  ),
  catalog: about(
    name.optional(),
    "A catalog: the upstream has an id here, the client gets the object.",
    "shelf",
  ),
  id_only: about(z.boolean().optional(), "The client gets only the id of the catalog's object.", true),
  object: about(
    name.optional(),
    "The value is an object with the fields of this resource, or a list of such objects.",
    "disk",
  ),
  as_array: about(z.boolean().optional(), "The client gets an array with the value as its only item.", true),
  read: about(
    expression.optional(),
    "JSONata over the upstream object. `$value` is the value at `upstream`, `$related` has the responses of related requests, `$request` is the client's body, `$path` has the path parameters. `$networkOf(address, prefix)` returns the first address of an IPv6 network. `$scopesOf(scopes, asked)` translates upstream scopes, limited to the requested ones.",
    "$number($value)",
  ),
  write: about(
    expression.optional(),
    "JSONata over the client's body. `$value` is the member, `$prerequisites` has the responses of the prerequisites, `$path` the path parameters, `$client` is the client's address. `$scopesFor(scopes)` translates the client's scopes. An undefined result is not sent.",
    "$string($value)",
  ),
  send: about(
    z.literal(false).optional(),
    "Bodies may have the member, and the upstream does not get it: only expressions read it.",
    false,
  ),
  const: about(json.optional(), "The field always has this value in responses.", null),
  default: about(json.optional(), "The value in responses if the upstream has null or no value.", ""),
  omit_null: about(
    z.boolean().optional(),
    "Whether the field is left out of responses where it has no value. Default: `responses.omit_null` of the client.",
    true,
  ),
  filter: about(
    z.union([z.boolean(), name, filterRule]).optional(),
    "Clients may filter by the field. A filter by any other field is an error. A text is the upstream's name in filters, if it is not `upstream`. An object has the values that mean no filter.",
    true,
  ),
  boundary: about(
    name.optional(),
    "An upstream number field. The upstream can't filter by this boolean, which is true for all objects up to some number and false for all after it. The gateway finds that number in the upstream's list and filters by it.",
    "id",
  ),
  aliases: about(z.array(name).optional(), "Other names of the member that clients may use in bodies.", [
    "zone_id",
  ]),
  accepts: about(
    z.array(z.enum(["object", "json"])).optional(),
    "Other forms of the value in bodies: `object` is a whole object in place of its id, which it must have, `json` is JSON as a string.",
    ["object"],
  ),
  error_field: about(
    name.optional(),
    "The client's field of an upstream error about it: a member below it, or `whole` for the field itself in all cases.",
    "threshold",
  ),
  loss: about(z.string().optional(), "What the translation loses, as text.", "upstream has no owner"),
  loss_when: about(
    expression.optional(),
    "JSONata over the upstream object, with the variables of `read`: whether this object loses something. One that reads `$request` is not evaluated for requests without a body. Default: derived from the rule.",
    "$value > 100",
  ),
  severity: about(
    z.enum(SEVERITIES).optional(),
    "How much the loss weighs: `rounding` (a value is less exact), `detail` (something is not shown) or `meaning` (the client believes what is not so, or what it asked for does not happen). Default: `detail`.",
    "rounding",
  ),
});

/** A field: its rule, or in short form only its upstream name. */
export const field = z.preprocess(
  (rule) => (typeof rule === "string" ? { upstream: rule } : rule),
  fieldRule,
);

export type FieldRule = z.infer<typeof fieldRule>;

/** Whether clients may filter by a field. */
export const isFilterable = ({ filter }: FieldRule): boolean => filter !== undefined && filter !== false;

/** The long form of `filter`; undefined if clients can't filter by the field. */
export const filterRuleOf = ({ filter, upstream }: FieldRule): z.infer<typeof filterRule> | undefined => {
  if (filter === undefined || filter === false) return undefined;
  if (filter === true) return { upstream };
  return typeof filter === "string" ? { upstream: filter } : { upstream, ...filter };
};

/** The upstream's name of a field in filters; undefined if clients can't filter by it. */
export const filterName = (rule: FieldRule): string | undefined => filterRuleOf(rule)?.upstream;
