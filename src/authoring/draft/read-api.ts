/** Reads the parts of an OpenAPI document that a draft needs. Extensions (`x-…`) are never read. */
import { isObject, type Json } from "../../base/index.ts";
import {
  basePath,
  contentSchema,
  type DocumentOperation,
  objectsIn,
  operationsOf,
  readScopes,
  UnreadableDocumentError,
} from "../../migration/index.ts";
import { isParameter, type ApiDescription, type ApiRoute, type Payload } from "./api-description.ts";
import { itemsOf, membersOf, ObjectReader, type Nesting } from "./read-objects.ts";
import { splitIntoWords } from "./words.ts";

/** The methods of a pack's routes. */
const METHODS: ReadonlySet<string> = new Set(["GET", "PUT", "POST", "DELETE", "PATCH"]);
/** Maximum number of operations of a document. The largest public ones have about a thousand. */
const MAX_ROUTES = 3000;
/** Maximum number of characters of a path, and of other listed names. */
const MAX_PATH = 400;
/** Matches the valid paths in a draft, because a pack restricts paths. */
const PATH = /^(?:\/(?:[\w.~@+-]+|\{\w+\}))*\/?$/;

const isPossiblePath = (path: string): boolean => path.length <= MAX_PATH && PATH.test(path);

/** Returns the prefix of all paths: the path of the first server. Empty if a pack can't have it. */
function basePathOf({ servers }: Json): string {
  const [server] = objectsIn(servers);
  const path = basePath(server);
  return /^(?:\/[\w.~-]+)*$/.test(path) ? path : "";
}

/** Returns the location of the client's token as a pack writes it: the first scheme that packs support. */
function credentialsOf({ components }: Json): Readonly<Record<string, string>> | undefined {
  const schemes = isObject(components) ? components["securitySchemes"] : undefined;
  for (const scheme of isObject(schemes) ? Object.values(schemes) : []) {
    if (!isObject(scheme)) continue;
    const { type, name, in: where } = scheme;
    if (type === "oauth2" || type === "openIdConnect") return { scheme: "Bearer" };
    if (type === "http" && scheme["scheme"] === "basic") return { basic: "username" };
    if (type === "http") return { scheme: "Bearer" };
    if (type === "apiKey" && typeof name === "string" && /^[A-Za-z][\w-]*$/.test(name)) {
      if (where === "query") return { query: name };
      if (where === "header")
        return name.toLowerCase() === "authorization" ? { scheme: "token" } : { header: name };
    }
  }
  return undefined;
}

const NO_PAYLOAD: Payload = { object: undefined, isList: false, member: undefined, isFile: false };

/** The number of responses that have a member with an object, or with a list of objects, by the member's name. */
type MemberCounts = ReadonlyMap<string, number>;

/** Whether a name can be used in a shape of a pack. A name with `$` would be a value. */
const isShapeName = (name: string): boolean => /^[A-Za-z@][\w@-]*$/.test(name) && name.length <= MAX_PATH;

/** Returns the members of a response that a shape can contain and that pass a test. */
const membersThat = (schema: Json, holds: (member: Json) => boolean): string[] =>
  [...membersOf(schema)].flatMap(([name, member]) => (isShapeName(name) && holds(member) ? [name] : []));

const listMembers = (schema: Json): string[] =>
  membersThat(schema, (member) => itemsOf(member) !== undefined);

const objectMembers = (schema: Json): string[] =>
  membersThat(schema, (member) => itemsOf(member) === undefined && membersOf(member).size > 0);

/** Returns the JSON schema of the first successful response of an operation, and its status. */
function successOf(operation: Json): {
  readonly status: number;
  readonly schema?: Json;
  readonly isFile: boolean;
} {
  const responses = isObject(operation["responses"]) ? Object.entries(operation["responses"]) : [];
  const [status, response] = responses.find(([code]) => code.startsWith("2")) ?? ["200", {}];
  const content =
    isObject(response) && isObject(response["content"]) ? Object.entries(response["content"]) : [];
  const json = content.find(([type]) => /json|\*\/\*/.test(type))?.[1];
  const schema = isObject(json) && isObject(json["schema"]) ? json["schema"] : undefined;
  const code = /^\d{3}$/.test(status) ? Number(status) : 200;
  return { status: code, isFile: content.length > 0 && json === undefined, ...(schema && { schema }) };
}

/** Whether the response of an operation may be a list: the operation reads, and its path contains no id. */
const mayList = (method: string, segments: readonly string[]): boolean =>
  method === "GET" && !isParameter(segments.at(-1) ?? "");

/** Returns the last word of a path without parameters. */
const nameOfPath = (segments: readonly string[]): string =>
  segments.findLast((segment) => !isParameter(segment)) ?? "object";

/** Whether a member is the wrapper of an object: it has the object's name, or occurs in several responses. */
const isWrapperName = (member: string, name: string, counts: MemberCounts): boolean =>
  splitIntoWords(member).join() === splitIntoWords(name).join() || (counts.get(member) ?? 0) > 2;

