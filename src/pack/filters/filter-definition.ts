/** The schema of a dialect's filters and orders in the pack. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { headerName } from "../values/text-types.ts";
import { textKey } from "../values/key-schemas.ts";

/** The placeholder of a field's name in a parameter. */
export const FIELD = "{field}";

const name = z.string().min(1);

/** The neutral names of operators. The spellings of both dialects are data of the pack. */
const OPERATORS = [
  "and",
  "or",
  "gt",
  "gte",
  "lt",
  "lte",
  "contains",
  "neq",
  "order_by",
  "order",
  "search",
] as const;

const spellings = z.union([name, z.array(name).min(1)]);

/** How a query contains several values: in repeated parameters, or in one parameter with commas. */
const multiple = z.enum(["repeat", "comma"]);

const sort = z.strictObject({
  parameter: about(name, "The parameter with the field.", "sort"),
  ascending: about(name.default(FIELD), "The value for an ascending order.", "{field},asc"),
  descending: about(name.default(`-${FIELD}`), "The value for a descending order.", "{field},desc"),
  multiple: about(
    multiple.optional(),
    "How to sort by several fields: `repeat` (`sort=a&sort=b`) or `comma` (`sort=a,b`). Default: only one field.",
    "comma",
  ),
});

/** How the upstream filters lists: with a JSON header, or in the query. */
export const upstreamFilters = z.strictObject({
  header: about(
    headerName.optional(),
    "The header with the filter, a JSON object. Without it: filters are in the query.",
    "X-Query",
  ),
  parameter: textKey(
    "In a query: the parameter for equality. `{field}` is the name of the field.",
    "filter[{field}]",
  ),
  operators: about(
    z.partialRecord(z.enum(OPERATORS), spellings).default({}),
    "The spelling of each operator: a key of the JSON object, or a parameter with `{field}`. OpenAPI shows the first of several. `search` searches all fields.",
    { gte: "{field}[gte]", search: "q" },
  ),
  in: about(
    z
      .strictObject({
        parameter: about(name, "The parameter, with `{field}`.", "{field}"),
        multiple: about(multiple, "The values are repeated parameters, or separated by commas.", "comma"),
      })
      .optional(),
    "In a query: a parameter with several values, one of which must be equal.",
    { parameter: "{field}", multiple: "comma" },
  ),
  sort: about(sort.optional(), "In a query: the order of a list. In a header, use `order_by`.", {
    parameter: "sort",
    multiple: "comma",
  }),
});

/** How clients filter lists. */
export const clientFilters = upstreamFilters.extend({
  unknown: about(
    z.enum(["ignore", "reject"]).default("reject"),
    "Filters by other fields in the query get status 400 (`reject`, the default), or have no effect (`ignore`).",
    "ignore",
  ),
});

/** The neutral name of an operator. */
export type Operator = (typeof OPERATORS)[number];

export type SortDefinition = z.infer<typeof sort>;

export type FilterDefinition = z.infer<typeof upstreamFilters> &
  Partial<Pick<z.infer<typeof clientFilters>, "unknown">>;

/** The operators of a dialect. In a query, the spelling is a parameter with the placeholder {@link FIELD}. */
export type OperatorSpellings = FilterDefinition["operators"];

/** Returns a parameter with the name of a field. */
export const fillName = (template: string, field: string): string => template.replace(FIELD, () => field);

/** Returns the part of a text at the position of a field's name; undefined if the text does not match the template. */
export function nameIn(template: string, text: string): string | undefined {
  const [before = "", after = ""] = template.split(FIELD);
  const length = text.length - before.length - after.length;
  if (length <= 0 || !text.startsWith(before) || !text.endsWith(after)) return undefined;
  return text.slice(before.length, before.length + length);
}

/** Returns all spellings of an operator. */
export const spellingsOf = (spellings: string | readonly string[] | undefined): readonly string[] =>
  spellings === undefined ? [] : [spellings].flat();

/** Operators that compare a field. */
const COMPARISONS = ["neq", "contains", "gt", "gte", "lt", "lte"] as const;

/** How a parameter compares a field. `in`: the field must be equal to one of several values. */
export type FieldOperator = "eq" | "in" | (typeof COMPARISONS)[number];

export const isComparison = (operator: Operator): operator is (typeof COMPARISONS)[number] =>
  COMPARISONS.some((each) => each === operator);

/** A form of parameters that compare a field. */
export interface FieldTemplate {
  readonly operator: FieldOperator;
  /** The name of the parameter, with the placeholder {@link FIELD}. */
  readonly template: string;
  /** Whether the form is only read: the gateway writes the first spelling. */
  readonly isOther: boolean;
}

/** Returns all forms of parameters that compare a field in a query. Empty if filters are in a header. */
export function fieldTemplates(definition: FilterDefinition): FieldTemplate[] {
  if (definition.header !== undefined) return [];
  const forms = { eq: definition.parameter, in: definition.in?.parameter, ...definition.operators };
  return (["eq", "in", ...COMPARISONS] as const).flatMap((operator) =>
    spellingsOf(forms[operator]).map((template, index) => ({ operator, template, isOther: index > 0 })),
  );
}

/** Returns the parameters of a query that sort and search. */
export const otherParameters = ({ header, sort, operators }: FilterDefinition): string[] =>
  header === undefined
    ? [sort?.parameter, spellingsOf(operators.search)[0]].filter((name) => name !== undefined)
    : [];
