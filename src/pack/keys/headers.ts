/** The key `headers` of a route. `headers/` compiles it together with `headers` of `client`. */
import { about } from "../../base/index.ts";
import { passedHeaders } from "../headers/headers-definition.ts";
import { schemaKey } from "./key.ts";

export const headers = schemaKey({
  schema: about(
    passedHeaders.optional(),
    "Headers that pass on this route, in addition to those of `client.headers`.",
    { request: { "Idempotency-Key": { upstream: "Idempotency-Key", required: true } } },
  ),
});
