/** The operations of an OpenAPI document with resolved references. */
import { isObject } from "../../base/index.ts";
import { addPlaces, readPlace, SchemaBudget, UnreadableDocumentError } from "./flatten-schema.ts";
import { operationKey, type Operation, type Place, type Surface } from "./surface.ts";

type Json = Readonly<Record<string, unknown>>;

const METHODS = ["get", "put", "post", "delete", "patch", "head", "options", "trace"] as const;

/** Options for reading a document. */
interface DocumentReading {
  readonly budget: SchemaBudget;
  readonly resolve?: (reference: string) => unknown;
}

const objectsIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Returns the schema of the first media type. */
function contentSchema(holder: unknown): unknown {
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
function readScopes(security: unknown): ReadonlySet<string> | undefined {
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
function basePath(server: Json | undefined): string {
  const { url, variables } = server ?? {};
  if (typeof url !== "string") return "";
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (all, name: string) => {
    const variable = isObject(variables) ? variables[name] : undefined;
    return isObject(variable) && typeof variable["default"] === "string" ? variable["default"] : all;
  });
  const path = filled.replace(/^[a-z]+:\/\/[^/]*/i, "");
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/**
 * Reads all operations of a document, with the paths of requests.
 *
 * @throws {UnreadableDocumentError} if it is not an OpenAPI 3 document, or too large
 */
export function openapiSurface(document: unknown): Surface {
  if (!isObject(document) || !String(document["openapi"]).startsWith("3.") || !isObject(document["paths"]))
    throw new UnreadableDocumentError("It is no OpenAPI 3 document: it needs `openapi` 3.x and `paths`.");
  const budget = new SchemaBudget();
  const surface = new Map<string, Operation>();
  for (const [path, item] of Object.entries(document["paths"])) {
    if (!isObject(item)) continue;
    for (const method of METHODS) {
      const operation = item[method];
      if (!isObject(operation)) continue;
      const [server] = [operation, item, document].flatMap(({ servers }) => objectsIn(servers).slice(0, 1));
      const name = `${method.toUpperCase()} ${basePath(server)}${path}`;
      const parameters = [...objectsIn(item["parameters"]), ...objectsIn(operation["parameters"])];
      const security = operation["security"] ?? document["security"];
      surface.set(
        operationKey(name),
        readOperation(name, { ...operation, parameters, security }, { budget }),
      );
    }
  }
  return surface;
}
