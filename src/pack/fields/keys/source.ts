/** The keys of a field that define the source of its value: the upstream's object, an expression, or the pack. */
import { z } from "zod";
import { about } from "../../../base/index.ts";
import { excludes, hasNoEffect } from "../../key-rules.ts";
import { fieldKeys } from "./field-key.ts";
import { textKey } from "../../values/key-schemas.ts";

export const source = fieldKeys({
  schemas: {
    upstream: textKey(
      "Name in the upstream object, body and error, dotted if nested. Short form: `label: label`.",
      "specs.vcpus",
    ),
    read: textKey(
      "JSONata over the upstream object. `$value` is the value at `upstream`. `$networkOf(address, prefix)` gives the first address of an IPv6 network, `$scopesOf(scopes, asked)` the translated scopes within the requested ones.",
      "$number($value)",
    ),
    write: textKey(
      "JSONata over the client's body. `$value` is the member, `$client` the client's address. `$scopesFor(scopes)` translates the client's scopes. An undefined result is not sent.",
      "$string($value)",
    ),
    send: about(
      z.literal(false).optional(),
      "With `false`, the member is not sent to the upstream. Only expressions use it.",
      false,
    ),
    const: about(z.json().optional(), "The field always has this value in responses.", null),
  },
  rules: {
    read: [excludes("const")],
    write: [hasNoEffect(({ keys }) => keys["send"] === false, ': "send: false" says that nothing is sent')],
  },
  classOf: ({ read }) => (read === undefined ? undefined : "value"),
});
