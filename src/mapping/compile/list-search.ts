/** The key `search` of a route: which values of the upstream's query its body may have. */
import type { SourceLocation } from "../load/source-location.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../schema/route-definition.ts";
import { compileUpstreamFormat } from "./body-format.ts";
import { conditionNames, separatedNames } from "./filters.ts";
import type { QueryRules } from "./parameters.ts";
import type { Paging } from "./paging.ts";
import type { Resource } from "./resource.ts";
import type { Route } from "./route.ts";
import { compileSearch, type SearchParameters } from "./search.ts";

/** Compiles the body of a list that the upstream reads by a `POST`; undefined for all other routes. */
export function compileListSearch(
  definition: RouteDefinition,
  resource: Resource,
  source: Route["source"],
  { parameters }: QueryRules,
  { dialect, paging }: { readonly dialect: DialectDefinition; readonly paging: Paging },
  location: SourceLocation,
): Route["search"] {
  const { search } = definition;
  if (!search) return undefined;
  const targets = parameters.flatMap((parameter) => parameter.targets);
  const [, own = ""] = "call" in source ? source.call.template.split("?") : [];
  const known: SearchParameters = {
    names: [
      ...new URLSearchParams(own).keys(),
      ...targets.flatMap(({ upstream }) => upstream ?? []),
      ...paging.upstreamNames,
      ...conditionNames(definition, resource, dialect),
    ],
    numbers: paging.upstreamNumbers,
    separated: new Set(separatedNames(resource, dialect)),
    lists: new Map(
      targets.flatMap(({ upstream, separation }) =>
        upstream === undefined || separation === undefined ? [] : [[upstream, separation] as const],
      ),
    ),
  };
  return {
    move: compileSearch(search, known, location),
    format: compileUpstreamFormat(
      { ...dialect.upstream.bodies, object: undefined },
      resource.name,
      false,
      location,
    ),
  };
}
