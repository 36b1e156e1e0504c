import { join } from "node:path";
import { type Diagnostic, suggestionFor } from "../../base/index.ts";
import { addQuery, type Pack } from "../../pack/index.ts";
import type { Upstream } from "../../gateway/index.ts";
import {
  type CatalogLists,
  catalogShapes,
  createCatalogUpstream,
  createDryRun,
  type DryRun,
  type DryRunOptions,
  type DryRunResponse,
  isJsonType,
} from "../../compare/index.ts";
import {
  compareRequests,
  compareResponse,
  type ExampleDifference,
  type ExampleResult,
  type ReceivedCall,
} from "./compare-example.ts";
import {
  sentHeaders,
  splitCall,
  type Example,
  type ExampleDefinition,
  type Examples,
  type WrittenCall,
} from "./example.ts";

/** An upstream that returns the responses of the examples. */
interface ExampleV4 extends Upstream {
  /** Sets the requests of the next example. */
  expect(calls: ExampleDefinition["upstream"]): void;
  /** The requests that the example has sent. */
  readonly received: readonly ReceivedCall[];
}

type ExpectedCall = WrittenCall & ExampleDefinition["upstream"][number] & { readonly index: number };

const lowerCaseNames = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const parseText = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

/** Returns the text of a body: JSON, or the text itself for other media types. */
function textOf(body: unknown, type: string | undefined): string {
  if (typeof body === "string" && !isJsonType(type)) return body;
  return body === undefined ? "" : JSON.stringify(body);
}

/** Creates the upstream. Concurrent requests can arrive in any order. */
function createExampleV4(pack: Pack): ExampleV4 {
  const { base_path: prefix, filters } = pack.dialect.upstream;
  const filterHeader = filters?.header?.toLowerCase() ?? "";
  let expected: ExpectedCall[] = [];
  let received: ReceivedCall[] = [];
  let unexpected = 0;
  return {
    expect(calls) {
      expected = calls.map((call, index) => ({ ...call, ...splitCall(call.request, prefix), index }));
      received = [];
      unexpected = 0;
    },
    // Unexpected requests are compared with expected requests that were not sent.
    get received() {
      const rest = expected.map(({ index }) => index);
      return received.map((each) => (each.index < 0 ? { ...each, index: rest.shift() ?? -1 } : each));
    },
    async call({ method, path, secretQuery = "", headers: sent, body: text }) {
      const fullPath = addQuery(path, secretQuery);
      const position = expected.findIndex(
        (call) => call.method === method && (call.path === path || call.path === fullPath),
      );
      const next = expected[position < 0 ? unexpected : position];
      if (position < 0) unexpected += 1;
      else expected.splice(position, 1);
      received.push({
        index: position < 0 ? -1 : (next?.index ?? -1),
        // A golden case may contain the parameter with the token.
        request: `${method} ${next?.path === fullPath ? fullPath : path}`,
        headers: sent,
        filter: parseText(sent[filterHeader]),
        body: isJsonType(sent["content-type"]) ? parseText(text) : text,
      });
      const { status, body, file, headers } = next?.response ?? { status: 200 };
      const all = { ...lowerCaseNames(headers), ...(file !== undefined && { "content-type": file }) };
      const bytes = Buffer.from(textOf(body, all["content-type"]));
      return { status, headers: all, bytes, ms: 0 };
    },
    close: () => Promise.resolve(),
  };
}

/** A pipeline that runs examples. */
export interface ExampleRun {
  readonly v4: ExampleV4;
  readonly dryRun: DryRun;
}

/** Creates a pipeline whose catalogs are loaded. @param record called at the end of each example */
export async function createExampleRun(
  pack: Pack,
  lists: CatalogLists,
  record?: DryRunOptions["record"],
): Promise<ExampleRun> {
  const v4 = createExampleV4(pack);
  const catalogUpstream = createCatalogUpstream(pack, lists);
  const dryRun = createDryRun(pack, v4, { catalogUpstream, ...(record && { record }) });
  await dryRun.catalogs.refresh();
  return { v4, dryRun };
}

/** Whether a golden case sets a header of the token to null, so that no token is added. */
function lacksToken({ headers = {} }: ExampleDefinition, { credentials }: Pack): boolean {
  const names = new Set(credentials.client?.headers.map((name) => name.toLowerCase()));
  return Object.entries(headers).some(([name, value]) => value === null && names.has(name.toLowerCase()));
}

