/** The schema of `accepted-differences.yaml`: differences of answers that the author has accepted. */
import { z } from "zod";
import { about } from "../../base/index.ts";

/** How two answers can differ in one field. */
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
    "The path in the response without indexes. `status` is the status, an empty text the whole body. Fields of errors have their names in the error.",
    "books.label",
  ),
  kind: about(
    z.enum(DIFFERENCE_KINDS),
    "How the answers differ: the new answer lacks the field (`missing`), the old one lacks it (`added`), one side is null (`null`), another JSON type (`type`), the same type in another format (`format`), another value (`value`), the same rows in another order (`order`), a row that only one side has (`row`), or another status (`status`).",
    "format",
  ),
  reason: about(z.string().min(1), "Why this difference is acceptable.", "clients read both forms"),
  until: about(
    z.iso.date("is not a date, YYYY-MM-DD"),
    "The last day on which the line counts, in UTC.",
    "2027-01-31",
  ),
});

/** The schema of `accepted-differences.yaml`. */
export const acceptedDefinition = z.array(acceptedDifference);

export type AcceptedDifference = z.infer<typeof acceptedDifference>;
