/** The key `aggregate` of a route: the upstream's whole list, which the gateway filters, orders and pages. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { compileScopedCondition, type ScopedCondition } from "../expressions/conditions.ts";
import { routeKey } from "./key.ts";
import { needs } from "../key-rules.ts";

/** A v4 list whose pages are all fetched. The gateway filters, orders and pages the rows. */
export interface Aggregation {
  readonly maxRows: number;
  /** Whether alpha's list has this v4 row. */
  readonly includesRow: ScopedCondition;
}

const schema = about(
  z
    .strictObject({
      include: about(
        z.string().min(1).optional(),
        "JSONata over the upstream row: whether the list has it.",
        'kind != "hidden"',
      ),
      max_items: about(z.int().positive(), "The longest upstream list.", 1000),
    })
    .optional(),
  "The gateway reads the upstream's whole list, and filters, sorts and pages it.",
  { max_items: 1000 },
);

export const aggregate = routeKey({
  schema,
  rules: [
    needs(
      "a route that responds with a list by a GET",
      ({ keys, call }) => keys.response === "list" && call === "GET",
    ),
  ],
  compile: ({ max_items: maxRows, include }, { location }): Aggregation => ({
    maxRows,
    includesRow: compileScopedCondition(include, location.at("include"), "response") ?? (() => true),
  }),
  guide: (_compiled, { upstream }) => [
    `The gateway read the whole list of ${upstream} and paged it again. The pages of ${upstream} are different.`,
  ],
});
