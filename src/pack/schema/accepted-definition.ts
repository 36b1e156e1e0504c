/** The schema of `accepted-differences.yaml`: differences between responses that the author has accepted. */
import { z } from "zod";
import { about } from "../../base/index.ts";

/** The ways in which two responses can differ in one field. */
export const DIFFERENCE_KINDS = [
  "missing",
  "added",
  "null",
  "type",
  "format",
  "value",
  "order",
  "row",
  "status",
] as const;

const acceptedDifference = z.strictObject({
  route: about(z.string().min(1), "The name of the route.", "GET /books/:id"),
  field: about(
    z.string(),
    "The path in the response without indexes, `status`, or an empty text for the whole body.",
    "books.label",
  ),
  kind: about(
    z.enum(DIFFERENCE_KINDS),
    "The difference: only the old response has the field (`missing`), only the new response has it (`added`), or one of these differs: `null`, JSON `type`, `format`, `value`, `order` of rows, `row`, `status`.",
    "format",
  ),
  reason: about(z.string().min(1), "The reason why the difference is acceptable.", "clients read both forms"),
  until: about(z.iso.date("is not a date, YYYY-MM-DD"), "The last day of the entry, in UTC.", "2027-01-31"),
});

/** The schema of `accepted-differences.yaml`. */
export const acceptedDefinition = z.array(acceptedDifference);

export type AcceptedDifference = z.infer<typeof acceptedDifference>;
