/** The schema of `errors` in `pack.yaml`: statuses and codes. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { errorStatus, status } from "../values/text-types.ts";
import { textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

const statusKey = z.string().regex(/^([45]\d\d|[45]XX|default)$/, 'not a status, "4XX", "5XX" or "default"');

/**
 * The rules that a request can break: keywords of JSON Schema, members and parameters that do not exist (`unknown`),
 * ids that do not exist (`unknown_record`), rules that a schema can't express (`failed_check`), headers that are missing
 * (`required_header`), and the parts of a list's request: its `page`, the `size` of the page, its `filter` and its `sort` order.
 * A number outside of the limits is a `page_range` or a `size_range`.
 */
const VALIDATION_RULES = [
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

/** A code of an error: its rule, or in short form only the client's code. */
export const errorCode = z.preprocess(
  (rule) => (typeof rule === "string" ? { code: rule } : rule),
  z.strictObject({
    code: textKey("The client's code. Default: the upstream's.", "card_error"),
    status: about(errorStatus.optional(), "The client's status. Default: by `statuses`.", 402),
    message: textKey("The text that replaces the upstream's.", "Your card was declined."),
  }),
);

const validationCodes = about(
  z.partialRecord(z.enum([...VALIDATION_RULES, "default"]), name).optional(),
  "The code of each rule: a keyword of JSON Schema, `unknown` (members and parameters), `unknown_record` (ids), `failed_check`, `required_header`, `page`, `size`, `page_range` and `size_range` (outside of the limits), `filter`, `sort`, or `default` for the rest. Default: by `status_codes`.",
  { required: "missing_field", default: "invalid" },
);

/** Errors about a request that breaks a rule of the pack. */
const validation = z.strictObject({
  status: about(errorStatus.optional(), "The status of these errors. Default: as for status 400.", 422),
  message: textKey(
    "The text of `$message` outside of the array of `responses.error`. Default: the reasons.",
    "Validation Failed",
  ),
  codes: validationCodes,
});

export const errors = z.strictObject({
  statuses: about(
    z.record(statusKey, status).optional(),
    "Error statuses: upstream → client, including the gateway's own errors. Precedence: `404`, `4XX`, `default`. A status without a key is unchanged.",
    { 404: 404, 429: 420, "4XX": 400, default: 500 },
  ),
  unknown_in_body: about(
    errorStatus.optional(),
    "The upstream status that replaces a 404 for a POST whose path contains no id. Default: 404.",
    400,
  ),
  codes: about(
    z.record(name, errorCode).optional(),
    "Error codes: upstream → client, optionally with a status and a message.",
    { insufficient_funds: { code: "card_error", status: 402 } },
  ),
  other_codes: about(
    z.union([z.enum(["keep", "drop"]), errorCode]).optional(),
    "All other codes: unchanged (`keep`, the default), left out (`drop`), or with a rule as in `codes`.",
    { code: "invalid_request" },
  ),
  status_codes: about(
    z.record(statusKey, name).optional(),
    "The code of errors without a code, such as the gateway's own, by the client's status.",
    { 404: "not_found", "4XX": "invalid_request" },
  ),
  validation: about(
    validation
      .extend({
        query: about(
          validation
            .extend({
              field: about(
                z.literal("parameter").optional(),
                "`$field` of an error of a filter, an order or a page: its query parameter. Default: no field.",
                "parameter",
              ),
            })
            .optional(),
          "The same keys for invalid queries, filters and pages.",
          { status: 400, message: "Bad Request" },
        ),
      })
      .optional(),
    "Errors about a request that breaks a rule of the pack: body, query parameter, filter or page.",
    { status: 422, codes: { required: "missing_field", default: "invalid" } },
  ),
  phrases: about(
    z.record(z.string().regex(/^[45]\d\d$/, "not a status"), name).optional(),
    "Reason phrases of the client's statuses that differ from the standard ones.",
    { 420: "Enhance Your Calm" },
  ),
});

export type ErrorsDefinition = z.infer<typeof errors>;
