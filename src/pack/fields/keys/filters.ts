/** The keys of a field about filters. A filter contains the same values as responses. */
import { z } from "zod";
import { about } from "../../../base/index.ts";
import { states } from "../../key-rules.ts";
import { fieldKeys } from "./field-key.ts";
import { textKey } from "../../values/key-schemas.ts";

const name = z.string().min(1);

/** How clients filter by a field, in long form. */
const filterRule = z.strictObject({
  upstream: textKey("The upstream's name in filters. Default: `upstream` of the field.", "status"),
  all: textKey("The client's value for no filter.", "all"),
  upstream_all: about(
    z.union([name, z.number(), z.boolean()]).optional(),
    "The upstream's value for no filter, if the upstream has a default filter.",
    "any",
  ),
});

const schemas = {
  filter: about(
    z.union([z.boolean(), name, filterRule]).optional(),
    "Clients may filter and sort by the field. A text is the upstream's name in filters.",
    true,
  ),
  type: about(
    z.enum(["string", "integer", "number", "boolean"]).optional(),
    "Type of the client's value in a query. Default: `string`, or the type of the table of `values`.",
    "integer",
  ),
  boundary: textKey(
    "For a boolean that is true up to some object and false after it, if the upstream can't filter by it: the number field that the gateway uses instead.",
    "id",
  ),
};

/** The keys of a field that define whether and how clients filter by it. */
interface FilteredField {
  readonly filter?: z.output<typeof schemas.filter>;
  readonly upstream?: string | undefined;
}

/** Whether clients may filter by a field. */
export const isFilterable = ({ filter }: FilteredField): boolean => filter !== undefined && filter !== false;

/** Returns the long form of `filter`; undefined if clients can't filter by the field. */
export const filterRuleOf = ({ filter, upstream }: FilteredField): z.infer<typeof filterRule> | undefined => {
  if (filter === undefined || filter === false) return undefined;
  if (filter === true) return { upstream };
  return typeof filter === "string" ? { upstream: filter } : { upstream, ...filter };
};

/** Returns the upstream's name of a field in filters; undefined if clients can't filter by it. */
export const filterName = (rule: FilteredField): string | undefined => filterRuleOf(rule)?.upstream;

export const filters = fieldKeys({
  schemas,
  rules: {
    boundary: [
      states(
        ({ keys }) => !isFilterable(keys as FilteredField),
        '"boundary" has an effect on filters only',
        '"filter: true" is missing',
      ),
    ],
    filter: [
      ({ keys, isInput }) => {
        // A filter contains the values of responses, or of bodies if no response contains the member.
        const key = isInput ? "write" : "read";
        return keys[key] === undefined || filterName(keys) === undefined
          ? []
          : [
              {
                message: `"${key}" converts the values of this field, and filters would not be converted`,
                hint: 'a value kind ("values") converts those of filters, too. Lists that the gateway filters itself need no "filter"',
              },
            ];
      },
    ],
  },
  filter(rule, _context, location) {
    const { boundary, upstream } = rule;
    const v4 = filterName(rule);
    if (v4 === undefined) location.report('a field that can be filtered by needs "upstream"');
    // The boundary is the value of a member of the upstream's objects.
    const own = boundary === undefined ? v4 : upstream;
    return {
      ...(own !== undefined && { v4: own }),
      ...(boundary !== undefined && { boundaryField: boundary, ordered: false, tests: "equality" }),
    };
  },
});
