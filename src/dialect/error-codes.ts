/** The codes of errors: those of the upstream as the client's, and the client's for errors without one. */

/**
 * What a request can break: keywords of JSON Schema, members and parameters that do not exist (`unknown`), and ids that do
 * not exist (`unknown_record`).
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
] as const;

/** A code of the client, and the status that it has. */
interface CodeRule {
  readonly code: string;
  readonly status?: number | undefined;
}

export interface CodesDefinition {
  /** Upstream code → client code. */
  readonly codes?: Readonly<Record<string, CodeRule>> | undefined;
  /** Client status → code of errors without one. */
  readonly status_codes?: Readonly<Record<string, string>> | undefined;
  readonly validation?: { readonly codes?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** Translates codes to the client's. */
export interface ErrorCodes {
  /** Returns the client's code of an upstream code, which is the same without a rule. */
  translate(code: string): CodeRule;
  /** Returns the code of an error that has none; undefined if clients get none. */
  ofStatus(status: number): string | undefined;
  /** Returns the code of a rule that a request breaks; undefined if it has none. */
  ofRule(rule: string | undefined): string | undefined;
}

/** Compiles the codes of a pack. Of statuses the most exact key counts, as in `statuses`. */
export function createErrorCodes({
  codes = {},
  status_codes: byStatus = {},
  validation: { codes: byRule = {} } = {},
}: CodesDefinition): ErrorCodes {
  const rules = new Map(Object.entries(codes));
  return {
    translate: (code) => rules.get(code) ?? { code },
    ofStatus: (status) =>
      byStatus[status] ?? byStatus[`${Math.floor(status / 100)}XX`] ?? byStatus["default"],
    ofRule: (rule = "default") => byRule[rule] ?? byRule["default"],
  };
}
