/** The operations of the description: one for each method of a path, with all its routes. */
import { credentialPlaces, type CredentialsPlaces } from "../credentials/credentials.ts";
import type { Pack } from "../load/pack.ts";
import { NOT_MODIFIED } from "../errors/statuses.ts";
import { mayBeNotModified, type Route } from "../routes/route.ts";
import type { BodyRules } from "../bodies/body.ts";
import { describeShape, fillShape, namesIn, type Shape } from "../values/shape.ts";
import { describeSource } from "../load/pack-summary.ts";
import { describeParameters } from "./parameters.ts";
import {
  describeErrorResponses,
  describeErrors,
  describeResponseHeaders,
  ERRORS,
  referToHeaders,
  type DescribedPlan,
} from "./responses.ts";
import { anyOf, describeBody, extensionName, objectRef, type Json } from "./schemas.ts";

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

/** Returns the schema of a body or of a response in its wrapper. */
const describeWrapper = (wrapper: Shape, body: Json): Json =>
  describeShape(
    wrapper,
    () => body,
    (member) => namesIn(member).length > 0,
  );

/** Returns the schema of a successful response. */
function describeResponse(route: Route): Json {
  const all = route.responseObjects.map(objectRef);
  const mayBeOther = route.descriptions.some((each) => each.mayBeOtherObject);
  const objects = anyOf(mayBeOther ? [...all, { type: "object" }] : all);
  const [describe] = route.descriptions.flatMap(({ describeResponse: own }) => own ?? []);
  if (describe) return describe(objects);
  if (route.response === "none") return { type: "object", maxProperties: 0 };
  const wrap = (wrapper: Shape = "$object"): Json =>
    describeWrapper(fillShape(wrapper, { object: "$object", name: route.object }), objects);
  const { paging, envelope } = route.lists;
  if (route.response === "object") return wrap(envelope.client.object);
  const items = {
    type: "array",
    ...(paging.style && { maxItems: paging.size.maximum }),
    items: wrap(envelope.client.item),
  };
  const describeName = (name: string): Json => (name === "items" ? items : describeListValue(name, paging));
  return describeShape(envelope.client.list, describeName, () => true);
}

/** Returns the schema of a value of a list. */
function describeListValue(name: string, { style }: Pack["paging"]): Json {
  if (name === "has_more") return { type: "boolean" };
  if (/^(?:next|previous|first|last)_/.test(name))
    return { type: [/_(?:page|offset)$/.test(name) ? "integer" : "string", "null"] };
  const firstPage = style?.kind === "page" ? style.first : 1;
  const minimum = { page: firstPage, pages: 1, size: 1 }[name] ?? 0;
  return { type: "integer", minimum };
}

const findEquivalent = ({ source }: Route, { dialect: { upstream } }: Pack): string | null =>
  "error" in source ? null : describeSource(source, upstream.base_path);

/** Returns the names of the locations of a token: `token`, and `token_2` and so on for further ones. */
export const securitySchemeNames = (credentials: CredentialsPlaces | undefined): string[] =>
  credentialPlaces(credentials).map((_place, index) => (index === 0 ? "token" : `token_${index + 1}`));

function describeSecurity(routes: readonly Route[], { dialect: { client, scopes } }: Pack): Json[] {
  const schemes = securitySchemeNames(client.credentials);
  return unique(
    routes.flatMap(({ access }): Json[] => {
      if (access === "public") return [{}];
      const needed = access === "token" ? [] : [`${access.resource}:${scopes?.levels[access.level]}`];
      return schemes.map((name) => ({ [name]: needed }));
    }),
  );
}

/** Whether a request without a body is invalid. */
const needsBody = ({ isList, schema }: BodyRules): boolean =>
  isList || ((schema["required"] ?? []) as unknown[]).length > 0;

/** Whether a body may be the literal `null`: the pack treats it as no body, or the body has no members. */
const acceptsNull = (body: BodyRules, { mediaTypes }: Pack): boolean =>
  !needsBody(body) && (mediaTypes.nullIsAbsent || Object.keys(body.schema["properties"] ?? {}).length === 0);

