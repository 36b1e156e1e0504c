/** Compares every response that the tests see with v4's operations (`test/spec/v4-operations.json`). */

import type { AnySchema, ValidateFunction } from "ajv";
import { Ajv } from "ajv";
import { namedShapes, toJsonSchema, v4Operations } from "../spec/v4-operations.ts";

type Json = Record<string, unknown>;

interface Operation {
  readonly method: string;
  readonly template: readonly string[];
  readonly response: AnySchema | undefined;
}

/** Responses have empty strings for unset members, even for members that requests must not send empty. */
const ignored = new Set(["minLength"]);

/** Every operation of v4 that the sandbox has, as `GET /path/{id}`. */
export function describedOperations(): readonly {
  readonly call: string;
  readonly auth: string;
  readonly beta: boolean;
}[] {
  return Object.entries(v4Operations.operations).map(([call, { auth, beta = false }]) => ({
    call,
    auth,
    beta: beta || call.includes(" /networking/firewalls"),
  }));
}

const described = read();

/** @throws {Error} that names the response and the member that the description does not allow. */
export function validateResponse(request: string, status: number, body: unknown): void {
  if (status === 204) return;
  const [method = "", path = ""] = request.split(" ");
  const faults = status >= 400 ? described.error(body) : described.success(method, path, body);
  if (faults)
    throw new Error(`${request} answered ${status}, which v4 does not describe: ${faults.slice(0, 500)}`);
}

function read(): {
  success(method: string, path: string, body: unknown): string | undefined;
  error(body: unknown): string | undefined;
} {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(plain(namedShapes()) as AnySchema);
  const operations = operationsOf();
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
      const schema = operation?.response;
      return schema === undefined ? undefined : faultsOf(schema, body);
    },
    error: (body) => faultsOf(refused, body),
  };
}

function operationsOf(): Operation[] {
  return Object.entries(v4Operations.operations)
    .map(([call, { response }]) => {
      const [method = "", path = ""] = call.split(" ");
      const schema = response === undefined ? undefined : (plain(toJsonSchema(response)) as AnySchema);
      return { method, template: path.split("/").slice(1), response: schema };
    })
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

/** A schema as responses are held against it. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  // Payment methods are described as one of several schemas that accept the same values.
  const { oneOf, ...rest } = value as Json;
  const members = Object.fromEntries(
    Object.entries(rest)
      .filter(([key]) => !ignored.has(key))
      .map(([key, member]) => [key, plain(member)]),
  );
  if (oneOf) members["anyOf"] = plain(oneOf);
  return members;
}
