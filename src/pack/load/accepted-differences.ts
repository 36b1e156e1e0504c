/** Checks the lines of `accepted-differences.yaml` against the routes of a pack. */
import { findPlaces } from "../errors/error-places.ts";
import { suggestionFor } from "../../base/index.ts";
import type { AcceptedDifference } from "../schema/accepted-definition.ts";
import type { Pack } from "./pack.ts";
import { errorsOf, type ErrorFormats } from "../errors/error-shapes.ts";
import type { LocatedFile } from "./resource-files.ts";
import { responseFields, shapePaths } from "../routes/response-fields.ts";
import type { Route } from "../routes/route.ts";

type Sources = Pick<Pack, "routes" | "resources" | "lists" | "dialect" | "errors">;

/** Returns all fields in which responses of a route can differ. */
function comparedFields(route: Route, pack: Sources): ReadonlySet<string> {
  const { total_header: total, range_header: range } = route.lists.paging.definition.client ?? {};
  const headers = [
    ...Object.keys(route.headers?.definition.response ?? {}),
    ...[total, range?.name].filter((name) => name !== undefined),
  ];
  const paths = [
    ...responseFields(route, pack).keys(),
    ...(route.response === "list" ? shapePaths(route.lists.envelope.client.list, route.list) : []),
    ...errorsOf(route, pack).client.shapes.flatMap((shape) => shapePaths(shape)),
  ];
  // A list is also compared as a whole: its order, and its rows.
  const all = paths.flatMap((path) => {
    const names = path.split(".");
    return names.map((_, index) => names.slice(0, index + 1).join("."));
  });
  return new Set(["", "status", ...all, ...headers.map((name) => `header ${name.toLowerCase()}`)]);
}

/** Returns the valid lines. Reports routes and fields that the pack does not define, and duplicate lines. */
export function compileAcceptedDifferences(
  { definition, location }: LocatedFile<readonly AcceptedDifference[]>,
  pack: Sources,
): readonly AcceptedDifference[] {
  const routes = new Map(pack.routes.map((route) => [route.name, route]));
  const fields = new Map<string, ReadonlySet<string>>();
  const seen = new Set<string>();
  definition.forEach(({ route: name, field, kind }, index) => {
    const route = routes.get(name);
    if (!route)
      return location.at(index, "route").report({
        message: `the pack has no route "${name}"`,
        hint: suggestionFor(name, [...routes.keys()]),
      });
    const known = fields.get(name) ?? comparedFields(route, pack);
    fields.set(name, known);
    if (!known.has(field) && !isOpen(field, route, pack) && !isErrorByField(field, errorsOf(route, pack)))
      location.at(index, "field").report({
        message: `responses of ${name} have no field "${field}"`,
        hint: suggestionFor(field, [...known]),
      });
    const key = JSON.stringify([name, field, kind]);
    if (seen.has(key)) location.at(index).report("an earlier line accepts the same difference");
    seen.add(key);
  });
  return definition;
}

/** Whether a parent of a field has members that the pack does not name, such as the result of an expression. */
function isOpen(field: string, route: Route, pack: Sources): boolean {
  const known = responseFields(route, pack);
  const names = field.split(".");
  return names.some((_, index) => {
    const { rule } = known.get(names.slice(0, index).join(".")) ?? {};
    return rule !== undefined && rule.object === undefined;
  });
}

/** Whether a field is in an error object whose keys belong to problems, such as names of fields. */
const isErrorByField = (field: string, { client }: ErrorFormats): boolean =>
  client.shapes
    .flatMap((shape) => findPlaces(shape))
    .some(
      ({ path, keys }) =>
        keys !== undefined && field.startsWith([...path.filter((key) => key !== "[]"), ""].join(".")),
    );
