/** The schema of `related` of a route. */
import { z } from "zod";
import { about } from "../../base/index.ts";

const name = z.string().min(1);
const expression = z.string().min(1);

/** The schema of one related request. */
export const relatedRequest = z.strictObject({
  upstream: about(
    name,
    "The GET of the related object or list. `{response.id}` is a member of the upstream's response to the call.",
    "GET /books/{id}/loan",
  ),
  when: about(
    expression.optional(),
    "JSONata over the upstream response: whether the request is needed.",
    "loan.active",
  ),
  cache_seconds: about(
    z.int().positive().max(300).optional(),
    "How long the response is cached for its token. A call that may change something invalidates it. Default: not cached.",
    60,
  ),
  all_pages: about(z.boolean().optional(), "The value is the array of all rows of a list, up to 1000.", true),
  each: about(
    expression.optional(),
    "JSONata over the upstream body that was sent: one request for each value, which is `{each}` in the path. The value is the array of successful responses.",
    "ids",
  ),
});
