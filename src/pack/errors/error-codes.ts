/** The codes of errors: the client's code for each upstream code, and for errors without a code. */
import type { z } from "zod";
import type { errorCode, ErrorsDefinition } from "./errors-definition.ts";

/** The rules whose codes replace a missing one, in this order. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  required_header: ["required"],
  page_range: ["page"],
  size: ["page"],
  size_range: ["size", "page_range", "page"],
};

/** The client's form of an upstream code. Without `code` clients get none. */
export type CodeRule = z.infer<typeof errorCode>;

/** Where a request breaks a rule: in its body, or in its query, filter or page. */
export type InvalidPart = "body" | "query";

/** Translates codes to the client's. */
export type ErrorCodes = ReturnType<typeof createErrorCodes>;

/** Compiles the codes of a pack. Of statuses the most exact key counts, as in `statuses`. */
export function createErrorCodes({
  codes = {},
  other_codes: others = "keep",
  status_codes: byStatus = {},
  validation: { codes: body = {}, query } = {},
}: ErrorsDefinition) {
  const rules = new Map(Object.entries(codes));
  const byRule: Readonly<Record<InvalidPart, Readonly<Record<string, string>>>> = {
    body,
    query: { ...body, ...query?.codes },
  };
  const otherRule = (code: string): CodeRule => {
    if (others === "drop") return {};
    return others === "keep" ? { code } : { code, ...others };
  };
  return {
    /** Translates an upstream code. */
    translate(code: string): CodeRule {
      const rule = rules.get(code);
      return rule ? { code, ...rule } : otherRule(code);
    },
    /** Returns the code of an error that has none. Undefined if clients get none. */
    ofStatus: (status: number): string | undefined =>
      byStatus[status] ?? byStatus[`${Math.floor(status / 100)}XX`] ?? byStatus["default"],
    /** Returns the code of a broken rule. Undefined if it has none. */
    ofRule(rule = "default", part: InvalidPart): string | undefined {
      const rules = byRule[part];
      const known = [rule, ...(WIDER[rule] ?? []), "default"].find((each) => rules[each] !== undefined);
      return known === undefined ? undefined : rules[known];
    },
  };
}
