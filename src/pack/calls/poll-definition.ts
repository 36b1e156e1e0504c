/** The schema of `poll` of a route. */
import { z } from "zod";
import { about } from "../../base/index.ts";

const name = z.string().min(1);
const expression = z.string().min(1);
const word = z.union([z.string(), z.number(), z.boolean()]);

/** Polling ends before clients and proxies give up. In milliseconds. */
const LONGEST_POLLING = 300_000;

/** The schema of `poll`. */
export const poll = z.strictObject({
  status: about(
    z.int().min(200).max(299).default(202),
    "The upstream's status that means that the result must be polled. Another success is the result. Default: 202.",
    200,
  ),
  operation: about(
    expression.optional(),
    "JSONata over the upstream's response to the call, with `$response_headers`: the value of `{operation}` in `upstream`.",
    '$substringAfter($response_headers.location, "/operations/")',
  ),
  upstream: about(
    name,
    "The GET that is repeated. It may have `{operation}`, and members of the response to the call.",
    "GET /operations/{response.id}",
  ),
  state: about(
    expression,
    "JSONata over its response, with `$status` and `$response_headers`: the state of the operation.",
    "status",
  ),
  done: about(z.array(word).min(1), "States of an operation that is done.", ["succeeded"]),
  failed: about(
    z.array(word).min(1).optional(),
    "States of an operation that has failed. Every other state means that it is in progress.",
    ["failed", "cancelled"],
  ),
  result: about(
    expression.optional(),
    "JSONata over the last response, with `$response_headers`: what the call would have responded with. Default: the whole response.",
    "result.book",
  ),
  failure: about(
    z
      .strictObject({
        error: about(
          expression.optional(),
          "JSONata over the last response: the error as the upstream writes it. Default: the whole response.",
          "error",
        ),
        status: about(
          z.int().min(400).max(599).default(422),
          "The status that the upstream would have responded with. `errors` translates it. Default: 422.",
          409,
        ),
      })
      .optional(),
    "The error of an operation that has failed.",
    { error: "error", status: 409 },
  ),
  interval_ms: about(
    z.int().positive(),
    "Time between two requests. A longer `Retry-After` of the upstream counts instead.",
    1000,
  ),
  timeout_ms: about(
    z.int().positive().max(LONGEST_POLLING),
    "The longest time. After it the response is that of `unfinished`.",
    20_000,
  ),
  unfinished: about(
    z
      .strictObject({
        message: about(name.optional(), "An error: a message of `pack.yaml`.", "still_running"),
        body: about(
          expression.optional(),
          "A success: JSONata over the upstream's response to the call, with `$path`. The result is the client's object.",
          '{ "id": id, "state": "busy" }',
        ),
        status: about(
          z.int().min(200).max(599).optional(),
          "The client's status: 400 to 599 with `message` (default: 504), 200 to 299 with `body` (default: that of the route).",
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
      })
      .optional(),
    "The response while the operation is still in progress: an error with a `message`, or a success with a `body`, and their `status`. Default: a 504.",
    { message: "still_running", status: 504 },
  ),
});

export type PollDefinition = z.infer<typeof poll>;
