/** The keys of a route about its list: pages, filters and the order. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { routePagination } from "../lists/pagination-definition.ts";
import { schemaKey } from "./key.ts";
import { has, needs, needsKind } from "./rules.ts";

const json = z.json();
const name = z.string().min(1);
const filterValue = z.union([z.string(), z.number(), z.boolean()]);

export const pagination = schemaKey({
  schema: about(
    routePagination.optional(),
    "How this list is paged, if not as in `pack.yaml`, by side. `none`: neither side pages it.",
    { client: "none" },
  ),
  rules: [needs("a route that responds with a list", ({ keys }) => keys.response === "list")],
});

export const search = schemaKey({
  schema: about(
    z.record(name, json).optional(),
    "The JSON body of a list that the upstream reads by a POST, with parameters of the query as `$` names.",
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

export const where = schemaKey({
  schema: about(
    z.record(z.string(), json).optional(),
    "A condition in the upstream's form, in addition to the client's filter. Its values may have names in braces.",
    { kind: "public" },
  ),
  rules: [needsFilteredList],
});

export const whereValues = schemaKey({
  schema: about(
    z.record(name, name).optional(),
    "Upstream fields, each with a value kind: only objects whose value is in its table are listed.",
    { status: "state" },
  ),
  rules: [needsFilteredList],
});

export const defaultFilter = schemaKey({
  schema: about(
    z.record(name, z.union([filterValue, z.array(filterValue).min(1)])).optional(),
    "The client's fields, each with the value or values of the filter if the client does not filter by the field.",
    { state: "open" },
  ),
});

export const defaultOrder = schemaKey({
  schema: about(
    z.record(name, z.enum(["ascending", "descending"])).optional(),
    "The order of the list if the client gives none.",
    { created: "descending" },
  ),
});
