/** One route with one request, for which responses of the upstream are tried. */
import { generateSync } from "json-schema-faker";
import { isObject } from "../../base/index.ts";
import { type Catalog, compileGetter, compileSetter, type Pack, type Route } from "../../pack/index.ts";
import type { DryRun, DryRunRequest } from "../../compare/index.ts";
import { type Example, splitCall, sentHeaders } from "../examples/example.ts";
import { ANSWER, type AnswerNode } from "./answer-tree.ts";
import { findMismatches, type Mismatch, type Patterns } from "./check-answer.ts";
import {
  callsOf,
  type Change,
  type DescribedOperation,
  type DescribedUpstream,
} from "./described-upstream.ts";

/** The client's response. */
interface TrialResult {
  readonly status: number;
  readonly body: unknown;
  readonly mismatches: readonly Mismatch[];
}

/** The pipeline of a pack, with an upstream that responds according to its document. */
export interface Pipeline {
  readonly pack: Pack;
  readonly upstream: DescribedUpstream;
  readonly dryRun: DryRun;
  readonly patterns: Patterns;
}

/** A request in the form of a golden case. */
interface WrittenRequest extends Pick<DryRunRequest, "headers" | "body"> {
  readonly request: string;
}

/** Generates the request of a route without a golden case. */
function generateRequest({ name, pathParameters, body }: Route): WrittenRequest {
  const valueOf = (type = "text"): string => {
    if (type === "ip6") return "2001:db8::1";
    return type.startsWith("ip") ? "192.0.2.1" : "1";
  };
  const request = name.replaceAll(/:(\w+)|\{(\w+)\}/g, (_all, one?: string, other?: string) =>
    valueOf(pathParameters[one ?? other ?? ""]?.type),
  );
  return { request, ...(body && { body: generateSync(body.schema) }) };
}

/**
 * Returns the simplest successful request in a golden case, or a generated one. Other requests may select a page or a
 * part of a list.
 */
function findRequest(route: Route, examples: readonly Example[]): WrittenRequest {
  const sizeOf = ({ request, headers = {} }: WrittenRequest) =>
    request.length + JSON.stringify(headers).length;
  const [plainest = generateRequest(route)] = examples
    .map(({ definition }) => definition)
    .filter(({ file }) => file === undefined)
    .filter((each) => [each, ...each.upstream].every(({ response }) => response.status < 300))
    .map((definition): WrittenRequest => {
      const { request, body } = definition;
      return {
        request,
        ...(definition.headers && { headers: sentHeaders(definition) }),
        ...(body !== undefined && { body }),
      };
    })
    .toSorted((one, other) => sizeOf(one) - sizeOf(other));
  return plainest;
}

/** Parses a JSON body; returns any other body as text. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

type Condition = Readonly<Record<string, unknown>>;

/** Returns the values that a condition allows for members of items, if it tests for equality. */
const allowedBy = (where: Condition): (readonly [path: string, value: unknown])[] =>
  Object.entries(where).flatMap(([key, value]) => {
    if (Array.isArray(value)) return value.filter(isObject).flatMap(allowedBy);
    return isObject(value) ? [] : [[key, value] as const];
  });

/** Returns a copy of an item with values that its list's condition allows: the upstream omits all other items. */
function fitItem(item: unknown, where: Condition): unknown {
  const fitted = structuredClone(item);
  if (!isObject(fitted)) return fitted;
  for (const [path, allowed] of Map.groupBy(allowedBy(where), ([name]) => name)) {
    const values = allowed.map(([, value]) => value);
    if (!values.includes(compileGetter(path)(fitted) ?? null)) compileSetter(path)(fitted, values[0]);
  }
  return fitted;
}

/** A route with a request. */
export class RouteTrial {
  readonly route: Route;
  /** The description of the response in the client's document. */
  readonly described: ReadonlyMap<string, AnswerNode>;
  readonly pipeline: Pipeline;
  readonly request: WrittenRequest;
  /** The operations that the route calls. */
  readonly operations: readonly DescribedOperation[];

  constructor(
    route: Route,
    described: RouteTrial["described"],
    examples: readonly Example[],
    pipeline: Pipeline,
  ) {
    this.route = route;
    this.described = described;
    this.pipeline = pipeline;
    this.request = findRequest(route, examples);
    const { operations } = pipeline.upstream;
    this.operations = [...new Set(callsOf(route))].flatMap((key) => operations.get(key) ?? []);
  }

  /** The catalog that contains its objects; undefined if they are read by a call. */
  get catalog(): Catalog | undefined {
    return "catalog" in this.route.source ? this.route.source.catalog : undefined;
  }

  get changes(): Change[] {
    return this.operations.flatMap(({ changes }) => changes);
  }

  /**
   * Sends the request and checks the response. A failure of the pack is a mismatch of the whole answer.
   *
   * @param changes the changes of the usual responses of the upstream
   */
  async run(changes: readonly Change[]): Promise<TrialResult> {
    const { upstream, dryRun, pack, patterns } = this.pipeline;
    const { where } = this.route;
    upstream.changes = changes;
    upstream.fit = (item) => (where ? fitItem(item, where) : item);
    upstream.received = [];
    if (this.catalog) await dryRun.catalogs.refresh();
    const failed = this.catalog && [...dryRun.catalogs.leftOut().values()][0]?.message;
    const { request, ...others } = this.request;
    const { response } = await dryRun.send({
      ...splitCall(request, pack.dialect.client.base_path),
      ...others,
    });
    const { status } = response;
    if (failed !== undefined || status >= 500) {
      const actual = failed ?? status;
      const mismatch = { place: ANSWER, actual, expected: "an answer: an expression fails" };
      return { status, body: undefined, mismatches: [mismatch] };
    }
    if (status >= 300) return { status, body: undefined, mismatches: [] };
    const body = jsonOrText(response.body);
    return { status, body, mismatches: findMismatches(body, this.described, patterns) };
  }
}
