/** The key `failures` of a route: the error where one of its checks fails. */
import { about } from "../../base/index.ts";
import { failures as definition } from "../expressions/check-definition.ts";
import { schemaKey } from "./key.ts";

export const failures = schemaKey({
  schema: about(
    definition.optional(),
    "Status and code of failed checks. Default: as for an invalid request.",
    { checks: { status: 409, code: "conflict" } },
  ),
});