/**
 * Marks a difference of the response that was caused by a wrong upstream request. A different status is never a
 * consequence.
 */
const asConsequence = (difference: ExampleDifference): ExampleDifference =>
  difference.path.at(-1) === "status" ? difference : { ...difference, isConsequence: true };

/** Sends the request of an example through the whole pipeline. */
export function sendExample(
  pack: Pack,
  { v4, dryRun }: ExampleRun,
  definition: ExampleDefinition,
): Promise<DryRunResponse> {
  v4.expect(definition.upstream);
  return dryRun.send({
    ...splitCall(definition.request, pack.dialect.client.base_path),
    headers: sentHeaders(definition),
    isAnonymous: lacksToken(definition, pack),
    body: definition.body,
    file: definition.file,
    ...(definition.now !== undefined && { time: new Date(definition.now) }),
  });
}

/** Runs an example, and compares the results with its expectations. */
export async function runExample(pack: Pack, run: ExampleRun, example: Example): Promise<ExampleResult> {
  const { definition } = example;
  const response = await sendExample(pack, run, definition);
  const requests = compareRequests(run.v4.received, definition, pack.dialect.upstream.base_path);
  const answer = compareResponse(response, definition);
  return {
    example,
    route: response.context.match?.route,
    differences: [...requests, ...(requests.length > 0 ? answer.map(asConsequence) : answer)],
  };
}

/** Runs the examples of a pack. */
export async function compareExamples(
  pack: Pack,
  examples: readonly Example[],
  lists: CatalogLists,
): Promise<ExampleResult[]> {
  const results: ExampleResult[] = [];
  const shared = await createExampleRun(pack, lists);
  for (const example of examples) {
    const { catalogs } = example.definition;
    const run = catalogs ? await createExampleRun(pack, { ...lists, ...catalogs }) : shared;
    results.push(await runExample(pack, run, example));
    if (catalogs) run.dryRun.catalogs.stop();
  }
  shared.dryRun.catalogs.stop();
  return results;
}

/** Returns the differences, with their locations in the example. */
export const diagnosticsOf = (results: readonly ExampleResult[]): Diagnostic[] =>
  results.flatMap(({ example, differences }) =>
    differences
      .filter(({ isConsequence }) => !isConsequence)
      .map(({ path, message }) => example.source.diagnosticAt(path, { message, code: "golden-case" })),
  );

/** Reports lists in `catalogs.yaml` and in examples that no catalog reads. */
export function findUnknownLists(pack: Pack, { examples, catalogs, catalogsFile }: Examples): Diagnostic[] {
  const known = [...catalogShapes(pack).keys()];
  const inFile = catalogsFile ? [{ lists: catalogs, source: catalogsFile, path: [] }] : [];
  const inExamples = examples.map(({ definition, source }) => ({
    lists: definition.catalogs ?? {},
    source,
    path: ["catalogs"],
  }));
  return [...inFile, ...inExamples].flatMap(({ lists, source, path }) =>
    Object.keys(lists)
      .filter((request) => !known.includes(request))
      .map((request) =>
        source.keyDiagnosticAt([...path, request], {
          message: `no catalog is read by "${request}"`,
          code: "unknown-reference",
          hint: suggestionFor(request, known),
        }),
      ),
  );
}

/**
 * Reports rows of catalogs that have no id, or on which an expression of the pack fails, in `examples/catalogs.yaml`
 * and in examples.
 */
export async function findLeftOutRows(
  pack: Pack,
  directory: string,
  examples: readonly Example[],
  lists: CatalogLists,
): Promise<Diagnostic[]> {
  const ofExamples = examples.flatMap(({ definition: { catalogs } }) => (catalogs ? [catalogs] : []));
  const diagnostics = new Map<string, Diagnostic>();
  for (const catalogs of [{}, ...ofExamples]) {
    const { dryRun } = await createExampleRun(pack, { ...lists, ...catalogs });
    for (const [name, { id, ...row }] of dryRun.catalogs.leftOut()) {
      const [file = "", line] = row.place.split(":");
      const which = id === "" ? "a row" : `its row "${id}"`;
      const message = `the catalog "${name}" leaves out ${which}: ${row.message}`;
      const place = { file: join(directory, file), line: Number(line ?? 1), column: 1 };
      diagnostics.set(message, { ...place, code: "catalog-row", message });
    }
    dryRun.catalogs.stop();
  }
  return [...diagnostics.values()];
}
