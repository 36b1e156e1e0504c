/** What may stand under `routes` in a file of a pack. */
import { z } from "zod";

const json = z.json();
const name = z.string().min(1);
const expression = z.string().min(1);

const extraRead = z.strictObject({
  v4: name,
  /** JSONata over the v4 answer: read where it holds. */
  when: expression.optional(),
  /**
   * So many seconds the answer may be kept for its token, and is used again; a call that may change something
   * ends it. Left out, it is read every time.
   */
  keep: z.int().positive().max(300).optional(),
  /** A list, read to its last page, though no more than 1000 rows: the value is the array of its rows. */
  all: z.boolean().optional(),
  /**
   * JSONata over the v4 body that was sent: one read for each value, which stands as `{each}` in the path. The
   * value is the array of what could be read.
   */
  each: expression.optional(),
});

export const route = z.strictObject({
  alpha: name,
  /** `public`, `token` (any), or `resource:level`. */
  scope: name,
  v4: name.optional(),
  /**
   * The object that a token without any scope gets in place of the route's own. Where a route has none, such a
   * token is refused, unless the route is public.
   */
  without_scopes: name.optional(),
  /**
   * The objects of the answer are tokens: which members have the token (whole where it was `made`, else as much as
   * v4 shows of it), its scopes, and its end. The levels of alpha's that are asked for a new one are kept, enforced
   * from then on, and shown in place of what v4's scopes mean.
   */
  token_levels: z
    .strictObject({ token: name, scopes: name, ends: name.optional(), made: z.literal(true).optional() })
    .optional(),
  /** v4 has no such call any more: a reason of `pack.yaml`, and the status, 400 where it is left out. */
  refuse: z.union([name, z.strictObject({ reason: name, status: z.literal([400, 403, 404]) })]).optional(),
  /** Served from the gateway's copy of this resource's catalog. */
  catalog: z.literal(true).optional(),
  /** `file`: as it comes from v4, the one answer that is no JSON; `file` says of which type. */
  gives: z.enum(["list", "object", "nothing", "file"]),
  /** In place of a JSON body a file of this type, of so many bytes at most; it goes on as it comes. */
  takes: z.strictObject({ type: name, most: z.int().positive() }).optional(),
  /** The type of the file that v4 gives, `image/png` or `image/*`. */
  file: z.strictObject({ type: name }).optional(),
  body: name.optional(),
  /** Resources to answer with in place of the file's own: the first whose condition over the v4 object holds. */
  of: z
    .array(z.strictObject({ object: name, when: expression.optional() }))
    .min(1)
    .optional(),
  /** JSONata over the alpha object: where it does not hold, alpha has no such object and the answer is 404. */
  exists: expression.optional(),
  /** JSONata over the alpha body: of several routes of one path, the first whose condition holds is taken. */
  when: expression.optional(),
  /** A v4 condition that is ANDed to the client's filter. */
  where: z.record(z.string(), json).optional(),
  /**
   * v4's whole list is read, no more than so many rows of it; those for which the JSONata over the v4 row holds
   * are filtered, ordered and paged here. For lists that v4 mixes with things that alpha does not have there.
   */
  collect: z.strictObject({ rows: expression.optional(), most: z.int().positive() }).optional(),
  /**
   * More v4 paths that the object is spread over. What v4 has there stands in the v4 object under the given name:
   * read together with it, and written apart, where there is something to write.
   */
  joins: z.record(name, name).optional(),
  /** A second rate limit besides the general one. */
  limit: z.enum(["create"]).optional(),
  /** Reads before the call, by their names in `pack.yaml`; what they gave may stand in the call's path. */
  first: z.array(name).optional(),
  /** A read that is repeated until its answer fulfils a condition, before the call is made. */
  wait: z
    .strictObject({ v4: name, until: expression, every_ms: z.int().positive(), most_ms: z.int().positive() })
    .optional(),
  /** A read after the call, whose answer is the answer. */
  after: z.strictObject({ v4: name, else: expression }).optional(),
  /** Reads besides the call, for fields that need them; each name is a member of `$with`. */
  with: z.record(name, extraRead).optional(),
  /** Sent once more without this v4 member, when the gateway had added it and v4 refused just that. */
  again: z.strictObject({ without: name }).optional(),
  /** The member to blame when v4 does not find something, and does not say what. */
  blames: name.optional(),
  /** Members and items that equal what the `shows` route shows are not sent: they keep what v4 has there. */
  changes: z.literal(true).optional(),
  /** A reason of `pack.yaml`, with which an answer of v4 without a body is refused, 400. */
  empty: name.optional(),
  /** The alpha route that shows the object: what it shows may be sent back, whatever alpha's rules say. */
  shows: name.optional(),
});

export type RouteDefinition = z.infer<typeof route>;
