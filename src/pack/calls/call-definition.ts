/** The schema of a call in addition to the main call of a route. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { checkDefinition, failure } from "../expressions/check-definition.ts";
import { flagKey, textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

const expression = z.string().min(1);

/** Maximum duration of polling in milliseconds. It is shorter than the time-outs of clients and proxies. */
const LONGEST_TIME = 300_000;

const failed = z.strictObject({
  when: about(expression, "JSONata over the response: whether the operation has failed.", 'state = "jammed"'),
  error: textKey("JSONata over the response: the upstream's error. Default: the whole response.", "error"),
  status: about(
    z.int().min(400).max(599).default(422),
    "The upstream status of this error, which `errors` translates. Default: 422.",
    409,
  ),
});

const repeat = z.strictObject({
  until: about(
    expression,
    "JSONata over the response: whether this response is the last.",
    'state = "printed"',
  ),
  failed: about(failed.optional(), "The condition for a failed operation. Default: none.", {
    when: 'state = "jammed"',
  }),
  interval_ms: about(
    z.int().positive(),
    "Time between two requests, or a longer `Retry-After` of the upstream.",
    1000,
  ),
  timeout_ms: about(
    z.int().positive().max(LONGEST_TIME),
    "The longest time. After this time, a call before the main call has no effect, and any other call is `unfinished`.",
    20_000,
  ),
});

const unfinished = z
  .strictObject({
    message: textKey("The text of the error, as a name in `messages`.", "still_running"),
    body: textKey(
      "JSONata over the response to the main call: the client's object.",
      '{ "id": id, "state": "busy" }',
    ),
    status: about(
      z.int().min(200).max(599).optional(),
      "The client's status: 400 to 599 with `message` (default: 504), 200 to 299 with `body` (default: as for the route).",
      504,
    ),
  })
  .refine(({ message, body }) => (message === undefined) !== (body === undefined), {
    message: 'needs either "message" or "body"',
  })
  .refine(({ message, status = 504 }) => message === undefined || status >= 400, {
    path: ["status"],
    message: "an error has a status from 400 to 599",
  })
  .refine(({ body, status = 200 }) => body === undefined || (status < 300 && status !== 204), {
    path: ["status"],
    message: "a success with a body has a status from 200 to 299, and not 204",
  });

/** Keys about sending a call: its time and its data. */
const requestKeys = {
  upstream: about(name, "The upstream operation. It can contain names in braces.", "GET /books/{id}/loan"),
  at: about(
    z.enum(["before", "after"]).default("after"),
    "`before` or `after` (the default) the main call.",
    "before",
  ),
  when: textKey(
    "JSONata: whether the call is sent. Input: the client's body before the main call, otherwise the upstream's object. Default: always.",
    "$exists(author)",
  ),
  status: about(
    z.int().min(200).max(299).optional(),
    "The status of the main call after which it is sent. Default: any successful status.",
    202,
  ),
  each: textKey(
    "JSONata: the call is sent for each value, `{each}` in the path. Its result is the array of successful responses.",
    "$request.ids",
  ),
  values: about(
    z.record(name, expression).optional(),
    "More names in braces, each with the JSONata of its value.",
    { job: '$substringAfter($response_headers.location, "/jobs/")' },
  ),
  body: textKey(
    "JSONata: the body of a call that writes. Same input as `when`.",
    '{ "book": id, "tags": $body.tags }',
  ),
  part: textKey(
    "The response is this member of the upstream's object. A write sends this member of the body. If the body lacks the member, the call reads the part.",
    "preferences",
  ),
};

/** Keys about the response of a call. */
const responseKeys = {
  all_pages: flagKey(
    "Its value is the array of all rows of a list, up to 1000. Default: only the first page.",
  ),
  cache_seconds: about(
    z.int().positive().max(300).optional(),
    "How long the response is cached for its token. A write invalidates it.",
    60,
  ),
  repeat: about(repeat.optional(), "It is sent again until its response meets a condition.", {
    until: 'state = "printed"',
    interval_ms: 1000,
    timeout_ms: 20_000,
  }),
  answer: about(
    z.union([z.literal(true), expression]).optional(),
    "Its response replaces the main call's: `true`, or JSONata over it.",
    "result.book",
  ),
  checks: about(
    z
      .array(
        checkDefinition(
          textKey("The client's field that is invalid. Default: the request.", "author"),
          '$response.banned ? "This author is not available."',
        ),
      )
      .optional(),
    "Rules about its response, which is `$response`.",
    [{ field: "author", message: '$response.banned ? "This author is not available."' }],
  ),
};

/** Keys about the failure of a call. */
const failureKeys = {
  not_found_field: textKey(
    "A 404 becomes an error about this client field. Other failures have no effect. Default: the upstream's error is translated.",
    "author",
  ),
  failure: about(
    failure.optional(),
    "The client's status and code if the call fails. Default: as in the upstream's error.",
    { status: 409, code: "no_author" },
  ),
  optional: about(
    z.boolean().optional(),
    "Whether the request continues if the call fails. Default: only for a GET after the main call without `repeat.failed`.",
    true,
  ),
  fallback: textKey(
    "With `answer`, required unless `optional` is false: JSONata over the response so far. Its result is the client's object if the call fails. `$failure` is the upstream's error: `status` and `body`.",
    '{ "id": $number($path.id) }',
  ),
  unfinished: about(
    unfinished.optional(),
    "With `repeat`: the response if the operation takes too long. With `message`, it is an error; with `body`, a successful response. Default: status 504.",
    { message: "still_running", status: 504 },
  ),
};

/** A named call that several routes share. */
export const sharedCall = z.strictObject({ ...requestKeys, ...responseKeys, ...failureKeys });

/** A call of a route. */
export const ownCall = z.strictObject({
  name: textKey("Its name in `$calls` and in braces. In `pack.yaml` it is the key of the call.", "loan"),
  ...requestKeys,
  ...responseKeys,
  ...failureKeys,
});

/** A call as the pack defines it. Calls in `pack.yaml` have their names as keys. */
export type CallDefinition = z.infer<typeof ownCall>;
/** A call that several routes share. Its name is its key in `pack.yaml`. */
export type SharedCallDefinition = z.infer<typeof sharedCall>;

/** Keys of a route as the pack writes them. A text in the list of calls is the name of a call in `pack.yaml`. */
type KeysWithCalls = Readonly<Record<string, unknown>>;

/** Returns the calls of a route as the pack writes them. */
export const writtenCalls = (keys: KeysWithCalls): readonly (string | CallDefinition)[] =>
  (keys["calls"] as readonly (string | CallDefinition)[] | undefined) ?? [];

/** Returns the definitions of the calls of a route. */
export const definedCalls = (
  keys: KeysWithCalls,
  shared: ReadonlyMap<string, SharedCallDefinition>,
): readonly CallDefinition[] =>
  writtenCalls(keys).flatMap((call) => {
    if (typeof call !== "string") return call;
    const definition = shared.get(call);
    return definition ? { ...definition, name: call } : [];
  });

/** Whether some calls of a route read or write parts of its object. */
export const hasParts = (keys: KeysWithCalls): boolean =>
  writtenCalls(keys).some((call) => typeof call !== "string" && call.part !== undefined);
