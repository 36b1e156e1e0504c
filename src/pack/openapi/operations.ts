import { credentialPlaces, type CredentialsPlaces } from "../credentials/credentials.ts";
import type { Pack } from "../load/pack.ts";
import { NOT_MODIFIED } from "../errors/statuses.ts";
import { mayBeNotModified } from "../routes/not-modified.ts";
import type { Route } from "../routes/route.ts";
import type { BodyRules } from "../bodies/body.ts";
import { describeShape, fillShape, namesIn, type Shape } from "../values/shape.ts";
import { describeSource } from "../load/pack-summary.ts";
import { describeParameters } from "./parameters.ts";
import { describeResponseHeaders, referToHeaders, type DescribedPlan } from "./response-headers.ts";
import { describeErrorResponses, describeErrors, ERRORS } from "./errors.ts";
import { describeBody, extensionName, objectRef, type Json } from "./schemas.ts";

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

/** The schema of a successful response. */
function describeResponse(route: Route): Json {
  const all = route.responseObjects.map(objectRef);
  const mayBeOther = route.descriptions.some((each) => each.mayBeOtherObject);
  const objects = anyOf(mayBeOther ? [...all, { type: "object" }] : all);
  const [describe] = route.descriptions.flatMap(({ describeResponse: own }) => own ?? []);
  if (describe) return describe(objects);
  if (route.response === "none") return { type: "object", maxProperties: 0 };
  const wrap = (wrapper: Shape = "$object", object: Json): Json =>
    describeWrapper(fillShape(wrapper, { object: "$object", name: route.object }), object);
  const { paging, envelope } = route.lists;
  if (route.response === "object") return wrap(envelope.client.object, objects);
  const maxItems = paging.style ? paging.size.maximum : undefined;
  const items = {
    type: "array",
    ...(maxItems !== undefined && { maxItems }),
    items: wrap(envelope.client.item, objects),
  };
  const describeName = (name: string): Json =>
    name === "items" ? items : describeListValue(name, firstPageOf(paging));
  return describeShape(envelope.client.list, describeName, () => true);
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

function findEquivalent({ source }: Route, { dialect: { upstream } }: Pack): string | null {
  return "error" in source ? null : describeSource(source, upstream.base_path);
}

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

/** The names of the places of a token: `token`, and `token_2` and so on for further ones. */
export const securitySchemeNames = (credentials: CredentialsPlaces | undefined): string[] =>
  credentialPlaces(credentials).map((_place, index) => (index === 0 ? "token" : `token_${index + 1}`));

/** The schema of a body or of a response in its wrapper. */
const describeWrapper = (wrapper: Shape, body: Json): Json =>
  describeShape(
    wrapper,
    () => body,
    (member) => namesIn(member).length > 0,
  );

/** Whether a request without a body is invalid. */
const needsBody = ({ isList, schema }: BodyRules): boolean =>
  isList || ((schema["required"] ?? []) as unknown[]).length > 0;

/** Whether a body may be the literal `null`: the pack counts it as none, or it has no members. */
const acceptsNull = (body: BodyRules, { mediaTypes }: Pack): boolean =>
  !needsBody(body) && (mediaTypes.nullIsAbsent || Object.keys(body.schema["properties"] ?? {}).length === 0);

/** Describes the request body. Routes without a body in the pack accept null and an object, which many clients send. */
function describeRequest(routes: readonly Route[], pack: Pack): Json {
  const { dialect, mediaTypes } = pack;
  const files = routes.flatMap(({ upload }) => (upload ? [[upload.content_type, {}] as const] : []));
  if (files.length > 0) return { requestBody: { required: true, content: Object.fromEntries(files) } };
  const rules = routes.flatMap(({ body }) => body ?? []);
  if (rules.length === 0) return {};
  const isRequired = routes.every(({ body }) => body && needsBody(body));
  const bodies = rules.map((body) => describeWrapper(body.wrapper, describeBody(body, dialect.client.id)));
  const hasNone = rules.length < routes.length;
  const takesNull = hasNone || rules.some((body) => acceptsNull(body, pack));
  const others = [...(hasNone ? [{ type: "object" }] : []), ...(takesNull ? [{ type: "null" }] : [])];
  const schema = anyOf([...bodies, ...others]);
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

/** The headers of successful responses: the common ones, and the upstream's. */
function describeHeaders(routes: readonly Route[], common: Json): Json {
  const names = routes.flatMap(({ headers }) =>
    Object.entries(headers?.definition.response ?? {}).flatMap(([name, { on }]) =>
      on === "error" ? [] : name,
    ),
  );
  return {
    headers: {
      ...common,
      ...Object.fromEntries(names.map((name) => [name, { schema: { type: "string" } }])),
    },
  };
}

/**
 * The errors of an operation whose routes have their own shapes or statuses. Undefined: the errors of all operations.
 */
function describeOwnErrors(routes: readonly Route[], pack: Pack, headers: Json): Json | undefined {
  const rejected = routes.flatMap(({ source }) => ("error" in source ? [source.error.status] : []));
  const statuses = [
    ...routes.flatMap(({ ownStatuses }) => ownStatuses),
    ...rejected.filter((status) => !pack.statuses.all.includes(status)),
  ];
  if (statuses.length === 0 && routes.every(({ errors }) => errors === undefined)) return undefined;
  const schemas = routes.map(({ errors }) =>
    errors ? describeErrors(errors.client.shapes) : objectRef(ERRORS),
  );
  return describeErrorResponses(pack, anyOf(unique(schemas)), headers, statuses);
}

/** The statuses of a route's successes: also of one whose operation is still in progress. */
const statusesOf = ({ status, descriptions }: Route): number[] => [
  status,
  ...descriptions.flatMap(({ statuses = [] }) => statuses),
];

const TEXT = { schema: { type: "string" } };

/** Describes the success and the errors. A route without a v4 call has only errors. */
function describeResponses(routes: readonly Route[], pack: Pack, headers: Json): Json {
  const { statuses } = pack;
  const served = routes.filter(({ source }) => !("error" in source));
  const files = served.flatMap(({ file }) => (file ? [[file.content_type, {}] as const] : []));
  const texts = served.flatMap(({ text }) => (text ? [[text.contentType, TEXT] as const] : []));
  const ofJson = served.filter(({ text }) => !text);
  const json = { schema: anyOf(unique(ofJson.map((route) => describeResponse(route)))) };
  const content =
    files.length > 0
      ? Object.fromEntries(files)
      : {
          ...(ofJson.length > 0 && { [pack.responseTypes.success]: json }),
          ...Object.fromEntries(texts),
        };
  const successes = unique(served.flatMap(statusesOf)).map((status) => [
    String(status),
    { description: "Success", ...(status !== 204 && { content }), ...describeHeaders(served, headers) },
  ]);
  const names = [...statuses.all, ...(statuses.passesOthers ? ["default"] : [])];
  const common = names.map(
    (status) => [String(status), { $ref: `#/components/responses/${status}` }] as const,
  );
  const ownErrors = describeOwnErrors(routes, pack, headers);
  const errors = ownErrors ? Object.entries(ownErrors) : common;
  const notModified = served.some(mayBeNotModified)
    ? [[NOT_MODIFIED, { description: "The client's copy is current." }]]
    : [];
  return Object.fromEntries([...successes, ...notModified, ...errors]);
}

const createOperationId = (method: string, path: string): string =>
  method + path.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_, letter: string) => letter.toUpperCase());

