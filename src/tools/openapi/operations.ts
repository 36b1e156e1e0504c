import type { Pack } from "../../mapping/pack.ts";
import type { CatalogCopy } from "../../mapping/translation-context.ts";
import type { ParameterType } from "../../mapping/router.ts";
import type { Route } from "../../mapping/compile/route.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { nameOf, type Shape } from "../../dialect/shape.ts";
import { describeBody, extensionName, objectRef } from "./schemas.ts";

type Json = Record<string, unknown>;

const EMPTY_CATALOGS: CatalogCopy = {
  isLoaded: () => false,
  find: () => undefined,
  cachedText: () => undefined,
  canonicalSpelling: () => undefined,
};

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
  const parameters = [...template.matchAll(/:(\w+)/g)].map(([, parameter = ""]) => parameter);
  return { method: method.toLowerCase(), path: template.replaceAll(/:(\w+)/g, "{$1}"), parameters };
}

/** The fields by which a list can be filtered and sorted. */
const listFilterFields = (route: Route): string[] => [
  ...("catalog" in route.source ? route.selectFields : route.filterFields(EMPTY_CATALOGS)).keys(),
];

function describeParameters(route: Route, names: readonly string[], { dialect }: Pack): Json[] {
  const pathParameters = names.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: PARAMETER_SCHEMAS[dialect.client.path_parameters[name] ?? "text"],
  }));
  if (route.response !== "list") return pathParameters;
  const fields = listFilterFields(route);
  const { pagination, filters } = dialect.client;
  const page = pagination && {
    name: pagination.parameter,
    in: "query",
    schema: { type: "integer", minimum: 1, default: 1 },
  };
  const operators = Object.values(filters?.operators ?? {}).map((spellings) => [spellings].flat()[0]);
  const filter = filters && {
    name: filters.header,
    in: "header",
    description: `Conditions on ${fields.join(", ") || "no field"}; operators ${operators.join(", ")}.`,
    content: {
      "application/json": {
        schema: { type: "object", properties: Object.fromEntries(fields.map((field) => [field, {}])) },
      },
    },
  };
  return [...pathParameters, page, filter].filter((parameter) => parameter !== undefined);
}

/** The schema of a successful response. */
function describeResponse(route: Route, { dialect, lists }: Pack): Json {
  if (route.response === "none") return { type: "object", maxProperties: 0 };
  const objects = anyOf(route.responseObjects.map(objectRef));
  if (route.response === "object") {
    // After a successful write, the read can fail.
    return route.readAfterWrite ? { anyOf: [objects, { type: "object" }] } : objects;
  }
  const items = { type: "array", maxItems: dialect.client.pagination?.size, items: objects };
  return describeListShape(lists.client, route.list, items);
}

/** The schema of a list, with that of its items. */
function describeListShape(shape: Shape, list: string, items: Json): Json {
  const name = nameOf(shape);
  if (name === "items") return items;
  if (name !== undefined) return { type: "integer", minimum: name === "total" ? 0 : 1 };
  if (!isObject(shape)) return { const: shape };
  const members = Object.entries(shape).map(([key, member]): [string, Json] => [
    nameOf(key) === undefined ? key : list,
    describeListShape(member, list, items),
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

/** Describes the request body. Without a body in the pack, many clients send null or an object: both are accepted. */
function describeRequest(routes: readonly Route[], { dialect }: Pack): Json {
  const files = routes.flatMap(({ upload }) => (upload ? [[upload.content_type, {}] as const] : []));
  if (files.length > 0) return { requestBody: { required: true, content: Object.fromEntries(files) } };
  const rules = routes.flatMap(({ body }) => body ?? []);
  if (rules.length === 0) return {};
  const isRequired = routes.every(({ body }) => ((body?.schema["required"] ?? []) as unknown[]).length > 0);
  const bodies = rules.map((body) => describeBody(body, dialect.client.id));
  const others = rules.length < routes.length ? [{ type: "object" }, { type: "null" }] : [{ type: "null" }];
  const schema = anyOf(isRequired ? bodies : [...bodies, ...others]);
  const readRoutes = routes.flatMap((route) => route.readRoute ?? []);
  const description = `Values that ${readRoutes.join(", ")} returns are accepted unchanged, even if they do not match the schema.`;
  return {
    requestBody: {
      ...(readRoutes.length > 0 && { description }),
      required: isRequired,
      content: { "application/json": { schema } },
    },
  };
}

/** Describes the success and the errors. A route without a v4 call has only errors. */
function describeResponses(routes: readonly Route[], pack: Pack): Json {
  const { statuses } = pack;
  const served = routes.filter(({ source }) => !("error" in source));
  const files = served.flatMap(({ file }) => (file ? [[file.content_type, {}] as const] : []));
  const json = { schema: anyOf(unique(served.map((route) => describeResponse(route, pack)))) };
  const content = files.length > 0 ? Object.fromEntries(files) : { "application/json": json };
  const success = { description: "Success", content };
  const names = [...statuses.all, ...(statuses.passesOthers ? ["default"] : [])];
  const errors = names.map(
    (status) => [String(status), { $ref: `#/components/responses/${status}` }] as const,
  );
  return { ...(served.length > 0 && { 200: success }), ...Object.fromEntries(errors) };
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
    ...(parameters.length > 0 || route.response === "list"
      ? { parameters: describeParameters(route, parameters, pack) }
      : {}),
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
