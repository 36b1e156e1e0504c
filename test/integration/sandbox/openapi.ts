/**
 * Holds every response that the tests see against the published description of v4, where that file lies beside
 * the repository (or where `V4_OPENAPI` says). Without it nothing is checked.
 */

import type { AnySchema, ValidateFunction } from "ajv";
import { Ajv } from "ajv";
import { existsSync, readFileSync } from "node:fs";

type Json = Record<string, unknown>;

interface Operation {
  readonly method: string;
  readonly template: readonly string[];
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema?: AnySchema }> }>>;
}

/** Responses have empty strings for unset members, even for members that requests must not send empty. */
const ignored = new Set(["example", "minLength"]);

const file = process.env["V4_OPENAPI"] ?? "../shared/reference/v4.openapi.json";
/** Every operation that the description has, as `GET /path/{id}`; none without the file. */
export function describedOperations(): readonly {
  readonly call: string;
  readonly auth: string;
  readonly beta: boolean;
}[] {
  if (!existsSync(file)) return [];
  const { paths } = JSON.parse(readFileSync(file, "utf8")) as { paths: Record<string, Record<string, Json>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== "parameters")
      .map(([method, operation]) => ({
        call: `${method.toUpperCase()} ${path}`,
        auth: String(operation["x-auth"]),
        beta:
          !(operation["x-versions"] as string[]).includes("v4") || path.startsWith("/networking/firewalls"),
      })),
  );
}

const described = existsSync(file) ? read(JSON.parse(readFileSync(file, "utf8")) as Json) : undefined;

/** @throws {Error} that names the response and the member that the description does not allow. */
export function validateResponse(request: string, status: number, body: unknown): void {
  if (!described || status === 204) return;
  const [method = "", path = ""] = request.split(" ");
  const faults = status >= 400 ? described.error(body) : described.success(method, path, body);
  if (faults)
    throw new Error(`${request} answered ${status}, which v4 does not describe: ${faults.slice(0, 500)}`);
}

function read(document: Json): {
  success(method: string, path: string, body: unknown): string | undefined;
  error(body: unknown): string | undefined;
} {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: "v4", components: plain(document["components"]) });
  const operations = operationsOf(document["paths"] as Record<string, Json>);
  const compiled = new Map<AnySchema, ValidateFunction>();

  function faultsOf(schema: AnySchema, body: unknown): string | undefined {
    const validate = compiled.get(schema) ?? ajv.compile(schema);
    compiled.set(schema, validate);
    return validate(body) ? undefined : ajv.errorsText(validate.errors);
  }

  const refused = {
    type: "object",
    required: ["errors"],
    properties: {
      errors: {
        type: "array",
        minItems: 1,
        items: {
          type: "object",
          required: ["reason"],
          properties: { reason: { type: "string" }, field: { type: ["string", "null"] } },
        },
      },
    },
  };

  return {
    success(method, path, body) {
      const segments = pathSegments(path);
      const operation = operations.find((each) => each.method === method && fits(each.template, segments));
      const schema = operation?.responses["200"]?.content?.["application/json"]?.schema;
      return schema === undefined ? undefined : faultsOf(schema, body);
    },
    error: (body) => faultsOf(refused, body),
  };
}

function operationsOf(paths: Record<string, Json>): Operation[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== "parameters")
        .map(([method, operation]) => ({
          method: method.toUpperCase(),
          template: path.split("/").slice(1),
          responses: plain((operation as Json)["responses"]) as Operation["responses"],
        })),
    )
    .sort((a, b) => parameters(a.template) - parameters(b.template));
}

/** A path with fewer of them is the nearer one. */
function parameters(template: readonly string[]): number {
  return template.filter((segment) => segment.startsWith("{")).length;
}

function pathSegments(path: string): string[] {
  const [plainPath = ""] = path.replace(/^\/v4(?:beta)?(?=\/)/, "").split("?");
  return plainPath.split("/").slice(1);
}

/** Ids of images, kernels and engines hold a slash: their parameter takes the rest. */
function fits(template: readonly string[], segments: readonly string[]): boolean {
  const wide = /^\{(?:image|kernel|engine)Id\}$/.test(template.at(-1) ?? "");
  if (wide ? segments.length < template.length : segments.length !== template.length) return false;
  return template.every((part, index) => part.startsWith("{") || part === segments[index]);
}

/** `nullable` and the paths of references as JSON Schema writes them. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  // Payment methods are described as one of several schemas that accept the same values.
  const { nullable, $ref, oneOf, ...rest } = value as Json;
  const members = Object.fromEntries(
    Object.entries(rest)
      .filter(([key]) => !key.startsWith("x-") && !ignored.has(key))
      .map(([key, member]) => [key, plain(member)]),
  );
  if (oneOf) members["anyOf"] = plain(oneOf);
  if (typeof $ref === "string") members["$ref"] = `v4${$ref}`;
  return nullable === true ? { anyOf: [{ type: "null" }, members] } : members;
}
