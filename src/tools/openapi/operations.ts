import type { Pack } from "../../mapping/pack.ts";
import { NO_CATALOGS } from "../../mapping/translation-context.ts";
import type { ParameterType } from "../../mapping/router.ts";
import type { Route } from "../../mapping/compile/route.ts";
import type { Condition } from "../../dialect/filter/condition.ts";
import type { QueryField, QueryFilter } from "../../dialect/filter/query-filter.ts";
import { filterRuleOf } from "../../mapping/schema/field-definition.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { fillKey, fillShape, nameOf, namesIn, type Shape } from "../../dialect/shape.ts";
import { describeBody, extensionName, objectRef } from "./schemas.ts";

type Json = Record<string, unknown>;

const PARAMETER_SCHEMAS: Readonly<Record<ParameterType, Json>> = {
  integer: { type: "integer", minimum: 0 },
  text: { type: "string", minLength: 1 },
  path: { type: "string", minLength: 1, description: "Can have slashes, escaped or not." },
  ip: {
    anyOf: [
      { type: "string", format: "ipv4" },
      { type: "string", format: "ipv6" },
    ],
  },
  ip4: { type: "string", format: "ipv4" },
  ip6: { type: "string", format: "ipv6" },
};

/** A schema, or a choice of several. */
const anyOf = (schemas: readonly Json[]): Json =>
  schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas };

const unique = <T>(values: readonly T[]): T[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

/** Parses `GET /books/:id` into a method, an OpenAPI path and its parameters. */
function parseRouteName(name: string): { method: string; path: string; parameters: string[] } {
  const [method = "", template = ""] = name.split(" ");
  const path = template.replaceAll(/\/:(\w+)/g, "/{$1}");
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => parameter);
  return { method: method.toLowerCase(), path, parameters };
}

/** The fields by which a list can be filtered and sorted. */
const listFilterFields = (route: Route): string[] => [
  ...("catalog" in route.source ? route.selectFields : route.filterFields(NO_CATALOGS)).keys(),
];

/** The parameters that the pack names, without those that it rejects. */
function describeQuery({ query }: Route): Json[] {
  const accepted = query.parameters.filter(({ definition }) => definition.reject === undefined);
  return accepted.map(({ name, definition }) => {
    const { message: _message, ...schema } = definition.schema ?? {};
    const { multiple, default: standard, required } = definition;
    return {
      name,
      in: "query",
      ...(required && { required }),
      ...(multiple && { explode: multiple === "repeat" }),
      schema: {
        ...(multiple ? { type: "array", items: schema } : schema),
        ...(standard !== undefined && { default: standard }),
      },
    };
  });
}

/** The schema of a value that a field is compared with, and the value for no filter. */
function describeFilterValue({ type, values }: QueryField, all: string | undefined): Json {
  const schema = values ? { enum: all === undefined ? values : [...values, all] } : { type };
  return all === undefined || values || type === "string" ? schema : { anyOf: [schema, { const: all }] };
}

/** The values of the default filter by a field. */
const defaultValues = (condition: Condition | undefined): unknown[] => {
  if (condition?.kind !== "field") return condition?.members.flat().flatMap(defaultValues) ?? [];
  return condition.tests.map(({ value }) => value);
};

/** The parameters that filter, sort and search a list. */
function describeQueryFilter(
  { parameters, others }: QueryFilter,
  { filterDefaults, resource }: Route,
  { client }: Pack["dialect"],
): Json[] {
  const filters = [...parameters].map(([name, { field, operator }]): Json => {
    const queryField = resource.queryFields.get(field);
    const { all } = filterRuleOf(resource.members.get(field) ?? {}) ?? {};
    const isEquality = operator === "eq" || operator === "in";
    const one =
      queryField === undefined || operator === "contains"
        ? { type: "string" }
        : describeFilterValue(queryField, isEquality ? all : undefined);
    const values = isEquality ? defaultValues(filterDefaults?.conditions.get(field)) : [];
    const standard = values.length > 0 && { default: operator === "in" ? values : values[0] };
    return {
      name,
      in: "query",
      description: isEquality ? `Value of ${field}.` : `Operator ${operator} on ${field}.`,
      ...(operator === "in" && { explode: client.filters?.in?.multiple === "repeat" }),
      schema: { ...(operator === "in" ? { type: "array", items: one } : one), ...standard },
    };
  });
  return [...filters, ...others.map((name) => ({ name, in: "query", schema: { type: "string" } }))];
}

