/** The key `search` of a route: the values of the upstream's query that its body may contain. */
import type { ValueType } from "../paths/query.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";
import { compileUpstreamFormat } from "../bodies/body-format.ts";
import { conditionNames, filterParameters } from "../filters/filters.ts";
import { typesOf, type Parameter } from "./parameter.ts";
import type { QueryRules } from "./query-rules.ts";
import type { Paging } from "../lists/paging.ts";
import type { Resource } from "../routes/resource.ts";
import type { RouteSource } from "../routes/route-source.ts";
import { compileSearch, type SearchParameters } from "./search.ts";
import type { ValueKind } from "../values/value-kind.ts";

/** Returns the types of the values of a table, if none of them is a text. Undefined if there is no table. */
function tableTypes(kind: ValueKind | undefined): readonly ValueType[] | undefined {
  const values = [...(kind?.v4ValuesByAlpha.values() ?? [])].flat();
  if (values.length === 0) return undefined;
  const types = new Set(values.map((value) => typeof value));
  return types.has("string") ? [] : (["number", "boolean"] as const).filter((type) => types.has(type));
}

/** Returns the value types of the upstream's parameters: those of pages, of schemas, of fields and of tables. */
function parameterTypes(
  resource: Resource,
  parameters: readonly Parameter[],
  { dialect, paging, values }: SearchContext,
): Map<string, readonly ValueType[]> {
  const kindOf = ({ values: kind = "" }: { readonly values?: string | undefined }) => values.get(kind);
  const ofFields = filterParameters(resource, dialect).map(({ name, rule }) => {
    const type = rule.boundary === undefined ? rule.type : "integer";
    return [name, tableTypes(kindOf(rule)) ?? (type === undefined ? [] : [type])] as const;
  });
  const ofParameters = parameters.flatMap(({ targets, definition }) => {
    const types = tableTypes(kindOf(definition)) ?? typesOf(definition.schema ?? {});
    return targets.flatMap(({ upstream }) => (upstream === undefined ? [] : [[upstream, types] as const]));
  });
  const ofPages = paging.upstreamNumbers.map((name) => [name, ["integer"]] as const);
  return new Map([...ofFields, ...ofParameters, ...ofPages]);
}

interface SearchContext {
  readonly dialect: DialectDefinition;
  readonly paging: Paging;
  readonly values: ReadonlyMap<string, ValueKind>;
}

/** Compiles the body of a list that the upstream reads with a `POST`; undefined for all other routes. */
export function compileListSearch(
  definition: RouteDefinition,
  resource: Resource,
  source: RouteSource,
  { parameters }: QueryRules,
  context: SearchContext,
  location: SourceLocation,
) {
  const { search } = definition;
  if (!search) return undefined;
  const { dialect, paging } = context;
  const targets = parameters.flatMap((parameter) => parameter.targets);
  const [, own = ""] = "call" in source ? source.call.template.split("?") : [];
  const known: SearchParameters = {
    names: [
      ...new URLSearchParams(own).keys(),
      ...targets.flatMap(({ upstream }) => upstream ?? []),
      ...paging.upstreamNames,
      ...conditionNames(definition, resource, dialect),
    ],
    types: parameterTypes(resource, parameters, context),
    separated: new Set(
      filterParameters(resource, dialect).flatMap(({ name, operator }) =>
        operator === "in" && dialect.upstream.filters?.in?.multiple === "comma" ? [name] : [],
      ),
    ),
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
