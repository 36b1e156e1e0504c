import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "../../mapping/load/diagnostic.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { HttpRequest, HttpResponse, Upstream } from "../../upstream/client.ts";
import { fillShape } from "../../dialect/shape.ts";
import { createDryRun, type DryRun, type DryRunResponse } from "../dry-run.ts";
import { splitCall, type Example, type ExampleDefinition, type WrittenCall } from "./example.ts";

type CatalogLists = Readonly<Record<string, readonly unknown[]>>;

const createResponse = (status: number, body: unknown): HttpResponse => ({
  status,
  headers: {},
  text: body === undefined ? "" : JSON.stringify(body),
  ms: 0,
});

/** A catalog as v4 returns it, on one page. */
function createCatalogResponse(lists: CatalogLists, path: string, pack: Pack): HttpResponse {
  const { dialect, lists: shapes } = pack;
  const call = `GET ${path.split("?")[0]?.slice(dialect.upstream.base_path.length)}`;
  const items = lists[call];
  const list = items && fillShape(shapes.upstream, { items, page: 1, pages: 1, total: items.length });
  return list ? createResponse(200, list) : createResponse(404, undefined);
}

/** Catalogs are read without a token. Where no request has a token, they are those that the examples have. */
const isCatalogRequest = ({ headers, path }: HttpRequest, lists: CatalogLists, { dialect }: Pack): boolean =>
  headers["authorization"] === undefined &&
  (dialect.upstream.credentials !== undefined ||
    Object.hasOwn(lists, `GET ${path.split("?")[0]?.slice(dialect.upstream.base_path.length)}`));

/** A request that v4 got, and the index of the expected one that it is compared with; -1 where none is left. */
interface ReceivedCall {
  readonly index: number;
  readonly request: string;
  readonly filter: unknown;
  readonly body: unknown;
}

/** A v4 with the responses of the examples. */
interface ExampleV4 extends Upstream {
  /** Sets the requests of the next example. */
  expect(calls: ExampleDefinition["upstream"]): void;
  /** The requests that the example sent. */
  readonly received: readonly ReceivedCall[];
}

type ExpectedCall = WrittenCall & ExampleDefinition["upstream"][number] & { readonly index: number };

const format = (value: unknown): string => JSON.stringify(value) ?? "nothing";

const lowerCase = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const parseText = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

/** Concurrent requests can come in any order. */
function createExampleV4(pack: Pack, lists: CatalogLists): ExampleV4 {
  const { base_path: prefix, filters } = pack.dialect.upstream;
  const filterHeader = filters?.header?.toLowerCase() ?? "";
  let expected: ExpectedCall[] = [];
  let received: ReceivedCall[] = [];
  return {
    expect(calls) {
      expected = calls.map((call, index) => ({ ...call, ...splitCall(call.request, prefix), index }));
      received = [];
    },
    get received() {
      return received;
    },
    async call(sent) {
      const position = expected.findIndex(({ method, path }) => method === sent.method && path === sent.path);
      if (position < 0 && isCatalogRequest(sent, lists, pack))
        return createCatalogResponse(lists, sent.path, pack);
      const [next] = expected.splice(Math.max(0, position), 1);
      received.push({
        index: next?.index ?? -1,
        request: `${sent.method} ${sent.path}`,
        filter: parseText(sent.headers[filterHeader]),
        body: parseText(sent.body),
      });
      const { status, body, file, headers } = next?.response ?? { status: 200 };
      return {
        ...createResponse(status, body),
        headers: { ...lowerCase(headers), ...(file !== undefined && { "content-type": file }) },
      };
    },
    close: () => Promise.resolve(),
  };
}

/** The members in which two bodies differ. */
function compareBody(actual: unknown, expected: unknown, path = "body"): string[] {
  if (isDeepStrictEqual(actual, expected)) return [];
  const areObjects = [actual, expected].every((value) => typeof value === "object" && value !== null);
  if (!areObjects || Array.isArray(actual) !== Array.isArray(expected))
    return [`${path} is ${format(actual)}, expected ${format(expected)}`];
  const [left, right] = [actual, expected] as Record<string, unknown>[];
  return [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])].flatMap((key) =>
    compareBody(left?.[key], right?.[key], `${path}.${key}`),
  );
}

/** A part of an example that is not as expected. */
export interface ExampleDifference {
  /** Where the part is written, or the nearest place. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The actual value. Without it, the example can't be updated. */
  readonly actual?: unknown;
}

/** An example, and how the pack differs from it. */
export interface ExampleResult {
  readonly example: Example;
  readonly differences: readonly ExampleDifference[];
}