function listParameters(route: Route, names: readonly string[], { dialect, paging }: Pack): Json[] {
  const pathParameters = names.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: PARAMETER_SCHEMAS[route.pathParameters[name]?.type ?? "text"],
  }));
  const others = [
    ...pathParameters,
    ...describeQuery(route),
    ...describeRequestHeaders(route, dialect.client),
  ];
  if (route.response !== "list") return others;
  const fields = listFilterFields(route);
  const { filters } = dialect.client;
  const operators = Object.values(filters?.operators ?? {}).map((spellings) => [spellings].flat()[0]);
  const filter = filters?.header !== undefined && {
    name: filters.header,
    in: "header",
    description: `Conditions on ${fields.join(", ") || "no field"}; operators ${operators.join(", ")}.`,
    content: {
      "application/json": {
        schema: { type: "object", properties: Object.fromEntries(fields.map((field) => [field, {}])) },
      },
    },
  };
  const inQuery = route.queryFilter ? describeQueryFilter(route.queryFilter, route, dialect) : [];
  return [...others, ...describePageParameters(paging), ...inQuery, ...(filter ? [filter] : [])];
}

/** The parameters with which a client asks for a page. */
function describePageParameters({ style, size }: Pack["paging"]): Json[] {
  if (!style) return [];
  const position =
    style.kind === "cursor"
      ? { type: "string", minLength: 1 }
      : { type: "integer", minimum: style.first, default: style.first };
  const most = size.above === "reject" && { maximum: size.maximum };
  const limit = { type: "integer", minimum: 1, ...most, default: size.default };
  return [
    { name: style.parameter, in: "query", schema: position },
    ...(style.kind === "cursor" && style.before !== undefined
      ? [{ name: style.before, in: "query", schema: position }]
      : []),
    ...(size.parameter === undefined ? [] : [{ name: size.parameter, in: "query", schema: limit }]),
  ];
}

function describeParameters(route: Route, names: readonly string[], pack: Pack): Json {
  const parameters = listParameters(route, names, pack);
  return parameters.length > 0 || route.response === "list" ? { parameters } : {};
}

/** The schema of a successful response. */
function describeResponse(route: Route, { dialect, paging, lists }: Pack): Json {
  if (route.response === "none") return { type: "object", maxProperties: 0 };
  const objects = anyOf(route.responseObjects.map(objectRef));
  const wrap = (wrapper: Shape = "$object", object: Json): Json =>
    describeWrapper(fillShape(wrapper, { object: "$object", name: route.object }), object);
  const { responses } = dialect.client;
  if (route.response === "object") {
    // After a successful write, the read can fail.
    const object = route.readAfterWrite ? { anyOf: [objects, { type: "object" }] } : objects;
    return wrap(responses.object, object);
  }
  const maxItems = paging.style ? paging.size.maximum : undefined;
  const items = {
    type: "array",
    ...(maxItems !== undefined && { maxItems }),
    items: wrap(responses.item, objects),
  };
  return describeListShape(lists.client, items, { list: route.list, firstPage: firstPageOf(paging) });
}

const firstPageOf = ({ style }: Pack["paging"]): number => (style?.kind === "page" ? style.first : 1);

/** The schema of a value of a list. */
function describeListValue(name: string, firstPage: number): Json {
  if (name === "has_more") return { type: "boolean" };
  if (name === "page") return { type: "integer", minimum: firstPage };
  if (name === "pages" || name === "size") return { type: "integer", minimum: 1 };
  if (!/^(?:next|previous|first|last)_/.test(name)) return { type: "integer", minimum: 0 };
  return { type: [/_(?:page|offset)$/.test(name) ? "integer" : "string", "null"] };
}

/** The schema of a list, with that of its items. */
function describeListShape(
  shape: Shape,
  items: Json,
  names: { readonly list: string; readonly firstPage: number },
): Json {
  const name = nameOf(shape);
  if (name === "items") return items;
  if (name !== undefined) return describeListValue(name, names.firstPage);
  if (!isObject(shape)) return { const: shape };
  const members = Object.entries(shape).map(([key, member]): [string, Json] => [
    fillKey(key, names),
    describeListShape(member, items, names),
  ]);
  return {
    type: "object",
    required: members.map(([key]) => key),
    properties: Object.fromEntries(members),
  };
}

function findEquivalent({ source }: Route, { dialect: { upstream } }: Pack): string | null {
  if ("error" in source) return null;
  if ("call" in source) return `${source.call.method} ${upstream.base_path}${source.call.template}`;
  return source.catalog.calls.map(({ path }) => `GET ${upstream.base_path}${path}`).join(", ");
}

function describeSecurity(routes: readonly Route[], { dialect: { scopes } }: Pack): Json[] {
  return unique(
    routes.map(({ access }): Json => {
      if (access === "public") return {};
      return { token: access === "token" ? [] : [`${access.resource}:${scopes?.levels[access.level]}`] };
    }),
  );
}

/** The schema of a body or of a response in its wrapper. */
function describeWrapper(wrapper: Shape, body: Json): Json {
  if (nameOf(wrapper) === "object") return body;
  if (!isObject(wrapper)) return { const: wrapper };
  const members = Object.entries(wrapper).map(([key, member]) => [key, describeWrapper(member, body)]);
  const required = Object.keys(wrapper).filter((key) => namesIn(wrapper[key]).length > 0);
  return { type: "object", required, properties: Object.fromEntries(members) };
}

