/** The codes of errors: those of the upstream as the client's, and the client's for errors without one. */

/**
 * The rules that a request can break: keywords of JSON Schema, members and parameters that do not exist (`unknown`),
 * ids that do not exist (`unknown_record`), rules that a schema can't express (`failed_check`), headers that are missing
 * (`required_header`), and the parts of a list's request: its `page`, the `size` of the page, its `filter` and its `sort` order.
 * A number outside of the limits is a `page_range` or a `size_range`.
 */
export const VALIDATION_RULES = [
  "required",
  "unknown",
  "unknown_record",
  "type",
  "enum",
  "const",
  "pattern",
  "format",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "contains",
  "minProperties",
  "maxProperties",
  "propertyNames",
  "dependentRequired",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "failed_check",
  "required_header",
  "page",
  "page_range",
  "size",
  "size_range",
  "filter",
  "sort",
] as const;

/** The rules whose codes a rule has if it has none of its own, in this order. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  required_header: ["required"],
  page_range: ["page"],
  size: ["page"],
  size_range: ["size", "page_range", "page"],
};

/** The client's form of an upstream code. Without a `code` clients get none. */
export interface CodeRule {
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  /** The text of the problem, instead of the upstream's. */
  readonly message?: string | undefined;
}

/** The codes of rules that a request breaks. */
interface ValidationCodes {
  readonly codes?: Readonly<Record<string, string>> | undefined;
}

export interface CodesDefinition {
  /** Upstream code → client code. A rule without a code leaves it unchanged. */
  readonly codes?: Readonly<Record<string, CodeRule>> | undefined;
  /** The rule for codes without a rule of their own. */
  readonly other_codes?: "keep" | "drop" | CodeRule | undefined;
  /** Client status → code of errors without one. */
  readonly status_codes?: Readonly<Record<string, string>> | undefined;
  readonly validation?: (ValidationCodes & { readonly query?: ValidationCodes | undefined }) | undefined;
}

/** Where a request breaks a rule: in its body, or in its query, filter or page. */
export type InvalidPart = "body" | "query";

/** Translates codes to the client's. */
export interface ErrorCodes {
  /** Returns what an upstream code becomes. */
  translate(code: string): CodeRule;
  /** Returns the code of an error that has none; undefined if clients get none. */
  ofStatus(status: number): string | undefined;
  /** Returns the code of a rule that a request breaks; undefined if it has none. */
  ofRule(rule: string | undefined, part: InvalidPart): string | undefined;
}

/** Compiles the codes of a pack. Of statuses the most exact key counts, as in `statuses`. */
export function createErrorCodes({
  codes = {},
  other_codes: others = "keep",
  status_codes: byStatus = {},
  validation: { codes: body = {}, query } = {},
}: CodesDefinition): ErrorCodes {
  const rules = new Map(Object.entries(codes));
  const byRule = { body, query: { ...body, ...query?.codes } };
  const otherRule = (code: string): CodeRule => {
    if (others === "drop") return {};
    return others === "keep" ? { code } : { code, ...others };
  };
  return {
    translate(code) {
      const rule = rules.get(code);
      return rule ? { code, ...rule } : otherRule(code);
    },
    ofStatus: (status) =>
      byStatus[status] ?? byStatus[`${Math.floor(status / 100)}XX`] ?? byStatus["default"],
    ofRule(rule = "default", part) {
      const rules = byRule[part];
      const known = [rule, ...(WIDER[rule] ?? []), "default"].find((each) => rules[each] !== undefined);
      return known === undefined ? undefined : rules[known];
    },
  };
}
