/**
 * The schema of `pack.yaml` and of resource files. The types of the loader are derived from it. Unknown keys are errors,
 * because they would have no effect.
 */
import { z } from "zod";
import { oauth } from "./oauth-definition.ts";
import { route } from "./route-definition.ts";
import { authScheme, headerName, pathPrefix, status } from "./text.ts";

const json = z.json();
const name = z.string().min(1);
const expression = z.string().min(1);

/** The rule of one field. It serves all four translations: response, body, filter, and field of an error. */
const fieldRule = z.strictObject({
  /** Its path in the v4 object, body and error, dotted if nested. */
  v4: name.optional(),
  /** `date-time`: normalised in responses, and compared as a time in filters. */
  type: z.enum(["date-time"]).optional(),
  /** A value kind of `pack.yaml`, applied in both directions. */
  as: name.optional(),
  /** Arguments of the value kind: variables of its expressions. */
  args: z.record(z.string(), json).optional(),
  /** A catalog: v4 has an id here, alpha has the object. */
  catalog: name.optional(),
  /** Alpha has only the id of the catalog's object. */
  brief: z.boolean().optional(),
  /** The value is, or holds, an object of this resource. */
  object: name.optional(),
  /** Alpha has an array with the value as its only member. */
  array: z.boolean().optional(),
  /**
   * JSONata over the v4 object. `$value` is the value at `v4`, `$with` has the responses of the related requests, `$sent` is
   * the alpha body of the request. `$networkOf(address, prefix)` returns the first address of an IPv6 network.
   * `$scopesOf(v4, asked)` translates v4 scopes to alpha, limited to the requested ones.
   */
  read: expression.optional(),
  /**
   * JSONata over the alpha body. `$value` is the member, `$first` has the responses of the prerequisites, `$path` the path
   * parameters, `$client` is the client's address. `$scopesFor(alpha)` translates alpha scopes to v4. An undefined result
   * is not sent.
   */
  write: expression.optional(),
  /** The field always has this value. */
  const: json.optional(),
  /** The value for alpha if v4 has null or no value. */
  or: json.optional(),
  /** Whether filters may use the field. An input with this key needs no body. */
  filter: z.boolean().optional(),
  /**
   * A v4 number field. v4 can't filter by this boolean, which is true for all objects up to some number and false for all
   * after it. A filter searches that boundary in v4's list, and then filters by the number.
   */
  mark: name.optional(),
  /** Aliases that clients may use in bodies. */
  also: z.array(name).optional(),
  /** Additional forms of the value in bodies: a whole object in place of its id, or JSON text. */
  accepts: z.array(z.enum(["reference", "json"])).optional(),
  /** The alpha field of a v4 error about it: a member below it, or `whole` for the field itself in all cases. */
  error: name.optional(),
  /** What the translation loses, for the readers of reports. */
  loss: z.string().optional(),
});

/** A field: its rule, or in short form only its v4 name. */
export const field = z.preprocess((rule) => (typeof rule === "string" ? { v4: rule } : rule), fieldRule);

const bodyDefinition = z.strictObject({
  /** Shared parts of `pack.yaml` whose rules and members are added. */
  uses: z.array(name).optional(),
  /** JSON Schema of alpha's rules, with alpha's names. Only its properties are sent to v4. */
  schema: z.record(z.string(), json),
  /** v4 members that the gateway always adds. */
  add: z.record(z.string(), json).optional(),
  /** v4 members that the gateway adds if the client has not sent them. */
  default: z.record(z.string(), json).optional(),
  /** v4 members whose value is a path parameter. */
  from_path: z.record(z.string(), name).optional(),
  /**
   * v4 members that v4 replaces as a whole, with the path of their current value in a prerequisite. An object is merged with
   * its current value. A list of catalog ids keeps the ids that alpha can't see.
   */
  over: z.record(z.string(), name).optional(),
  /**
   * Checks: JSONata over the alpha body. The result is the reason why `field` is invalid, or undefined. `$first` has the
   * responses of the prerequisites, `$v4` is the translated body.
   */
  checks: z.array(z.strictObject({ field: name, fault: expression })).optional(),
});

const catalog = z.strictObject({
  v4: z.array(
    z.strictObject({
      call: name,
      filter: json.optional(),
      optional: z.boolean().optional(),
      listed: z.boolean().optional(),
    }),
  ),
  /** A value kind that translates ids. With `closed` no other id is accepted or listed. */
  ids: name.optional(),
  closed: z.boolean().optional(),
  /** Additional ids for requests, with their v4 ids. */
  accepts: z.record(name, name).optional(),
  /** Whether the case of ids in requests is ignored. */
  ignore_case: z.boolean().optional(),
  /** v4 ids with this prefix are not listed. A reference to one is shown as null. */
  hidden_prefix: name.optional(),
  /** JSONata of a substitute object for an id that is not cached. `$id` is the v4 id, the context the v4 object. */
  stub: expression,
  /** Additional filter names, each with the boolean field that it negates. */
  opposites: z.record(name, name).optional(),
  /**
   * If v4 requires a token for the catalog, it is read with the token of a client that v4 has accepted. Only items for which
   * this JSONata is true are cached, since others may be private. Without this key no token is ever used.
   */
  with_token: expression.optional(),
});