/** Describes the request body. Without a body in the pack, many clients send null or an object: both are accepted. */
function describeRequest(routes: readonly Route[], { dialect, mediaTypes }: Pack): Json {
  const files = routes.flatMap(({ upload }) => (upload ? [[upload.content_type, {}] as const] : []));
  if (files.length > 0) return { requestBody: { required: true, content: Object.fromEntries(files) } };
  const rules = routes.flatMap(({ body }) => body ?? []);
  if (rules.length === 0) return {};
  const isRequired = routes.every(({ body }) => ((body?.schema["required"] ?? []) as unknown[]).length > 0);
  const bodies = rules.map((body) => describeWrapper(body.wrapper, describeBody(body, dialect.client.id)));
  const others = rules.length < routes.length ? [{ type: "object" }, { type: "null" }] : [{ type: "null" }];
  const schema = anyOf(isRequired ? bodies : [...bodies, ...others]);
  const readRoutes = routes.flatMap((route) => route.readRoute ?? []);
  const description = `Values that ${readRoutes.join(", ")} returns are accepted unchanged, even if they do not match the schema.`;
  return {
    requestBody: {
      ...(readRoutes.length > 0 && { description }),
      required: isRequired,
      content: Object.fromEntries(mediaTypes.names.map((type) => [type, { schema }])),
    },
  };
}

/** The headers that requests may have, and the version. OpenAPI does not list `Accept`. */
function describeRequestHeaders({ headers }: Route, { version }: Pack["dialect"]["client"]): Json[] {
  const passed = Object.entries(headers?.definition.request ?? {}).map(
    ([name, { required, default: standard }]): Json => ({
      name,
      in: "header",
      ...(required && { required }),
      schema: { type: "string", ...(standard !== undefined && { default: standard }) },
    }),
  );
  if (version?.header === undefined) return passed;
  const { header, value, required } = version;
  return [...passed, { name: header, in: "header", ...(required && { required }), schema: { const: value } }];
}

/** Headers of requests that may have a 304 as their response. */
const CONDITIONAL: ReadonlySet<string> = new Set(["if-none-match", "if-modified-since"]);

/** The headers that successful responses have of the upstream. */
function describeHeaders(routes: readonly Route[]): Json {
  const names = routes.flatMap(({ headers }) => Object.keys(headers?.definition.response ?? {}));
  const headers = Object.fromEntries(names.map((name) => [name, { schema: { type: "string" } }]));
  return names.length === 0 ? {} : { headers };
}

/** Describes the success and the errors. A route without a v4 call has only errors. */
function describeResponses(routes: readonly Route[], pack: Pack): Json {
  const { statuses } = pack;
  const served = routes.filter(({ source }) => !("error" in source));
  const files = served.flatMap(({ file }) => (file ? [[file.content_type, {}] as const] : []));
  const json = { schema: anyOf(unique(served.map((route) => describeResponse(route, pack)))) };
  const content = files.length > 0 ? Object.fromEntries(files) : { [pack.responseTypes.success]: json };
  const successes = unique(served.map(({ status }) => status)).map((status) => [
    String(status),
    { description: "Success", ...(status !== 204 && { content }), ...describeHeaders(served) },
  ]);
  const names = [...statuses.all, ...(statuses.passesOthers ? ["default"] : [])];
  const errors = names.map(
    (status) => [String(status), { $ref: `#/components/responses/${status}` }] as const,
  );
  const requestHeaders = served.flatMap(({ headers }) => Object.keys(headers?.definition.request ?? {}));
  const isConditional = requestHeaders.some((name) => CONDITIONAL.has(name.toLowerCase()));
  const notModified = isConditional ? [["304", { description: "The client's copy is current." }]] : [];
  return Object.fromEntries([...successes, ...notModified, ...errors]);
}

const createOperationId = (method: string, path: string): string =>
  method + path.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_, letter: string) => letter.toUpperCase());

function describeOperation(routes: readonly Route[], pack: Pack): Json {
  const [route] = routes;
  if (!route) return {};
  const { method, path, parameters } = parseRouteName(route.name);
  const equivalents = unique(routes.map((variant) => findEquivalent(variant, pack)));
  const losses = unique(routes.flatMap((variant) => variant.losses));
  return {
    operationId: createOperationId(method, path),
    tags: [route.object],
    security: describeSecurity(routes, pack),
    ...describeParameters(route, parameters, pack),
    ...describeRequest(routes, pack),
    responses: describeResponses(routes, pack),
    [extensionName(pack, "equivalent")]: equivalents.length === 1 ? equivalents[0] : equivalents,
    ...(losses.length > 0 && { "x-loss": losses }),
  };
}

/** Describes the routes as operations, by path and method. Routes with the same path are one operation. */
export function describePaths(pack: Pack): Json {
  const paths: Record<string, Json> = {};
  for (const [name, routes] of Map.groupBy(pack.routes, ({ name }) => name)) {
    const { method, path } = parseRouteName(name);
    (paths[path] ??= {})[method] = describeOperation(routes, pack);
  }
  return paths;
}
