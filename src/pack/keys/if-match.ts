/** The key `if_match` of a route: clients only change the version of an object that they know. */
import { hasParts } from "../calls/call-definition.ts";
import { routeKey } from "./key.ts";
import { excludes, needs, states } from "../key-rules.ts";
import { textKey } from "../values/key-schemas.ts";

export const ifMatch = routeKey({
  schema: textKey(
    "The name of a call before the main call. The main call sends the `ETag` of its response as `If-Match`. `headers.request` must name `If-Match`.",
    "current",
  ),
  rules: [
    excludes("bulk"),
    ({ keys, call, callsBefore, headers }) => {
      const required = keys["if_match"] as string;
      if (!callsBefore.includes(required))
        return [
          {
            message: `the route has no call "${required}" before the main call`,
            hint: `calls: [{ name: ${required}, at: before, upstream: "GET /path" }]`,
          },
        ];
      return call === "GET" || headers.maySendVersion
        ? []
        : [
            {
              message:
                'the If-Match of clients is ignored: add it to "headers.request" of the route, or of "client"',
              hint: "headers: { request: { If-Match: If-Match } }",
            },
          ];
    },
    needs("a call that changes something: this one is a GET", ({ call }) => call !== "GET"),
    states(
      ({ keys }) => hasParts(keys),
      '"if_match" excludes calls with a part: one ETag is not that of several resources',
    ),
  ],
  rulesWithout: [
    ({ call, headers }) =>
      call !== "GET" && headers.maySendVersion && headers.makesVersion
        ? [
            {
              at: [],
              message: "clients may send If-Match, and nothing compares it with the ETag that the pack makes",
              hint: "add a call before the main call that reads the object, and name it in if_match",
            },
          ]
        : [],
  ],
});
