/** The query parameters of each route: those of the dialect, and its own. */
import { formParameters } from "../headers/asked-forms.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import { upstreamNamesOf, type ParameterDefinition } from "./parameter-definition.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";
import type { LocatedFile } from "../load/resource-files.ts";
import type { CredentialsFormat } from "../credentials/credentials.ts";
import { compileQueryFilter, upstreamFilterNames } from "../filters/filters.ts";
import type { Paging } from "../lists/paging.ts";
import { compileParameter, type Parameter, type ParameterContext } from "./parameter.ts";
import { createQueryRules } from "./query-rules.ts";
import type { Resource } from "../routes/resource.ts";
import type { RouteSource } from "../routes/route-source.ts";
import type { KeyParameter } from "../keys/key.ts";

/** The query parameters of all routes of a pack. */
export type DialectQuery = ReturnType<typeof compileDialectQuery>;

/** Reports a parameter that is also used to request a page. */
function reportPageParameter(
  name: string,
  definition: ParameterDefinition,
  { clientNames, upstreamNames }: Paging,
  location: SourceLocation,
): void {
  if (clientNames.includes(name)) location.report(`"${name}" asks for a page: see "pagination"`);
  for (const upstream of upstreamNamesOf(definition))
    if (upstreamNames.includes(upstream))
      location.report(`"${upstream}" asks the upstream for a page: see "pagination"`);
}

/** The definitions that parameters refer to, and the code that already uses parameters. */
interface Reserved {
  readonly paging: Paging;
  readonly credentials: Readonly<Record<"client" | "upstream", CredentialsFormat | undefined>>;
  readonly context: ParameterContext;
}

/** Compiles parameters. Reports parameters that other code already reads or sends. */
const compileParameters = (
  definitions: Readonly<Record<string, ParameterDefinition>>,
  { context, paging, credentials: { client, upstream } }: Reserved,
  location: SourceLocation,
): Parameter[] =>
  Object.entries(definitions).map(([name, definition]) => {
    const at = location.at(name);
    reportPageParameter(name, definition, paging, at);
    if (name === client?.queryParameter) at.report(`"${name}" has the client's token: see "credentials"`);
    for (const sent of upstreamNamesOf(definition))
      if (sent === upstream?.queryParameter)
        at.report(`"${sent}" has the upstream's token: see "credentials"`);
    return compileParameter(name, definition, context, at);
  });

/** Reports parameters that would be sent to the upstream twice. @param path The upstream path, which may contain a query. */
function reportDuplicateParameters(
  parameters: readonly Parameter[],
  path: string,
  filterNames: readonly string[],
  { upstreamNames }: Paging,
  location: SourceLocation,
): void {
  const sent = new Set(new URLSearchParams(path.split("?")[1] ?? "").keys());
  const ofFilter = new Set(filterNames);
  for (const name of [...ofFilter, ...parameters.flatMap(({ definition }) => upstreamNamesOf(definition))]) {
    if (sent.has(name) || (ofFilter.has(name) && upstreamNames.includes(name)))
      location.report(`the upstream gets the parameter "${name}" twice`);
    sent.add(name);
  }
}

/** Compiles the parameters of all routes. */
export function compileDialectQuery(
  { definition, location }: LocatedFile<DialectDefinition>,
  context: ParameterContext,
  { paging, credentials }: Omit<Reserved, "context">,
) {
  const { parameters: written, unknown } = definition.client.query;
  const ofForms = formParameters(definition.client).map((name) => [name, { ignore: true }] as const);
  const parameters = { ...Object.fromEntries(ofForms), ...written };
  const at = location.at("client", "query", "parameters");
  const reserved: Reserved = { context, paging, credentials };
  return { ...reserved, unknown, parameters: compileParameters(parameters, reserved, at) };
}

/** Returns the common parameters that apply to a route. Parameters for paths of other routes have no effect. */
const commonParameters = (
  definition: RouteDefinition,
  { parameters, context }: Pick<DialectQuery, "parameters" | "context">,
  usedNames: ReadonlySet<string>,
  location: SourceLocation,
): Parameter[] =>
  parameters
    .filter(({ name }) => definition.query?.parameters[name] === undefined)
    .map((parameter) => {
      const { name, definition: rule } = parameter;
      return rule.path === undefined || usedNames.has(rule.path)
        ? parameter
        : compileParameter(name, { ignore: true }, context, location);
    });

/** Returns the names in braces that get their values from query parameters. */
export const queryPathNames = (
  { query }: RouteDefinition,
  { parameters }: Pick<DialectQuery, "parameters">,
  usedNames: ReadonlySet<string>,
): string[] => {
  const own = query?.parameters ?? {};
  const common = parameters.flatMap(({ name, definition: { path } }) =>
    path === undefined || own[name] !== undefined || !usedNames.has(path) ? [] : path,
  );
  return [...common, ...Object.values(own).flatMap(({ path }) => path ?? [])];
};

/**
 * Compiles how a route uses the client's query, including its filter.
 *
 * @param keyParameters The parameters that keys of the route read.
 * @param options include the pages of the route's list
 */
export function compileRouteQuery(
  definition: RouteDefinition,
  resource: Resource,
  source: RouteSource,
  keyParameters: readonly KeyParameter[],
  {
    query: dialectQuery,
    dialect,
    paging,
    usedNames,
  }: {
    readonly query: DialectQuery;
    readonly dialect: DialectDefinition;
    readonly paging: Paging;
    readonly usedNames: ReadonlySet<string>;
  },
  location: SourceLocation,
) {
  const { query = { parameters: {} }, response } = definition;
  const at = location.at("query");
  const ofRoute = compileParameters(query.parameters, { ...dialectQuery, paging }, at.at("parameters"));
  const common = commonParameters(definition, dialectQuery, usedNames, at);
  if (paging !== dialectQuery.paging)
    for (const parameter of common)
      reportPageParameter(parameter.name, parameter.definition, paging, location.at("pagination"));
  const all = [...common, ...ofRoute];
  const hasCall = "call" in source;
  if (hasCall) {
    const filterNames = upstreamFilterNames(definition, resource, dialect);
    reportDuplicateParameters(all, source.call.template, filterNames, paging, at);
  } else
    for (const { name, definition: parameter } of ofRoute)
      if ((parameter.upstream ?? parameter.path) !== undefined)
        at.at("parameters", name).report("has no effect: the route makes no upstream call");
  const { unknown = dialectQuery.unknown } = query;
  for (const { name, use } of keyParameters)
    if (all.some((parameter) => parameter.name === name)) at.report(`"${name}" ${use}`);
  const ownNames = new Set([
    ...(response === "list" ? paging.clientNames : []),
    ...keyParameters.map(({ name }) => name),
  ]);
  const isParameter = (name: string): boolean =>
    ownNames.has(name) || all.some((parameter) => parameter.name === name);
  const queryFilter = compileQueryFilter(definition, resource, dialect, isParameter, location.at("client"));
  const rules = createQueryRules(all, {
    rejectsUnknown: unknown === "reject",
    hasCall,
    useOf: (name) => (ownNames.has(name) ? "used" : queryFilter?.use(name)),
  });
  return {
    /** Rules for the client's query, except pages and filters. */
    query: rules,
    /** Parses the filter of a list from the query; undefined if clients send filters in a header. */
    queryFilter,
  };
}