/** Describes the request body. If the pack defines no body, routes accept null and an object, which many clients send. */
function describeRequest(routes: readonly Route[], pack: Pack): Json {
  const { dialect, mediaTypes } = pack;
  const own = routes.flatMap((route) =>
    route.descriptions.flatMap(({ requestContent }) => requestContent ?? []),
  );
  if (own.length > 0) return { requestBody: { required: true, content: Object.assign({}, ...own) as Json } };
  const rules = routes.flatMap(({ body }) => body ?? []);
  if (rules.length === 0) return {};
  const bodies = rules.map((body) => describeWrapper(body.wrapper, describeBody(body, dialect.client.id)));
  const hasNone = rules.length < routes.length;
  const takesNull = hasNone || rules.some((body) => acceptsNull(body, pack));
  const others = [...(hasNone ? [{ type: "object" }] : []), ...(takesNull ? [{ type: "null" }] : [])];
  const schema = anyOf([...bodies, ...others]);
  const readRoutes = routes.flatMap((route) => route.objectRoutes);
  const description = `Values that ${readRoutes.join(", ")} returns are accepted unchanged, even if they do not match the schema.`;
  return {
    requestBody: {
      ...(readRoutes.length > 0 && { description }),
      required: routes.every(({ body }) => body && needsBody(body)),
      content: Object.fromEntries(mediaTypes.names.map((type) => [type, { schema }])),
    },
  };
}

