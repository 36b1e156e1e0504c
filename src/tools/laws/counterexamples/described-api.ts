/** An API as its OpenAPI document describes it: the schemas of its responses, by calls. */
import { isObject } from "../../../dialect/json/parse.ts";
import { contentSchema, documentOperations } from "../../impact/openapi-surface.ts";
import { operationKey } from "../../impact/surface.ts";
import { Alternatives, type Resolve } from "./alternatives.ts";
import { BoundedPatterns } from "./bounded-pattern.ts";
import type { SchemaReading } from "./fits-schema.ts";
import { SchemaValues } from "./schema-values.ts";

/** An operation with the schemas of its successful responses. */
export interface DescribedOperation {
  readonly name: string;
  /** The status of its first success. */
  readonly status: number;
  /** Undefined for a response without JSON. */
  readonly schema: unknown;
  /** Schemas by status, `200` or `2XX`. */
  readonly byStatus: ReadonlyMap<string, unknown>;
}

type Json = Readonly<Record<string, unknown>>;

/** Follows a reference inside a document, and references to references. */
function createResolve(document: unknown): Resolve {
  return (reference) => {
    if (!reference.startsWith("#/")) return undefined;
    const keys = reference.slice(2).split("/");
    return keys.reduce<unknown>((found, key) => {
      const name = decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
      return isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    }, document);
  };
}

function readDescribed(name: string, operation: Json, resolve: Resolve): DescribedOperation {
  const responses = isObject(operation["responses"]) ? operation["responses"] : {};
  const successes = Object.entries(responses).filter(([status]) => /^2(?:\d\d|XX)$/i.test(status));
  const follow = (response: unknown): unknown =>
    isObject(response) && typeof response["$ref"] === "string" ? resolve(response["$ref"]) : response;
  const byStatus = new Map(
    successes.map(([status, response]) => [status.toUpperCase(), contentSchema(follow(response))]),
  );
  const [[status, schema] = ["200", undefined]] = byStatus;
  return { name, status: status === "2XX" ? 200 : Number(status), schema, byStatus };
}

/** The operations of a document, which are found by the calls of a pack. */
export class DescribedApi {
  readonly values: SchemaValues;
  readonly alternatives: Alternatives;
  readonly reading: SchemaReading;
  readonly #operations = new Map<string, DescribedOperation>();
  /** The segments of the paths of a method, literal ones before parameters. */
  readonly #paths = new Map<
    string,
    { readonly segments: readonly string[]; readonly of: DescribedOperation }[]
  >();
  readonly #base: string;

  /**
   * @param document An OpenAPI 3 document. Its references may be resolved.
   * @param base The prefix of the paths of the pack's calls. The document may have it, in its servers or its paths, or not.
   * @throws {UnreadableDocumentError} If it is no OpenAPI 3 document.
   */
  constructor(document: unknown, base: string) {
    const resolve = createResolve(document);
    this.#base = base;
    this.reading = { resolve, patterns: new BoundedPatterns() };
    this.alternatives = new Alternatives(resolve);
    this.values = new SchemaValues(this.alternatives, this.reading);
    for (const { name, written, operation } of documentOperations(document)) {
      const described = readDescribed(written, operation, resolve);
      for (const each of new Set([name, written].map((text) => this.#withoutBase(text))))
        this.#add(each, described);
    }
  }

  #withoutBase(name: string): string {
    const [method = "", path = ""] = name.split(" ");
    return `${method} ${path.startsWith(`${this.#base}/`) ? path.slice(this.#base.length) : path}`;
  }

  #add(name: string, of: DescribedOperation): void {
    const key = operationKey(name);
    if (this.#operations.has(key)) return;
    this.#operations.set(key, of);
    const [method = "", path = ""] = key.split(" ");
    const paths = this.#paths.get(method) ?? [];
    paths.push({ segments: path.split("/"), of });
    this.#paths.set(method, paths);
  }

  /** The operation of a route or call as the pack writes it: `GET /books/:id`. */
  ofTemplate(name: string): DescribedOperation | undefined {
    return this.#operations.get(operationKey(name.split("?")[0] ?? ""));
  }

  /** The operation of a request; undefined if the document has none. @param path With the prefix, and maybe a query */
  ofRequest(method: string, path: string): DescribedOperation | undefined {
    const [, plain = ""] = this.#withoutBase(`${method} ${path.split("?")[0]}`).split(" ");
    const segments = plain.split("/");
    const fitting = (this.#paths.get(method) ?? []).filter(
      ({ segments: own }) =>
        own.length === segments.length &&
        own.every((each, index) => each.includes("{}") || each === segments[index]),
    );
    const parameters = (own: readonly string[]): number => own.filter((each) => each.includes("{}")).length;
    return fitting.toSorted((one, other) => parameters(one.segments) - parameters(other.segments))[0]?.of;
  }
}
