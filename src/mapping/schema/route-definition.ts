/** The schema of `routes` in a resource file. */
import { z } from "zod";
import { mediaType } from "./text.ts";

const json = z.json();
const name = z.string().min(1);
const expression = z.string().min(1);

const relatedRequest = z.strictObject({
  v4: name,
  /** JSONata over the v4 response: whether the request is needed. */
  when: expression.optional(),
  /**
   * Seconds for which the response is cached for its token. A call that may change something invalidates it. Default: not
   * cached.
   */
  keep: z.int().positive().max(300).optional(),
  /** A list of which all pages are fetched, up to 1000 rows. The value is the array of rows. */
  all: z.boolean().optional(),
  /**
   * JSONata over the v4 body that was sent: one request for each value, which is `{each}` in the path. The value is the
   * array of successful responses.
   */
  each: expression.optional(),
});

/** The schema of one route. */
export const route = z.strictObject({
  alpha: name,
  /** `public`, `token` (any), or `resource:level`. */
  scope: name,
  v4: name.optional(),
  /** The object in the response for tokens without any scope. Without this key such tokens are rejected (not on public routes). */
  without_scopes: name.optional(),
  /**
   * Members of token objects in the response: the token (complete if it was just `made`, else the part that v4 shows), its
   * scopes and its expiry. Alpha levels that are requested for a new token are stored and enforced, and shown in place of
   * the translated v4 scopes.
   */
  token_levels: z
    .strictObject({ token: name, scopes: name, ends: name.optional(), made: z.literal(true).optional() })
    .optional(),
  /** v4 no longer has such a call: a reason of `pack.yaml`, and the status (default 400). */
  refuse: z.union([name, z.strictObject({ reason: name, status: z.literal([400, 403, 404]) })]).optional(),
  /** The response is the cached catalog of this resource. */
  catalog: z.literal(true).optional(),
  /** What the response has. `file`: the file that v4 sends, with the media type of the key `file`. */
  gives: z.enum(["list", "object", "nothing", "file"]),
  /** The request body is a file of this media type, up to `most` bytes. It is forwarded unchanged. */
  takes: z.strictObject({ type: mediaType, most: z.int().positive() }).optional(),
  /** The media type of v4's file, `image/png` or `image/*`. */
  file: z.strictObject({ type: mediaType }).optional(),
  body: name.optional(),
  /** Objects of the response: the first whose condition on the v4 object is true. Default: the object of this file. */
  of: z
    .array(z.strictObject({ object: name, when: expression.optional() }))
    .min(1)
    .optional(),
  /** JSONata over the alpha object. If it is false, alpha has no such object and the response is a 404. */
  exists: expression.optional(),
  /** JSONata over the alpha body. Of several routes of one path, the first whose condition is true is used. */
  when: expression.optional(),
  /** A v4 condition that is ANDed to the client's filter. */
  where: z.record(z.string(), json).optional(),
  /**
   * Fetches v4's whole list, up to `most` rows. The gateway filters, orders and pages the rows for which `rows` (JSONata over
   * the v4 row) is true. For v4 lists that also have rows that alpha's list does not have.
   */
  collect: z.strictObject({ rows: expression.optional(), most: z.int().positive() }).optional(),
  /**
   * More v4 paths with parts of the object, by the name of their member in the v4 object. They are read together with it, and
   * written separately if there is something to write.
   */
  joins: z.record(name, name).optional(),
  /** An additional rate limit. */
  limit: z.enum(["create"]).optional(),
  /** Prerequisites by their names in `pack.yaml`. The path of the call may use their responses. */
  first: z.array(name).optional(),
  /** A request that is repeated, before the call, until its response fulfils a condition. */
  wait: z
    .strictObject({ v4: name, until: expression, every_ms: z.int().positive(), most_ms: z.int().positive() })
    .optional(),
  /** A request after the call. Its response is used as the response of the route. */
  after: z.strictObject({ v4: name, else: expression }).optional(),
  /** Related requests for the fields that need them. Each name is a member of `$with`. */
  with: z.record(name, relatedRequest).optional(),
  /** If v4 rejects only this member and the gateway had added it, the call is repeated without it. */
  again: z.strictObject({ without: name }).optional(),
  /** The alpha field of the error if v4 does not find something and does not name it. */
  blames: name.optional(),
  /** Only members and items that differ from the response of the `shows` route are sent. The others keep their v4 value. */
  changes: z.literal(true).optional(),
  /** A reason of `pack.yaml` for the 400 if v4's response has no body. */
  empty: name.optional(),
  /** The alpha route that reads the object. Clients may send back what it returns, even if alpha's rules forbid it. */
  shows: name.optional(),
});

export type RouteDefinition = z.infer<typeof route>;
