import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "../../mapping/load/diagnostic.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { HttpRequest, HttpResponse, Upstream } from "../../upstream/client.ts";
import { fillShape } from "../../dialect/shape.ts";
import { createDryRun, type DryRun } from "../dry-run.ts";
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

/** A v4 with the responses of the examples. */
interface ExampleV4 extends Upstream {
  /** Sets the requests of the next example. */
  expect(calls: ExampleDefinition["upstream"], onMismatch: (message: string) => void): void;
  /** The number of expected requests that were not sent. */
  missingCount(): number;
}

type ExpectedCall = WrittenCall & ExampleDefinition["upstream"][number];

const lowerCase = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const format = (value: unknown): string => JSON.stringify(value) ?? "nothing";

function compareRequest(
  sent: HttpRequest,
  expected: ExpectedCall,
  filterHeader: string | undefined,
): string[] {
  const filter = filterHeader === undefined ? undefined : sent.headers[filterHeader.toLowerCase()];
  const actualParts = {
    request: `${sent.method} ${sent.path}`,
    filter: filter === undefined ? undefined : (JSON.parse(filter) as unknown),
    body: sent.body === undefined ? undefined : (JSON.parse(sent.body) as unknown),
  };
  const expectedParts = {
    request: `${expected.method} ${expected.path}`,
    filter: expected.filter,
    body: expected.body,
  };
  return (["request", "filter", "body"] as const).flatMap((part) =>
    isDeepStrictEqual(actualParts[part], expectedParts[part])
      ? []
      : [`upstream ${part} is ${format(actualParts[part])}, expected ${format(expectedParts[part])}`],
  );
}

/** Concurrent requests can come in any order. */
function createExampleV4(pack: Pack, lists: CatalogLists): ExampleV4 {
  const { base_path: prefix, filters } = pack.dialect.upstream;
  let expected: ExpectedCall[] = [];
  let report: (message: string) => void = () => undefined;
  return {
    expect(calls, onMismatch) {
      expected = calls.map((call) => ({ ...call, ...splitCall(call.request, prefix) }));
      report = onMismatch;
    },
    missingCount: () => expected.length,
    async call(sent) {
      if (sent.headers["authorization"] === undefined) return createCatalogResponse(lists, sent.path, pack);
      const index = expected.findIndex(({ method, path }) => method === sent.method && path === sent.path);
      const [next] = expected.splice(Math.max(0, index), 1);
      if (!next) report(`one more upstream request than expected: ${sent.method} ${sent.path}`);
      else for (const message of compareRequest(sent, next, filters?.header)) report(message);
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

/** Runs the examples of a pack through the whole pipeline. @returns what differs, with the location in the example */
export async function runExamples(
  pack: Pack,
  examples: readonly Example[],
  lists: CatalogLists,
): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  const shared = await createExampleRun(pack, lists);
  for (const { source, definition } of examples) {
    const { catalogs } = definition;
    const { v4, dryRun } = catalogs ? await createExampleRun(pack, { ...lists, ...catalogs }) : shared;
    const report = (message: string, path: PropertyKey[] = ["upstream"]) =>
      void diagnostics.push(source.diagnosticAt(path, message));
    v4.expect(definition.upstream, report);
    const { response, context } = await dryRun.send({
      ...splitCall(definition.request, pack.dialect.client.base_path),
      ...(definition.headers && { headers: definition.headers }),
      body: definition.body,
      file: definition.file,
    });
    if (v4.missingCount() > 0) report(`${v4.missingCount()} expected upstream requests were not sent`);
    const { status, body, file } = definition.response;
    if (response.status !== status)
      report(
        [`status is ${response.status}, expected ${status}: ${response.body}`, ...context.warnings].join(
          "; ",
        ),
        ["response", "status"],
      );
    else if (file !== response.file?.type)
      report(`file is ${response.file?.type}, expected ${file}`, ["response"]);
    else if (!file)
      for (const message of compareBody(JSON.parse(response.body), body))
        report(message, ["response", "body"]);
    if (catalogs) dryRun.catalogs.stop();
  }
  shared.dryRun.catalogs.stop();
  return diagnostics;
}