/** Finds the object or list in a response. @param name the name for an object that has none in the document */
function payloadOf(
  { schema, isFile }: ReturnType<typeof successOf>,
  {
    mayBeList,
    name,
    counts,
    reader,
  }: {
    readonly mayBeList: boolean;
    readonly name: string;
    readonly counts: MemberCounts;
    readonly reader: ObjectReader;
  },
): Payload {
  if (!schema) return { ...NO_PAYLOAD, isFile };
  const items = itemsOf(schema);
  if (items) return { ...NO_PAYLOAD, object: reader.read(items, name), isList: true };
  const countOf = (member: string): number => counts.get(member) ?? 0;
  const members = membersOf(schema);
  const [lists, objects] = [listMembers(schema), objectMembers(schema)];
  const [list] = lists.toSorted((one, other) => countOf(other) - countOf(one));
  if (mayBeList && list !== undefined) {
    const isUsual = countOf(list) >= Math.max(2, ...counts.values());
    const item = itemsOf(members.get(list) ?? {});
    if (isUsual || (lists.length === 1 && objects.length === 0))
      return { ...NO_PAYLOAD, object: item && reader.read(item, name), isList: true, member: list };
  }
  const [wrapped] = objects;
  const isAlone = objects.length === 1 && members.size === 1 + lists.length;
  if (wrapped !== undefined && isAlone && isWrapperName(wrapped, name, counts))
    return { ...NO_PAYLOAD, object: reader.read(members.get(wrapped) ?? {}, name), member: wrapped };
  return { ...NO_PAYLOAD, object: reader.read(schema, name) };
}

/** Counts the members of responses that may contain the list or the object. */
function countMembers(operations: readonly DocumentOperation[]): MemberCounts {
  const counts = new Map<string, number>();
  for (const { path, method, operation } of operations) {
    const { schema } = successOf(operation);
    if (!schema || itemsOf(schema)) continue;
    const isList = mayList(method, path.split("/"));
    for (const name of isList ? listMembers(schema) : objectMembers(schema))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Returns the JSON body of an operation: the object, without its wrapper if it has one. */
function bodyOf({ requestBody }: Json, payload: Payload, reader: ObjectReader): ApiRoute["body"] {
  const schema = contentSchema(requestBody);
  if (!isObject(schema)) return undefined;
  const [[name, member] = [], ...others] = membersOf(schema);
  const isWrapped = member && others.length === 0 && (name === payload.member || membersOf(member).size > 1);
  return reader.read(isWrapped && membersOf(member).size > 0 ? member : schema, "body");
}

/** Adds types from a body of the same object to fields of a response without types. */
function addBodyTypes({ payload: { object }, body }: ApiRoute): void {
  if (!object || !body) return;
  for (const [name, { place, object: inner, isList }] of body.fields) {
    const field = object.fields.get(name);
    if (!field) continue;
    const types = field.place.types.size === 0 ? place : field.place;
    const words = field.place.words ?? (types.types.isDisjointFrom(place.types) ? undefined : place.words);
    object.fields.set(name, {
      ...field,
      place: { ...types, words },
      ...(field.place.types.size === 0 && !field.object && { object: inner, isList }),
    });
  }
}

/**
 * Reads a document.
 *
 * @throws {UnreadableDocumentError} if it is not an OpenAPI 3 document, is too large, or contains no route that a pack
 *   can have
 */
export function readApi(given: unknown, nesting: Nesting): ApiDescription {
  const operations = operationsOf(given).filter(({ method }) => METHODS.has(method));
  const document = given as Json;
  const reader = new ObjectReader(document, nesting);
  const counts = countMembers(operations);
  const routes: ApiRoute[] = [];
  const others: string[] = [];
  for (const { path, method, operation } of operations) {
    if (!isPossiblePath(path)) {
      others.push(`${method} ${path}`);
      continue;
    }
    if (routes.length >= MAX_ROUTES)
      throw new UnreadableDocumentError(`It has more than ${MAX_ROUTES} operations.`);
    const segments = path.split("/").filter((segment) => segment !== "");
    const success = successOf(operation);
    const [mayBeList, name] = [mayList(method, segments), nameOfPath(segments)];
    const payload = payloadOf(success, { mayBeList, name, counts, reader });
    routes.push({
      method,
      path,
      segments,
      payload,
      body: bodyOf(operation, payload, reader),
      queryNames: objectsIn(operation["parameters"])
        .filter((each) => each["in"] === "query")
        .map(({ name }) => String(name)),
      status: success.status,
      needsToken: readScopes(operation["security"]) !== undefined,
    });
  }
  if (routes.length === 0)
    throw new UnreadableDocumentError("It has no operation that a pack can have a route for.");
  routes.forEach(addBodyTypes);
  return { basePath: basePathOf(document), routes, others, credentials: credentialsOf(document) };
}
