/** The keys of a route about its list: pages, filters, the order, and the source of its rows. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { compileScopedCondition, type ScopedCondition } from "../expressions/conditions.ts";
import { routePagination } from "../lists/pagination-definition.ts";
import { routeKey } from "./key.ts";
import { has, needs, needsKind, type RouteFacts } from "../key-rules.ts";
import { textKey } from "../values/key-schemas.ts";

const json = z.json();
const name = z.string().min(1);
const filterValue = z.union([z.string(), z.number(), z.boolean()]);

const needsList = needs<RouteFacts>(
  "a route that responds with a list",
  ({ keys }) => keys.response === "list",
);

export const pagination = routeKey({
  schema: about(
    routePagination.optional(),
    "How each side pages this list. With `none`, neither side has pages. Default: as in `pack.yaml`.",
    { client: "none" },
  ),
  rules: [needsList],
});

export const search = routeKey({
  schema: about(
    z.record(name, json).optional(),
    "The JSON body of a list that is read by a POST, with query parameters as `$` names.",
    { filter: "$filter", paging: { page: "$page", size: "$size" } },
  ),
  rules: [
    needs(
      'a route that responds with a list by a POST, without "body"',
      (route) => route.keys.response === "list" && route.call === "POST" && !has(route, "body"),
    ),
  ],
});

const needsFilteredList = needsKind(["list", "paged"], "a route whose list the upstream filters");

export const where = routeKey({
  schema: about(
    z.record(z.string(), json).optional(),
    "A condition in the upstream's form, in addition to the client's filter. Values may contain names in braces.",
    { kind: "public" },
  ),
  rules: [needsFilteredList],
});

export const whereValues = routeKey({
  schema: about(
    z.record(name, name).optional(),
    "Upstream fields, each with a value kind. The list contains only objects whose value is in its table.",
    { status: "state" },
  ),
  rules: [needsFilteredList],
});

export const defaultFilter = routeKey({
  schema: about(
    z.record(name, z.union([filterValue, z.array(filterValue).min(1)])).optional(),
    "Values for filters by these fields, if the client does not filter by the field.",
    { state: "open" },
  ),
  rules: [needsList],
});

export const defaultOrder = routeKey({
  schema: about(
    z.record(name, z.enum(["ascending", "descending"])).optional(),
    "The order of the list if the client sends none.",
    { created: "descending" },
  ),
  rules: [needsList],
});

/** A v4 list whose pages are all read. The gateway filters, orders and pages the rows. */
export interface Aggregation {
  readonly maxRows: number;
  /** Whether alpha's list contains this v4 row. */
  readonly includesRow: ScopedCondition;
}

const aggregation = about(
  z
    .strictObject({
      include: textKey("JSONata over the upstream row: whether the list contains it.", 'kind != "hidden"'),
      max_items: about(z.int().positive(), "The longest upstream list.", 1000),
    })
    .optional(),
  "The gateway reads the upstream's whole list, and filters, sorts and pages it.",
  { max_items: 1000 },
);

export const aggregate = routeKey({
  schema: aggregation,
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
