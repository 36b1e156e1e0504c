/** What may stand under `routes` in a file of a pack. */
import { z } from "zod";

const json = z.json();
const name = z.string().min(1);
const expression = z.string().min(1);

const extraRead = z.strictObject({ v4: name, when: expression.optional() });

export const route = z.strictObject({
  alpha: name,
  /** `public`, `token` (any), or `resource:level`. */
  scope: name,
  v4: name.optional(),
  /** A reason of `pack.yaml`: v4 has no such call any more. */
  refuse: name.optional(),
  /** Served from the gateway's copy of this resource's catalog. */
  catalog: z.literal(true).optional(),
  gives: z.enum(["list", "object", "nothing"]),
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
  /** A second rate limit besides the general one. */
  limit: z.enum(["create"]).optional(),
  /** Reads before the call, by their names in `pack.yaml`. */
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
  /** The alpha route that shows the object: what it shows may be sent back, whatever alpha's rules say. */
  shows: name.optional(),
});

export type RouteDefinition = z.infer<typeof route>;