/** The differences of the upstream requests. */
function compareRequests(
  received: readonly ReceivedCall[],
  { upstream }: ExampleDefinition,
  prefix: string,
): ExampleDifference[] {
  const differences = received.flatMap(({ index, ...actual }): ExampleDifference[] => {
    const written = upstream[index];
    if (!written)
      return [{ path: ["upstream"], message: `one more upstream request than expected: ${actual.request}` }];
    const { method, path } = splitCall(written.request, prefix);
    const expected = { request: `${method} ${path}`, filter: written.filter, body: written.body };
    const [actualMethod, actualPath = ""] = actual.request.split(" ");
    const isFull = written.request.includes(` ${prefix}/`);
    const request = isFull ? actual.request : `${actualMethod} ${actualPath.slice(prefix.length)}`;
    return (["request", "filter", "body"] as const).flatMap((part) =>
      isDeepStrictEqual(actual[part], expected[part])
        ? []
        : [
            {
              path: ["upstream", index, part],
              message: `upstream ${part} is ${format(actual[part])}, expected ${format(expected[part])}`,
              actual: part === "request" ? request : actual[part],
            },
          ],
    );
  });
  const missing = upstream.length - received.filter(({ index }) => index >= 0).length;
  if (missing <= 0) return differences;
  return [
    ...differences,
    { path: ["upstream"], message: `${missing} expected upstream requests were not sent` },
  ];
}

/** The differences of the response. A failure of the pack is never expected. */
function compareResponse(
  { response, context }: DryRunResponse,
  { response: expected }: ExampleDefinition,
): ExampleDifference[] {
  const body: unknown =
    expected.file === undefined && response.body !== "" ? JSON.parse(response.body) : undefined;
  const hasFailed = response.status >= 500 && context.warnings.length > 0;
  const path = ["response", "body"];
  if (response.status !== expected.status) {
    const message = `status is ${response.status}, expected ${expected.status}: ${response.body}`;
    return [
      {
        path: ["response", "status"],
        message: [message, ...context.warnings].join("; "),
        ...(!hasFailed && { actual: response.status }),
      },
      ...(hasFailed || isDeepStrictEqual(body, expected.body) ? [] : [{ path, message: "", actual: body }]),
    ];
  }
  if (expected.file !== response.file?.type)
    return [{ path: ["response"], message: `file is ${response.file?.type}, expected ${expected.file}` }];
  if (expected.file !== undefined) return [];
  return compareBody(body, expected.body).map((message) => ({
    path,
    message,
    ...(!hasFailed && { actual: body }),
  }));
}

interface ExampleRun {
  readonly v4: ExampleV4;
  readonly dryRun: DryRun;
}

/** Creates a pipeline whose catalogs are loaded. */
async function createExampleRun(pack: Pack, lists: CatalogLists): Promise<ExampleRun> {
  const v4 = createExampleV4(pack, lists);
  const dryRun = createDryRun(pack, v4);
  await dryRun.catalogs.refresh();
  return { v4, dryRun };
}

/** Runs the examples of a pack through the whole pipeline. */
export async function compareExamples(
  pack: Pack,
  examples: readonly Example[],
  lists: CatalogLists,
): Promise<ExampleResult[]> {
  const { client, upstream } = pack.dialect;
  const results: ExampleResult[] = [];
  const shared = await createExampleRun(pack, lists);
  for (const example of examples) {
    const { definition } = example;
    const { catalogs } = definition;
    const { v4, dryRun } = catalogs ? await createExampleRun(pack, { ...lists, ...catalogs }) : shared;
    v4.expect(definition.upstream);
    const response = await dryRun.send({
      ...splitCall(definition.request, client.base_path),
      ...(definition.headers && { headers: definition.headers }),
      body: definition.body,
      file: definition.file,
    });
    results.push({
      example,
      differences: [
        ...compareRequests(v4.received, definition, upstream.base_path),
        ...compareResponse(response, definition),
      ],
    });
    if (catalogs) dryRun.catalogs.stop();
  }
  shared.dryRun.catalogs.stop();
  return results;
}

/** Runs the examples of a pack. @returns what differs, with the location in the example */
export async function runExamples(
  pack: Pack,
  examples: readonly Example[],
  lists: CatalogLists,
): Promise<Diagnostic[]> {
  const results = await compareExamples(pack, examples, lists);
  return results.flatMap(({ example, differences }) =>
    differences
      .filter(({ message }) => message !== "")
      .map(({ path, message }) => example.source.diagnosticAt(path, message)),
  );
}