/** Describes the errors of an operation: those of all operations, unless its routes define their own shapes or statuses. */
function describeOperationErrors(routes: readonly Route[], pack: Pack, headers: Json): Json {
  const { statuses } = pack;
  const rejected = routes.flatMap(({ source }) => ("error" in source ? [source.error.status] : []));
  const own = [
    ...routes.flatMap(({ ownStatuses }) => ownStatuses),
    ...rejected.filter((status) => !statuses.all.includes(status)),
  ];
  if (own.length > 0 || routes.some(({ errors }) => errors !== undefined)) {
    const schemas = routes.map(({ errors }) =>
      errors ? describeErrors(errors.client.shapes) : objectRef(ERRORS),
    );
    return describeErrorResponses(pack, anyOf(unique(schemas)), headers, own);
  }
  const names = [...statuses.all, ...(statuses.passesOthers ? ["default"] : [])];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/responses/${name}` }]));
}

/** Describes the successful responses and the errors. A route without a v4 call only responds with errors. */
function describeResponses(routes: readonly Route[], pack: Pack, common: Json): Json {
  const served = routes.filter(({ source }) => !("error" in source));
  const descriptions = served.flatMap((route) => route.descriptions);
  const ofJson = served.filter((route) => route.descriptions.every(({ content }) => content === undefined));
  const json = { schema: anyOf(unique(ofJson.map((route) => describeResponse(route)))) };
  const content: Json = Object.assign(
    ofJson.length > 0 ? { [pack.responseTypes.success]: json } : {},
    ...descriptions.map((each) => each.content),
  );
  const passed = served.flatMap(({ headers }) => Object.entries(headers?.definition.response ?? {}));
  const headers = {
    ...common,
    ...Object.fromEntries(
      passed.flatMap(([name, { on }]) => (on === "error" ? [] : [[name, { schema: { type: "string" } }]])),
    ),
  };
  // These include the statuses of an operation that is still in progress.
  const statuses = served.flatMap(({ status, descriptions: ofKeys }) => [
    status,
    ...ofKeys.flatMap(({ statuses: more = [] }) => more),
  ]);
  const successes = unique(statuses).map((status) => [
    status,
    { description: "Success", ...(status !== 204 && { content }), headers },
  ]);
  return {
    ...(Object.fromEntries(successes) as Json),
    ...(served.some(mayBeNotModified) && {
      [NOT_MODIFIED]: { description: "The client's copy is current." },
    }),
    ...describeOperationErrors(routes, pack, common),
  };
}

const createOperationId = (method: string, path: string): string =>
  method + path.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_, letter: string) => letter.toUpperCase());

/** Describes that the upstream has no such call, and why. */
function describeCounterpart(routes: readonly Route[], { dialect }: Pack): Json {
  const reasons = unique(routes.flatMap(({ source }) => ("error" in source ? [source.error.reason] : [])));
  if (reasons.length === 0) return {};
  const part = routes.every(({ source }) => "error" in source) ? "" : "A part of this operation: ";
  return { description: `${part}${dialect.upstream.name} has no counterpart. ${reasons.join(" ")}` };
}

const VERBS: Readonly<Record<string, string>> = {
  GET: "Get",
  POST: "Create",
  PUT: "Update",
  PATCH: "Change",
  DELETE: "Delete",
};

/** Converts `reset_secret` to `reset secret`. */
const asWords = (name: string): string => name.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();

/**
 * Returns the end of a path after its last parameter, or after its first segment if there are no parameters: `boot` for
 * `/instances/:id/boot`.
 */
function endOf(path: string): string {
  const segments = path.split("/");
  const last = segments.findLastIndex((segment) => segment.startsWith(":"));
  return last === -1 ? (segments.at(-1) ?? "") : segments.slice(last + 1).join(" ");
}

/** Whether a path contains addresses of objects, so that a POST to it creates one. */
const isCollection = (path: string, { routes }: Pack): boolean =>
  routes.some(
    ({ name, response }) =>
      name.split(" ")[1]?.startsWith(`${path}/:`) || (response === "list" && name === `GET ${path}`),
  );

/** The summary of an operation: `List vms`, `Update instance`, `Boot (instance)`. */
function summarize({ name, object, list, response, kind }: Route, pack: Pack): string {
  const [method = "", path = ""] = name.split(" ");
  const of = asWords(object);
  if (response === "list") return `List ${asWords(list) || of}`;
  const end = asWords(endOf(path));
  const isAction = method === "POST" && !isCollection(path, pack);
  if (isAction && end !== "")
    return `${end.charAt(0).toUpperCase()}${end.slice(1)}${end === of ? "" : ` (${of})`}`;
  const verb = isAction ? "Send" : (VERBS[method] ?? method);
  return kind === "file" && end !== "" ? `${verb} ${end} (${of})` : `${verb} ${of}`;
}

function describeOperation(
  route: Route,
  routes: readonly Route[],
  pack: Pack,
  plan: DescribedPlan | undefined,
): Json {
  const { method, path, parameters } = parseRouteName(route.name);
  const headers = referToHeaders(describeResponseHeaders(pack, plan));
  const equivalents = unique(routes.map((variant) => findEquivalent(variant, pack)));
  const losses = unique(routes.flatMap((variant) => variant.losses.map(({ text }) => text)));
  const ends = plan?.endOf(route.name);
  return {
    operationId: createOperationId(method, path),
    summary: summarize(route, pack),
    ...describeCounterpart(routes, pack),
    tags: [route.object],
    ...(ends !== undefined && { deprecated: true, "x-sunset": new Date(ends).toISOString() }),
    security: describeSecurity(routes, pack),
    ...describeParameters(route, parameters, pack),
    ...describeRequest(routes, pack),
    responses: describeResponses(routes, pack, headers),
    [extensionName(pack, "equivalent")]: equivalents.length === 1 ? equivalents[0] : equivalents,
    ...(losses.length > 0 && { "x-loss": losses }),
  };
}

/** Describes the routes as operations, by path and method. Routes with the same path are one operation. */
export function describePaths(pack: Pack, plan: DescribedPlan | undefined): Json {
  const paths: Record<string, Json> = {};
  for (const [name, routes] of Map.groupBy(pack.routes, (route) => route.name)) {
    const { method, path } = parseRouteName(name);
    const [route] = routes;
    if (route) (paths[path] ??= {})[method] = describeOperation(route, routes, pack, plan);
  }
  return paths;
}
