/**
 * What may stand in a pack, as its author writes it. The types of the loader are derived from here, and
 * everything else in a file is a fault (an unknown key would silently never work).
 */
import { z } from "zod";
import { oauth } from "./oauth-definition.ts";
import { route } from "./route-definition.ts";

const json = z.json();
const name = z.string().min(1);
const expression = z.string().min(1);

/** One line for one field: it serves the answer, the body, the filter and the field of an error. */
const fieldRule = z.strictObject({
  /** Its place in the v4 object, body and error, dotted where it is nested. */
  v4: name.optional(),
  /** Brought to one form on the way to alpha, compared as a time in filters. */
  type: z.enum(["date-time"]).optional(),
  /** A value kind of `pack.yaml`, applied both ways. */
  as: name.optional(),
  /** Parameters of the kind, as variables of its expressions. */
  args: z.record(z.string(), json).optional(),
  /** A catalog: v4 has an id here, alpha the object. */
  catalog: name.optional(),
  /** Of the catalog's object alpha has the id alone. */
  brief: z.boolean().optional(),
  /** The value is, or holds, an object of this resource. */
  object: name.optional(),
  /** Alpha wants an array of the one value. */
  array: z.boolean().optional(),
  /**
   * JSONata over the v4 object; `$value` is what stands at `v4`, `$with` what the extra reads gave, `$sent` the
   * alpha body of the call, `$networkOf(address, prefix)` the first address of an IPv6 network, and
   * `$scopesOf(v4, asked)` v4's scopes in alpha's words, so far as they were asked for.
   */
  read: expression.optional(),
  /**
   * JSONata over the alpha body; `$value` is the member, `$first` what was read before, `$path` the parameters
   * of the path, `$client` the client's address, and `$scopesFor(alpha)` alpha's scopes in v4's words. Nothing found: not sent.
   */
  write: expression.optional(),
  /** Always this value. */
  const: json.optional(),
  /** What alpha gets where v4 has null or nothing. */
  or: json.optional(),
  /** May stand in a filter; of an input, which no answer shows, in nothing else unless a body names it. */
  filter: z.boolean().optional(),
  /**
   * v4 can't filter by it, and it holds for all objects up to one and for none after it, counted by this v4
   * number: a filter looks for that one in v4's list, and compares numbers.
   */
  mark: name.optional(),
  /** Other names that clients give it in bodies. */
  also: z.array(name).optional(),
  /** Other forms that clients give its value in bodies. */
  accepts: z.array(z.enum(["reference", "json"])).optional(),
  /** What an error of v4 about it names in alpha: a member below it, or `whole` for itself whatever the tail. */
  error: name.optional(),
  /** What is lost on the way, for people. */
  loss: z.string().optional(),
});

export const field = z.preprocess((rule) => (typeof rule === "string" ? { v4: rule } : rule), fieldRule);

const bodyDefinition = z.strictObject({
  /** Parts of `pack.yaml` whose rules and members hold here too. */
  uses: z.array(name).optional(),
  /** JSON Schema of alpha's rules, in alpha's names. Its properties are the members that go on. */
  schema: z.record(z.string(), json),
  /** v4 members that the gateway always adds. */
  add: z.record(z.string(), json).optional(),
  /** v4 members that the gateway adds where the client sent none. */
  default: z.record(z.string(), json).optional(),
  /** v4 members that are made from a parameter of the path. */
  from_path: z.record(z.string(), name).optional(),
  /**
   * v4 members that are written whole, and what a read before the call shows there now: what is written of an
   * object is laid over it; of a list of catalog ids, those that alpha can't see are kept.
   */
  over: z.record(z.string(), name).optional(),
  /**
   * JSONata over the alpha body that gives the reason why `field` is refused, or nothing; `$first` is what was
   * read before, `$v4` the translated body.
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
  /** A value kind that turns ids both ways; with `closed` no other id is accepted or listed. */
  ids: name.optional(),
  closed: z.boolean().optional(),
  /** Ids that requests may use besides, and the v4 ids they mean. */
  accepts: z.record(name, name).optional(),
  /** Ids in requests are compared without regard to case. */
  ignore_case: z.boolean().optional(),
  /** v4 ids that begin so are never shown, and are null where one is named. */
  hidden_prefix: name.optional(),
  /** JSONata for an id that the copy does not have: `$id` is the v4 id, the context the v4 object that names it. */
  stub: expression,
  /** More names that a filter may use, each the opposite of a boolean field. */
  opposites: z.record(name, name).optional(),
  /**
   * A service may show the catalog to nobody without a token: then it is read with that of a client which v4 has
   * accepted, and of what comes only the items are kept for which this holds. Without it no token is ever used.
   */
  with_token: expression.optional(),
});

