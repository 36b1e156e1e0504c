import type { Pack } from "../../mapping/pack.ts";
import type { CatalogCopy } from "../../mapping/translation-context.ts";
import type { ParameterType } from "../../mapping/router.ts";
import type { Route } from "../../mapping/compile/route.ts";
import { describeBody } from "./body.ts";
import { objectRef } from "./objects.ts";

type Json = Record<string, unknown>;

const NOTHING_KNOWN: CatalogCopy = {
  isLoaded: () => false,
  find: () => undefined,
  cachedText: () => undefined,
  canonicalSpelling: () => undefined,
};

const PARAMETER: Readonly<Record<ParameterType, Json>> = {
  integer: { type: "integer", minimum: 0 },
  text: { type: "string", minLength: 1 },
  path: { type: "string", minLength: 1, description: "May hold a slash, as it is or escaped." },
  ip: {
    anyOf: [
      { type: "string", format: "ipv4" },
      { type: "string", format: "ipv6" },
    ],
  },
  ip4: { type: "string", format: "ipv4" },
  ip6: { type: "string", format: "ipv6" },
};

/** One schema, or any of several. */
const anyOf = (schemas: readonly Json[]): Json =>
  schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas };

const unique = <T>(values: readonly T[]): T[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

/** `GET /books/:id` as an OpenAPI path, with its parameters. */
function pathOf(name: string): { method: string; path: string; parameters: string[] } {
  const [method = "", written = ""] = name.split(" ");
  const parameters = [...written.matchAll(/:(\w+)/g)].map(([, parameter = ""]) => parameter);
  return { method: method.toLowerCase(), path: written.replaceAll(/:(\w+)/g, "{$1}"), parameters };
}

/** The fields that a list may be filtered and ordered by. */
const filterFields = (route: Route): string[] => [
  ...("catalog" in route.source ? route.selectFields : route.filterFields(NOTHING_KNOWN)).keys(),
];

function parametersOf(route: Route, names: readonly string[], { dialect }: Pack): Json[] {
  const inPath = names.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: PARAMETER[dialect.alpha.parameters[name] ?? "text"],
  }));
  if (route.response !== "list") return inPath;
  const fields = filterFields(route);
  const page = { name: dialect.page, in: "query", schema: { type: "integer", minimum: 1, default: 1 } };
  const filter = {
    name: dialect.filter.header,
    in: "header",
    description: `Conditions on ${fields.join(", ") || "no field"}; operators ${Object.keys(dialect.filter.operators).join(", ")}.`,
    content: {
      "application/json": {
        schema: { type: "object", properties: Object.fromEntries(fields.map((field) => [field, {}])) },
      },
    },
  };
  return [...inPath, page, filter];
}

/** The body of a success. */
function answerOf(route: Route, { dialect }: Pack): Json {
  if (route.response === "nothing") return { type: "object", maxProperties: 0 };
  const objects = anyOf(route.responseObjects.map(objectRef));
  if (route.response === "object") {
    // The call has happened; what it made may not be readable.
    return route.readAfterWrite ? { anyOf: [objects, { type: "object" }] } : objects;
  }
  const { page, pages, results } = dialect.alpha.envelope;
  const count = (minimum: number): Json => ({ type: "integer", minimum });
  return {
    type: "object",
    required: [route.list, page, pages, results],
    properties: {
      [route.list]: { type: "array", maxItems: dialect.alpha.page_size, items: objects },
      [page]: count(1),
      [pages]: count(1),
      [results]: count(0),
    },
  };
}

function equivalentOf({ source }: Route, { dialect: { v4 } }: Pack): string | null {
  if ("error" in source) return null;
  if ("call" in source) return `${source.call.method} ${v4.prefix}${source.call.template}`;
  return source.catalog.calls.map(({ path }) => `GET ${v4.prefix}${path}`).join(", ");
}

function securityOf(routes: readonly Route[], { dialect: { scopes } }: Pack): Json[] {
  return unique(
    routes.map(({ access }): Json => {
      if (access === "public") return {};
      return { token: access === "token" ? [] : [`${access.resource}:${scopes.levels[access.level]}`] };
    }),
  );
}

/** A body that none of the routes needs may be any object, or null, which many clients send for none. */
function requestOf(routes: readonly Route[], { dialect }: Pack): Json {
  const files = routes.flatMap(({ upload }) => (upload ? [[upload.type, {}] as const] : []));
  if (files.length > 0) return { requestBody: { required: true, content: Object.fromEntries(files) } };
  const rules = routes.flatMap(({ body }) => body ?? []);
  if (rules.length === 0) return {};
  const needed = routes.every(({ body }) => ((body?.schema["required"] ?? []) as unknown[]).length > 0);
  const bodies = rules.map((each) => describeBody(each, dialect.alpha.reference));
  const others = rules.length < routes.length ? [{ type: "object" }, { type: "null" }] : [{ type: "null" }];
  const schema = anyOf(needed ? bodies : [...bodies, ...others]);
  const shows = routes.flatMap((route) => route.readRoute ?? []);
  const description = `What ${shows.join(", ")} shows may be sent back as it is, whatever the rules say.`;
  return {
    requestBody: {
      ...(shows.length > 0 && { description }),
      required: needed,
      content: { "application/json": { schema } },
    },
  };
}

/** Statuses that any route may answer with, and those of a route that only refuses. */
function responsesOf(routes: readonly Route[], pack: Pack): Json {
  const { statuses } = pack.dialect;
  const served = routes.filter(({ source }) => !("error" in source));
  const refused = [statuses.other_4xx, ...statuses.same, statuses.rate_limited.alpha, statuses.other];
  const files = served.flatMap(({ file }) => (file ? [[file.type, {}] as const] : []));
  const json = { schema: anyOf(unique(served.map((route) => answerOf(route, pack)))) };
  const content = files.length > 0 ? Object.fromEntries(files) : { "application/json": json };
  const success = { description: "Success", content };
  const errors = refused.map(
    (status) => [String(status), { $ref: `#/components/responses/${status}` }] as const,
  );
  return { ...(served.length > 0 && { 200: success }), ...Object.fromEntries(errors) };
}

const nameOf = (method: string, path: string): string =>
  method + path.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_, letter: string) => letter.toUpperCase());

function operationOf(routes: readonly Route[], pack: Pack): Json {
  const [route] = routes;
  if (!route) return {};
  const { method, path, parameters } = pathOf(route.name);
  const equivalents = unique(routes.map((each) => equivalentOf(each, pack)));
  const losses = unique(routes.flatMap((each) => each.losses));
  return {
    operationId: nameOf(method, path),
    tags: [route.object],
    security: securityOf(routes, pack),
    ...(parameters.length > 0 || route.response === "list"
      ? { parameters: parametersOf(route, parameters, pack) }
      : {}),
    ...requestOf(routes, pack),
    responses: responsesOf(routes, pack),
    "x-v4-equivalent": equivalents.length === 1 ? equivalents[0] : equivalents,
    ...(losses.length > 0 && { "x-loss": losses }),
  };
}

/** Every route as an operation, by path and method; routes that share one are one operation. */
export function describePaths(pack: Pack): Json {
  const paths: Record<string, Json> = {};
  for (const [name, routes] of Map.groupBy(pack.routes, ({ name }) => name)) {
    const { method, path } = pathOf(name);
    (paths[path] ??= {})[method] = operationOf(routes, pack);
  }
  return paths;
}
