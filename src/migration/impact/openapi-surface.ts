/** The operations of an OpenAPI document with resolved references. */
import { isObject, type Json } from "../../base/index.ts";
import { addPlaces, objectsIn, readPlace, SchemaBudget, UnreadableDocumentError } from "./flatten-schema.ts";
import { operationKey, type Operation, type Place, type Surface } from "./surface.ts";

const METHODS = ["get", "put", "post", "delete", "patch", "head", "options", "trace"] as const;

/** Options for reading a document. */
interface DocumentReading {
  readonly budget: SchemaBudget;
  readonly resolve?: (reference: string) => unknown;
}

/** Returns the schema of the first media type. */
export function contentSchema(holder: unknown): unknown {
  if (!isObject(holder)) return undefined;
  const { content, schema } = holder;
  const [first] = isObject(content) ? Object.values(content) : [];
  return isObject(first) ? first["schema"] : schema;
}

/** Adds the parameters of an operation. They replace parameters of its path with the same name. */
function addParameters(all: readonly Json[], places: Map<string, Place>, reading: DocumentReading): void {
  for (const parameter of all) {
    const { name, in: where, required } = parameter;
    if (typeof name !== "string" || (where !== "query" && where !== "header" && where !== "cookie")) continue;
    const schema = contentSchema(parameter) ?? parameter;
    const place = readPlace(schema, required === true, { ...reading, skip: "readOnly" });
    places.set(`${where}.${name}`, place);
  }
}

/** Returns the scopes of all schemes of the first alternative; undefined for an operation without a token. */
export function readScopes(security: unknown): ReadonlySet<string> | undefined {
  const alternatives = objectsIn(security);
  const [first] = alternatives;
  if (!first || alternatives.some((each) => Object.keys(each).length === 0)) return undefined;
  return new Set(
    Object.values(first)
      .flat()
      .filter((scope) => typeof scope === "string"),
  );
}

/** Reads an operation. @throws {UnreadableDocumentError} */
export function readOperation(name: string, operation: Json, reading: DocumentReading): Operation {
  const request = new Map<string, Place>();
  const answer = new Map<string, Place>();
  addParameters(objectsIn(operation["parameters"]), request, reading);
  const body = operation["requestBody"];
  addPlaces("body", contentSchema(body), isObject(body) && body["required"] === true, {
    ...reading,
    skip: "readOnly",
    places: request,
  });
  const responses = isObject(operation["responses"]) ? operation["responses"] : {};
  const statuses = Object.keys(responses);
  const successes = statuses.filter((status) => status.startsWith("2"));
  for (const status of successes)
    addPlaces("answer", contentSchema(responses[status]), true, {
      ...reading,
      skip: "writeOnly",
      places: answer,
    });
  return {
    name,
    request,
    answer,
    successes: new Set(successes),
    errors: new Set(statuses.filter((status) => /^[45]/.test(status))),
    scopes: readScopes(operation["security"]),
    isDeprecated: operation["deprecated"] === true,
  };
}

/** Returns the path in a server's address, which precedes the paths of its operations. */
export function basePath(server: Json | undefined): string {
  const { url, variables } = server ?? {};
  if (typeof url !== "string") return "";
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (all, name: string) => {
    const variable = isObject(variables) ? variables[name] : undefined;
    return isObject(variable) && typeof variable["default"] === "string" ? variable["default"] : all;
  });
  const path = filled.replace(/^[a-z]+:\/\/[^/]*/i, "");
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** An operation of a document, with the parameters of its path and the security of the document. */
export interface DocumentOperation {
  readonly method: string;
  readonly path: string;
  readonly server: Json | undefined;
  readonly operation: Json;
}

/** Returns all operations of a document, in order. @throws {UnreadableDocumentError} if it is not an OpenAPI 3 document */
export function operationsOf(document: unknown): readonly DocumentOperation[] {
  if (!isObject(document) || !String(document["openapi"]).startsWith("3.") || !isObject(document["paths"]))
    throw new UnreadableDocumentError("It is no OpenAPI 3 document: it needs `openapi` 3.x and `paths`.");
  return Object.entries(document["paths"]).flatMap(([path, item]) =>
    METHODS.flatMap((method): DocumentOperation[] => {
      const operation = isObject(item) ? item[method] : undefined;
      if (!isObject(item) || !isObject(operation)) return [];
      const [server] = [operation, item, document].flatMap(({ servers }) => objectsIn(servers).slice(0, 1));
      const parameters = [...objectsIn(item["parameters"]), ...objectsIn(operation["parameters"])];
      const security = operation["security"] ?? document["security"];
      return [
        { method: method.toUpperCase(), path, server, operation: { ...operation, parameters, security } },
      ];
    }),
  );
}

/**
 * Reads all operations of a document, with the paths of requests.
 *
 * @throws {UnreadableDocumentError} if it is not an OpenAPI 3 document, or too large
 */
export function openapiSurface(document: unknown): Surface {
  const budget = new SchemaBudget();
  return new Map(
    operationsOf(document).map(({ method, path, server, operation }) => {
      const name = `${method} ${basePath(server)}${path}`;
      return [operationKey(name), readOperation(name, operation, { budget })];
    }),
  );
}