/** Says that the upstream has no such call, and why. */
function describeCounterpart(routes: readonly Route[], { dialect }: Pack): Json {
  const reasons = unique(routes.flatMap(({ source }) => ("error" in source ? [source.error.reason] : [])));
  if (reasons.length === 0) return {};
  const part = routes.every(({ source }) => "error" in source) ? "" : "A part of this operation: ";
  return { description: `${part}${dialect.upstream.name} has no counterpart. ${reasons.join(" ")}` };
}

/** When an operation ends for everybody. */
function describeEnd(name: string, plan: DescribedPlan | undefined): Json {
  const ends = plan?.endOf(name);
  return ends === undefined ? {} : { deprecated: true, "x-sunset": new Date(ends).toISOString() };
}

function describeOperation(
  routes: readonly Route[],
  pack: Pack,
  plan: DescribedPlan | undefined,
  common: Json,
): Json {
  const [route] = routes;
  if (!route) return {};
  const { method, path, parameters } = parseRouteName(route.name);
  const equivalents = unique(routes.map((variant) => findEquivalent(variant, pack)));
  const losses = unique(routes.flatMap((variant) => variant.losses.map(({ text }) => text)));
  return {
    operationId: createOperationId(method, path),
    summary: summarize(route, pack),
    ...describeCounterpart(routes, pack),
    tags: [route.object],
    ...describeEnd(route.name, plan),
    security: describeSecurity(routes, pack),
    ...describeParameters(route, parameters, pack),
    ...describeRequest(routes, pack),
    responses: describeResponses(routes, pack, common),
    [extensionName(pack, "equivalent")]: equivalents.length === 1 ? equivalents[0] : equivalents,
    ...(losses.length > 0 && { "x-loss": losses }),
  };
}

/** Describes the routes as operations, by path and method. Routes with the same path are one operation. */
export function describePaths(pack: Pack, plan: DescribedPlan | undefined): Json {
  const common = referToHeaders(describeResponseHeaders(pack, plan));
  const paths: Record<string, Json> = {};
  for (const [name, routes] of Map.groupBy(pack.routes, ({ name }) => name)) {
    const { method, path } = parseRouteName(name);
    (paths[path] ??= {})[method] = describeOperation(routes, pack, plan, common);
  }
  return paths;
}

const VERBS: Readonly<Record<string, string>> = {
  GET: "Get",
  POST: "Create",
  PUT: "Update",
  PATCH: "Change",
  DELETE: "Delete",
};

/** `reset_secret` as `reset secret`. */
const wordsOf = (name: string): string => name.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();

/**
 * The end of a path after its last parameter, or without parameters the path after its first segment: `boot` of
 * `/instances/:id/boot`.
 */
function endOf(path: string): string {
  const segments = path.split("/");
  const last = segments.findLastIndex((segment) => segment.startsWith(":"));
  return last === -1 ? (segments.at(-1) ?? "") : segments.slice(last + 1).join(" ");
}

/** Whether objects have addresses below a path: a POST to it creates one. */
const isCollection = (path: string, { routes }: Pack): boolean =>
  routes.some(
    ({ name, response }) =>
      name.split(" ")[1]?.startsWith(`${path}/:`) || (response === "list" && name === `GET ${path}`),
  );

/** The summary of an operation: `List vms`, `Update instance`, `Boot (instance)`. */
export function summarize({ name, object, list, response, kind }: Route, pack: Pack): string {
  const [method = "", path = ""] = name.split(" ");
  const of = wordsOf(object);
  if (response === "list") return `List ${wordsOf(list) || of}`;
  const end = wordsOf(endOf(path));
  const isAction = method === "POST" && !isCollection(path, pack);
  if (isAction && end !== "")
    return `${end.charAt(0).toUpperCase()}${end.slice(1)}${end === of ? "" : ` (${of})`}`;
  const verb = isAction ? "Send" : (VERBS[method] ?? method);
  return kind === "file" && end !== "" ? `${verb} ${end} (${of})` : `${verb} ${of}`;
}
