/** What v4 accepts of requests, from `test/spec/v4-operations.json`. */

import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from "ajv";
import { memberNames, namedShapes, toJsonSchema, v4Operations } from "../../spec/v4-operations.ts";

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
  readonly described: (typeof v4Operations.operations)[string];
}

const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A path with fewer parameters is the nearer one. */
const parameterCount = ({ template }: Operation): number =>
  template.filter((part) => part.startsWith("{")).length;

const operations: readonly Operation[] = Object.entries(v4Operations.operations)
  .map(([call, described]) => {
    const [method = "", path = ""] = call.split(" ");
    return { method, template: path.split("/").slice(1), described };
  })
  .sort((a, b) => parameterCount(a) - parameterCount(b));

/** Ids with a slash come escaped, so that every parameter is one segment. */
const fits = (template: readonly string[], segments: readonly string[]): boolean =>
  template.length === segments.length &&
  template.every((part, index) => part.startsWith("{") || part === segments[index]);

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
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(namedShapes());
  const compiled = new Map<unknown, ValidateFunction>();

  function bodyFaults({ method, described }: Operation, body: unknown): string[] {
    const wanted = described.body;
    if (wanted === undefined) {
      const isEmpty = body === undefined || (isJson(body) && Object.keys(body).length === 0);
      return isEmpty ? [] : ["the call takes no body"];
    }
    if (body === undefined) return described.bodyRequired ? ["there is no body"] : [];
    const validate = compiled.get(wanted) ?? ajv.compile(toJsonSchema(wanted) as AnySchema);
    compiled.set(wanted, validate);
    void validate(body);
    const knownMembers = memberNames(wanted);
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
    const filterable = new Set(described.filters?.split(" "));
    const wrong = filterFields(filter).filter((field) => !filterable.has(field));
    return [
      ...queryFaults(query, described.isList),
      ...wrong.map((field) => `${field} can't be filtered by`),
      ...bodyFaults(operation, body),
    ];
  };
}