/** The schema of a resource file. */
export const resourceDefinition = z.strictObject({
  object: name,
  /** Another object, whose fields come before the own ones. */
  extends: name.optional(),
  list: name.optional(),
  catalog: catalog.optional(),
  fields: z.record(name, field),
  /** Members of bodies and filters that are not in responses. */
  inputs: z.record(name, field).optional(),
  bodies: z.record(name, bodyDefinition).optional(),
  routes: z.array(route).optional(),
});

const valueKind = z.strictObject({
  /** Values that are the same in alpha and v4. */
  same: z.array(name).optional(),
  /** v4 → alpha: a table, or JSONata with `$value`. */
  read: z.union([z.record(z.string(), json), expression]).optional(),
  /** alpha → v4 likewise. Default: the inverted table. */
  write: z.union([z.record(z.string(), json), expression]).optional(),
  /** The alpha value of all other v4 values. Default: unchanged. */
  otherwise: json.optional(),
  /** Like the same key of a field. */
  error: name.optional(),
  /** The value is a text of scopes, which `scopes` of `pack.yaml` translates. Excludes all other keys. */
  scopes: z.literal(true).optional(),
});

const prerequisite = z.strictObject({
  v4: name,
  /** JSONata over the alpha body: whether the request is needed. Default: always. */
  when: expression.optional(),
  /** The alpha field of the error if v4 does not find the object. Default: v4's error is translated. */
  unknown: name.optional(),
  /**
   * Checks: JSONata over the alpha body. The result is the reason why `field` (without it: the request) is invalid, or
   * undefined. `$read` is the response, `$v4` the translated body.
   */
  checks: z.array(z.strictObject({ field: name.optional(), fault: expression })).optional(),
});

const operator = z.strictObject({
  is: z.enum(["and", "or", "gt", "gte", "lt", "lte", "contains", "neq", "order_by", "order"]),
  v4: name.optional(),
  also: z.array(name).optional(),
});

const envelope = z.strictObject({ page: name, pages: name, results: name });

/** Members of bodies that several resources share. */
const part = z.strictObject({ inputs: z.record(name, field), schema: z.record(z.string(), json) });

/** The schema of `pack.yaml`. */
export const dialectDefinition = z.strictObject({
  /** The neutral product words that `WORDS` may rename. */
  words: z.array(name),
  /** Words that `WORDS` may rename only in scope areas and event actions. */
  scope_words: z.array(name).optional(),
  alpha: z.strictObject({
    prefix: pathPrefix,
    scheme: authScheme,
    envelope,
    page_size: z.int().positive(),
    /** The member with the id, if a client sends a whole object in place of an id. */
    reference: name,
    /** Path and scopes of the example that is printed at the start. */
    welcome: z.strictObject({ path: name, scopes: name }).optional(),
    /** If a client sends the header `request`, it always gets status 200, and the real status in the header `answer`. */
    always_ok: z.strictObject({ request: headerName, answer: headerName }),
    /** Types of path parameters: digits, one segment of text, the rest of the path, or an IP address (of one family). */
    parameters: z.record(name, z.enum(["integer", "text", "path", "ip", "ip4", "ip6"])),
  }),
  v4: z.strictObject({
    prefix: pathPrefix,
    scheme: authScheme,
    envelope: envelope.extend({ items: name }),
    page_size: z.strictObject({ parameter: name, largest: z.int().positive() }),
    scopes_header: headerName,
    /** A GET that any token may send. It checks unknown tokens before a file is received. */
    token_check: name.optional(),
    /** The member with the id of an object. */
    reference: name,
  }),
  page: name,
  errors: z.strictObject({ list: name, reason: name, field: name }),
  statuses: z.strictObject({
    /** Statuses that are the same in alpha and v4. */
    same: z.array(status),
    rate_limited: z.strictObject({ v4: status, alpha: status, phrase: name }),
    other_4xx: status,
    other: status,
  }),
  reasons: z.object({ unknown_record: name }).catchall(name),
  filter: z.strictObject({ header: headerName, operators: z.record(name, operator) }),
  scopes: z.strictObject({
    /** Ascending: each level includes the ones before it. */
    levels: z.array(name).min(1),
    all: name,
    /** alpha resource → v4 area */
    resources: z.record(name, name),
    also: z.record(name, name),
    /** alpha level → v4 level */
    v4_levels: z.record(name, name),
    /** v4 level → alpha level */
    alpha_levels: z.record(name, name),
    /** Additional v4 scopes that are requested with any other scope. */
    besides: z.array(name).optional(),
  }),
  oauth: oauth.optional(),
  /** Members whose values are redacted in the audit. */
  secrets: z.array(name),
  values: z.record(name, valueKind),
  first: z.record(name, prerequisite),
  parts: z.record(name, part),
});

export type { OAuthDefinition } from "./oauth-definition.ts";
export type DialectDefinition = z.infer<typeof dialectDefinition>;
export type ResourceDefinition = z.infer<typeof resourceDefinition>;
export type FieldRule = z.infer<typeof fieldRule>;
export type BodyDefinition = z.infer<typeof bodyDefinition>;
export type CatalogDefinition = z.infer<typeof catalog>;
export type ValueKindDefinition = z.infer<typeof valueKind>;
export type PrerequisiteDefinition = z.infer<typeof prerequisite>;
export type PartDefinition = z.infer<typeof part>;
export type FilterDefinition = DialectDefinition["filter"];
