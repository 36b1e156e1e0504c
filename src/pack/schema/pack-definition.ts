/** The schema of `pack.yaml`. Unknown keys are errors, because they would have no effect. */
import { z } from "zod";
import { sharedCall } from "../calls/call-definition.ts";
import { errors } from "../errors/errors-definition.ts";
import { about } from "../../base/index.ts";
import { field } from "../fields/field-definition.ts";
import { scopes } from "../credentials/scopes-definition.ts";
import { oauth } from "../credentials/oauth-definition.ts";
import { clientDefinition, upstreamDefinition } from "./side-definition.ts";
import { flagKey, textKey } from "../values/key-schemas.ts";

const json = z.json();
const name = z.string().min(1);
/** The longest name or pattern of secret values. Compiling a longer one could exceed the stack. */
const MAX_SECRET_NAME = 200;
const expression = z.string().min(1);

const valueKind = z.strictObject({
  same: about(z.array(name).optional(), "Values that are the same on both sides.", ["running", "offline"]),
  read: about(
    z.union([z.record(z.string(), json), expression]).optional(),
    "Upstream value → client value: a table, or JSONata with `$value`.",
    { rebuilding: "provisioning" },
  ),
  write: about(
    z.union([z.record(z.string(), json), expression]).optional(),
    "Client value → upstream value. Default: the inverted table.",
    { provisioning: "rebuilding" },
  ),
  otherwise: about(
    json.optional(),
    "The client's value for all other upstream values. Default: unchanged.",
    "offline",
  ),
  unknown: about(
    z.literal("reject").optional(),
    "Values that the table lacks are errors in requests and losses in responses. Default: unchanged.",
    "reject",
  ),
  keeps_order: flagKey(
    "A larger value has a larger translation, so clients can compare values and sort by the field.",
  ),
  error_field: textKey("Like the same key of a field.", "threshold"),
  scopes: flagKey(
    "The value is a text of scopes, which `scopes` of `pack.yaml` translates. No other key is allowed.",
  ),
});

/** Members of bodies that several resources share. */
const part = z.strictObject({
  inputs: about(z.record(name, field), "Members by the client's names.", { root_pass: "root_password" }),
  schema: about(z.record(z.string(), json), "JSON Schema, as in a body.", {
    properties: { root_pass: { type: "string" } },
  }),
});

/** The schema of `pack.yaml`. */
export const dialectDefinition = z.strictObject({
  format: about(z.literal(2), "The version of the format.", 2),
  words: about(z.array(name).default([]), "Product words that `WORDS` may rename, on both sides.", [
    "book",
    "shelf",
  ]),
  scope_words: about(
    z.array(name).optional(),
    "Words that `WORDS` renames only in scope areas and event actions.",
    ["author"],
  ),
  client: about(clientDefinition, "The dialect that clients use.", { name: "old" }),
  upstream: about(upstreamDefinition, "The dialect of the service.", { name: "new" }),
  errors: about(errors.default({}), "Statuses of error responses.", { statuses: { "4XX": 400 } }),
  messages: about(
    z
      .object({
        unknown_record: about(
          name.default("There is no such object."),
          "The error for an id that does not exist.",
          "There is no such object.",
        ),
      })
      .catchall(name)
      .default({ unknown_record: "There is no such object." }),
    "Texts of the gateway's errors, by the names that routes use.",
    { no_counterpart: "This call has no counterpart." },
  ),
  scopes: about(scopes.optional(), "Scopes of both sides. Default: none.", {
    levels: ["look"],
    all: "*",
    resources: { books: "items" },
    upstream_levels: { view: "r" },
    client_levels: { r: "look" },
  }),
  oauth: about(oauth.optional(), "OAuth calls of the client and of the login server.", {
    client_id: "client_id",
  }),
  secrets: about(
    z.array(name.max(MAX_SECRET_NAME)).default([]),
    "Names or patterns, such as `_pin_` or `codes[]`: values under them are redacted in records and logs.",
    ["*password*", "passcode"],
  ),
  values: about(z.record(name, valueKind).default({}), "Value kinds by name.", {
    state: { read: { in: "available", out: "lent" } },
  }),
  calls: about(z.record(name, sharedCall).default({}), "Calls that routes share, by name.", {
    author: { at: "before", upstream: "GET /authors/{author}" },
  }),
  functions: about(
    z
      .record(z.string().regex(/^[A-Za-z]\w*$/, "must be a name of letters and digits"), expression)
      .default({}),
    "JSONata functions that all expressions of the pack may call: `$name(…)`.",
    { shout: 'function($text) { $uppercase($text) & "!" }' },
  ),
  schemas: about(
    z.record(name, z.record(z.string(), json)).default({}),
    "JSON Schemas by name, which schemas of bodies, parts and parameters include with `$ref: NAME`.",
    { price: { type: "integer", minimum: 0 } },
  ),
  parts: about(z.record(name, part).default({}), "Members and rules that several bodies share, by name.", {
    deployment: { inputs: { cover: "cover" }, schema: { properties: { cover: { type: "string" } } } },
  }),
});

/** `pack.yaml` as written. The keys of its value tables are texts. */
export type WrittenDialect = z.infer<typeof dialectDefinition>;
/** The pairs of a value table. A key that is a number or a boolean in YAML keeps this type. */
export type ValueTable = readonly (readonly [key: string | number | boolean, value: unknown])[];
export type ValueKindDefinition = Omit<z.infer<typeof valueKind>, "read" | "write"> & {
  readonly read?: ValueTable | string | undefined;
  readonly write?: ValueTable | string | undefined;
};
export type DialectDefinition = Omit<WrittenDialect, "values"> & {
  readonly values: Readonly<Record<string, ValueKindDefinition>>;
};
export type PartDefinition = z.infer<typeof part>;