export const resourceDefinition = z.strictObject({
  object: name,
  /** Another object, all of whose fields this one has before its own. */
  extends: name.optional(),
  list: name.optional(),
  catalog: catalog.optional(),
  fields: z.record(name, field),
  /** Members of request bodies and filters that no answer shows. */
  inputs: z.record(name, field).optional(),
  bodies: z.record(name, bodyDefinition).optional(),
  routes: z.array(route).optional(),
});

const valueKind = z.strictObject({
  /** Words that are the same on both sides. */
  same: z.array(name).optional(),
  /** v4 → alpha: a table, or JSONata over `$value`. */
  read: z.union([z.record(z.string(), json), expression]).optional(),
  /** alpha → v4 likewise; left out, a table is read backwards. */
  write: z.union([z.record(z.string(), json), expression]).optional(),
  /** What every other v4 value becomes; left out, it passes. */
  otherwise: json.optional(),
  /** See the same key of a field. */
  error: name.optional(),
  /** The value is a text of scopes, in the words of `scopes` of `pack.yaml`; nothing else stands beside this. */
  scopes: z.literal(true).optional(),
});

const prerequisite = z.strictObject({
  v4: name,
  /** JSONata over the alpha body; left out, it is always read. */
  when: expression.optional(),
  /** The member to blame when v4 does not know what is read; left out, v4's refusal is the answer. */
  unknown: name.optional(),
  /**
   * JSONata over the alpha body that gives the reason why `field`, or without one the call, is refused, or
   * nothing; `$read` is what was read, `$v4` the translated body.
   */
  checks: z.array(z.strictObject({ field: name.optional(), fault: expression })).optional(),
});

const operator = z.strictObject({
  is: z.enum(["and", "or", "gt", "gte", "lt", "lte", "contains", "neq", "order_by", "order"]),
  v4: name.optional(),
  also: z.array(name).optional(),
});

const envelope = z.strictObject({ page: name, pages: name, results: name });

/** Members of bodies that several resources take alike. */
const part = z.strictObject({ inputs: z.record(name, field), schema: z.record(z.string(), json) });

export const dialectDefinition = z.strictObject({
  /** The neutral product words that `WORDS` may rename. */
  words: z.array(name),
  /** Words that `WORDS` may rename in scope areas and event actions, and nowhere else. */
  scope_words: z.array(name).optional(),
  alpha: z.strictObject({
    prefix: name,
    scheme: name,
    envelope,
    page_size: z.int().positive(),
    /** The member that names an object where a whole object is sent for its id. */
    reference: name,
    /** A list and scopes of an example that the start prints. */
    welcome: z.strictObject({ path: name, scopes: name }).optional(),
    /** A client that sends the first gets 200 always, and the true status in the second. */
    always_ok: z.strictObject({ request: name, answer: name }),
    /** Types of path parameters: digits, one segment of text, the rest of the path, or an IP address (of one family). */
    parameters: z.record(name, z.enum(["integer", "text", "path", "ip", "ip4", "ip6"])),
  }),
  v4: z.strictObject({
    prefix: name,
    scheme: name,
    envelope: envelope.extend({ items: name }),
    page_size: z.strictObject({ parameter: name, largest: z.int().positive() }),
    scopes_header: name,
    /** A read that any token may make: one that v4 has not taken yet is tried with it before a file is taken. */
    token_check: name.optional(),
    /** The member that names an object. */
    reference: name,
  }),
  page: name,
  errors: z.strictObject({ list: name, reason: name, field: name }),
  statuses: z.strictObject({
    /** v4 → alpha, for those that have a word of their own. */
    same: z.array(z.int()),
    rate_limited: z.strictObject({ v4: z.int(), alpha: z.int(), phrase: name }),
    other_4xx: z.int(),
    other: z.int(),
  }),
  reasons: z.object({ unknown_record: name }).catchall(name),
  filter: z.strictObject({ header: name, operators: z.record(name, operator) }),
  scopes: z.strictObject({
    /** Ascending; each grants the ones before it. */
    levels: z.array(name).min(1),
    all: name,
    /** alpha resource → v4 area */
    resources: z.record(name, name),
    also: z.record(name, name),
    /** alpha level → v4 level */
    v4_levels: z.record(name, name),
    /** v4 level → alpha level */
    alpha_levels: z.record(name, name),
    /** v4 scopes that are asked for besides, wherever any is. */
    besides: z.array(name).optional(),
  }),
  oauth: oauth.optional(),
  /** Members whose values never leave a request. */
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
