/** v4's operations (`v4-operations.json`) as an OpenAPI document. */
import { toJsonSchema, v4Operations } from "./v4-operations.ts";

type Json = Record<string, unknown>;

/** References to members that the operations do not describe become schemas of anything. */
function withReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReferences);
  if (value === null || typeof value !== "object") return value;
  const { $ref: reference } = value as Json;
  if (typeof reference !== "string")
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withReferences(each)]));
  const name = reference.replace("v4#/", "");
  return Object.hasOwn(v4Operations.shapes, name) ? { $ref: `#/components/schemas/${name}` } : {};
}

const content = (shape: Parameters<typeof toJsonSchema>[0] | undefined): Json =>
  shape === undefined
    ? {}
    : { content: { "application/json": { schema: withReferences(toJsonSchema(shape)) } } };

/** Returns an OpenAPI 3.1 document of all of v4's operations. */
export function v4Document(): Json {
  const paths: Record<string, Json> = {};
  for (const [call, { auth, body, response }] of Object.entries(v4Operations.operations)) {
    const [method = "", path = ""] = call.split(" ");
    (paths[path] ??= {})[method.toLowerCase()] = {
      security: auth === "none" ? [] : [{ token: [] }],
      ...(body !== undefined && { requestBody: content(body) }),
      responses: { 200: { description: "Success", ...content(response) } },
    };
  }
  const schemas = Object.entries(v4Operations.shapes).map(([name, shape]) => [
    name,
    withReferences(toJsonSchema(shape)),
  ]);
  return {
    openapi: "3.1.0",
    info: { title: "v4", version: "4" },
    servers: [{ url: "https://api.example.com/v4" }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: Object.fromEntries(schemas),
    },
  };
}
