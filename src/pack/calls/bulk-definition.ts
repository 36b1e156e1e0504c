/** The schema of `bulk` of a route. */
import { z } from "zod";
import { about } from "../../base/index.ts";

const json = z.json();
const name = z.string().min(1);

/** Calls of one client request. */
const MOST_CALLS = 100;
/** Calls at the same time. */
const MOST_CONCURRENT = 8;
/** In milliseconds. */
const LONGEST = 300_000;

/** The schema of `bulk`. */
export const bulk = z.strictObject({
  parameter: about(
    name,
    "The name of an id in `upstream`. `path_parameters` have its type and its value kind, as in a path.",
    "id",
  ),
  ids: about(
    name,
    "JSONata over the client's body, with `$query`: the ids. The response has their results in this order.",
    "ids",
  ),
  most: about(
    z.int().positive().max(MOST_CALLS),
    "The most ids of a request. More are an invalid request.",
    50,
  ),
  concurrency: about(
    z.int().positive().max(MOST_CONCURRENT).default(4),
    "Calls at the same time. Default: 4.",
    2,
  ),
  timeout_ms: about(
    z.int().positive().max(LONGEST).default(30_000),
    "Time after which no further call is sent. Default: 30 000.",
    10_000,
  ),
  success: about(
    json.optional(),
    "A result as JSON: `$id` as the client sent it, `$status`, and `$object`. Default: the object; with `response: none`, `{ id: $id, status: $status }`.",
    { id: "$id", status: "$status", book: "$object" },
  ),
  failure: about(
    json.default({ id: "$id", status: "$status", error: "$error" }),
    "The result of a call that failed as JSON: `$id`, the client's `$status`, and `$error`, the client's body of this error. Default: `{ id: $id, status: $status, error: $error }`.",
    { id: "$id", failed: true, error: "$error" },
  ),
  list: about(
    json.default("$items"),
    "The response as JSON: `$items` are the results, `$succeeded` and `$failed` their numbers. Default: the array.",
    { results: "$items", failed: "$failed" },
  ),
});

export type BulkDefinition = z.infer<typeof bulk>;
