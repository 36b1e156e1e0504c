/** What v4's published description says of requests; read where that file lies beside the repository. */

import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from "ajv";
import { existsSync, readFileSync } from "node:fs";

type Json = Record<string, unknown>;

/** A request as the gateway makes it. */
export interface V4Request {
  readonly method: string;
  /** Below v4's prefix, with query. */
  readonly path: string;
  readonly filter?: unknown;
  readonly body?: unknown;
}

interface Operation {
  readonly method: string;
  readonly template: readonly string[];
  readonly described: Json;
}

export const V4_DESCRIPTION = process.env["V4_OPENAPI"] ?? "../shared/reference/v4.openapi.json";
export const isDescribed = existsSync(V4_DESCRIPTION);

const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `nullable` and the paths of references as JSON Schema writes them. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isJson(value)) return value;
  const { nullable, $ref, ...rest } = value;
  const stored = Object.entries(rest).filter(([key]) => !key.startsWith("x-") && key !== "example");
  const result: Json = Object.fromEntries(stored.map(([key, member]) => [key, plain(member)]));
  if (typeof $ref === "string") result["$ref"] = `v4${$ref}`;
  return nullable === true ? { anyOf: [{ type: "null" }, result] } : result;
}

/** A path with fewer parameters is the nearer one. */
const parameterCount = ({ template }: Operation): number =>
  template.filter((part) => part.startsWith("{")).length;

function operationsOf(paths: Record<string, Json>): Operation[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== "parameters")
      .map(([method, described]) => ({
        method: method.toUpperCase(),
        template: path.split("/").slice(1),
        described: described as Json,
      })),
  );
  return all.sort((a, b) => parameterCount(a) - parameterCount(b));
}

/** Ids with a slash come escaped, so that every parameter is one segment. */
const fits = (template: readonly string[], segments: readonly string[]): boolean =>
  template.length === segments.length &&
  template.every((part, index) => part.startsWith("{") || part === segments[index]);

const follow = (document: Json, pointer: string): unknown =>
  pointer
    .slice(2)
    .split("/")
    .reduce<unknown>((value, key) => (isJson(value) ? value[key] : undefined), document);

/** Names of the members that a schema describes, through references and parts; undefined where any may be. */
function membersOf(document: Json, schema: unknown): Set<string> | undefined {
  if (!isJson(schema)) return undefined;
  const { $ref, properties, allOf, anyOf, oneOf } = schema;
  if (typeof $ref === "string") return membersOf(document, follow(document, $ref));
  const parts = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const sets = parts.flatMap((part) => membersOf(document, part) ?? []);
  if (!isJson(properties) && sets.length === 0) return undefined;
  return new Set([...Object.keys(isJson(properties) ? properties : {}), ...sets.flatMap((set) => [...set])]);
}

/** The fields of a filter and its groups. Names that begin with a plus are operators. */
function filterFields(filter: unknown): string[] {
  if (Array.isArray(filter)) return filter.flatMap(filterFields);
  if (!isJson(filter)) return [];
  return Object.entries(filter).flatMap(([key, value]) => {
    if (key === "+and" || key === "+or") return filterFields(value);
    if (key === "+order_by") return [String(value)];
    return key.startsWith("+") ? [] : [key];
  });
}

const PAGING: Readonly<Record<string, readonly [least: number, most: number]>> = {
  page: [1, Infinity],
  page_size: [25, 100],
};

function queryFaults(query: string, list: boolean): string[] {
  return [...new URLSearchParams(query)].flatMap(([name, value]) => {
    const [least, most] = PAGING[name] ?? [];
    if (!list || least === undefined || most === undefined) return [`the query has ${name}`];
    const number = Number(value);
    return Number.isInteger(number) && number >= least && number <= most ? [] : [`${name} is ${value}`];
  });
}

/**
 * An edit may empty a text: v4 shows empty ones itself, of members that the description wants to be one character
 * at least, and clients send back what they are shown.
 */
const isClearing = (method: string, { keyword, params }: ErrorObject): boolean =>
  method === "PUT" && keyword === "minLength" && params["limit"] === 1;

/** Makes a function that gives everything that the description does not allow of a request. */
export function describedRequests(): (request: V4Request) => string[] {
  const document = JSON.parse(readFileSync(V4_DESCRIPTION, "utf8")) as Json;
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: "v4", components: plain(document["components"]) });
  const operations = operationsOf(document["paths"] as Record<string, Json>);
  const compiled = new Map<unknown, ValidateFunction>();

  function bodyFaults({ method, described }: Operation, body: unknown): string[] {
    const request = described["requestBody"] as Json | undefined;
    const content = isJson(request?.["content"]) ? request["content"]["application/json"] : undefined;
    const wanted = isJson(content) ? content["schema"] : undefined;
    if (wanted === undefined) {
      const isEmpty = body === undefined || (isJson(body) && Object.keys(body).length === 0);
      return isEmpty ? [] : ["the call takes no body"];
    }
    if (body === undefined) return request?.["required"] === true ? ["there is no body"] : [];
    const validate = compiled.get(wanted) ?? ajv.compile(plain(wanted) as AnySchema);
    compiled.set(wanted, validate);
    void validate(body);
    const knownMembers = membersOf(document, wanted);
    const unknown = Object.keys(body as Json).filter((name) => knownMembers && !knownMembers.has(name));
    return [
      ...(validate.errors ?? [])
        .filter((error) => !isClearing(method, error))
        .map(({ instancePath, message }) => `${instancePath} ${message}`),
      ...unknown.map((name) => `there is no member ${name}`),
    ];
  }

  return ({ method, path, filter, body }) => {
    const [before = "", query = ""] = path.split("?");
    const segments = before.split("/").slice(1);
    const operation = operations.find((each) => each.method === method && fits(each.template, segments));
    if (!operation) return ["there is no such call"];
    const { described } = operation;
    const filterable = new Set((described["x-filterable-fields"] ?? []) as string[]);
    const wrong = filterFields(filter).filter((field) => !filterable.has(field));
    return [
      ...queryFaults(query, described["x-list"] === true),
      ...wrong.map((field) => `${field} can't be filtered by`),
      ...bodyFaults(operation, body),
    ];
  };
}
