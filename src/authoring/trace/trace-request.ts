/** Traces a record, a golden case, or a request that is written by hand. */
import { type AuditRecord, serializeRecord } from "../../audit/index.ts";
import { isSuccess, type Pack } from "../../pack/index.ts";
import { parseJson } from "../../base/index.ts";
import { createRecord, type RecordOptions, translatedExchange, type Upstream } from "../../gateway/index.ts";
import {
  bodyOf,
  type CatalogLists,
  compareBodies,
  createCatalogUpstream,
  createDryRun,
  type DryRunOptions,
  type DryRunRequest,
  Replay,
  type ReplayOptions,
} from "../../compare/index.ts";
import type { ExampleResult } from "../examples/compare-example.ts";
import type { Example } from "../examples/example.ts";
import { createExampleRun, runExample } from "../examples/run-examples.ts";
import type { Trace } from "./trace.ts";
import { Tracer } from "./tracer.ts";

/** The options of a trace apart from its pack. */
export interface TraceOptions {
  /** The objects of the upstream's catalogs. */
  readonly catalogs: CatalogLists;
  /** The options of the records of the pack. */
  readonly recordOptions: (pack: Pack) => RecordOptions;
}

/** Makes the record of the only request of a dry run. */
function keepRecord(pack: Pack, { recordOptions }: TraceOptions) {
  let kept: AuditRecord | undefined;
  const options = recordOptions(pack);
  const record: DryRunOptions["record"] = (request, outcome, context) => {
    kept = createRecord(translatedExchange(request, outcome, context), options);
    return undefined;
  };
  const take = (): AuditRecord => {
    if (!kept) throw new Error("The pipeline did not record the request");
    // Bodies are kept as text. A record that was stored has them as values.
    return parseJson(serializeRecord(kept).parts.join("")) as AuditRecord;
  };
  return { record, take };
}

/**
 * Traces a recorded request: it runs again under the pack, with the recorded responses of the upstream. Nothing is sent.
 *
 * @param load Loads the pack.
 */
export async function traceRecord(
  record: AuditRecord,
  load: () => Pack,
  catalogs: Pick<ReplayOptions, "catalogs" | "entries">,
): Promise<Trace> {
  const tracer = new Tracer(load);
  const { lane, alpha } = record;
  if (lane !== "alpha" || alpha.route === null)
    return tracer.describe(record, { evaluations: [], omitted: 0 }, []);
  const replay = new Replay(tracer.pack, catalogs);
  await replay.readCatalogs();
  const { result, evaluated } = await tracer.record(() => replay.respond(record));
  const notes: string[] = [];
  if (record.pack !== undefined && record.pack !== tracer.pack.hash)
    notes.push("The record is of another version of the pack. The trace is of the active one.");
  if (result instanceof Error) notes.push("The request failed when it ran again.");
  else if (result.response.status !== alpha.status)
    notes.push(
      `The status was ${alpha.status} and is ${result.response.status} when the request runs again: bodies that are not recorded, secrets and catalogs are missing.`,
    );
  else if (isSuccess(alpha.status) && alpha.response !== undefined && result.response.file === undefined) {
    const { length } = compareBodies("response", alpha.response, bodyOf(result.response));
    if (length > 0)
      notes.push(
        `The response differs from the recorded one in ${length === 1 ? "a value" : `${length} values`} when the request runs again: secrets and catalogs are not recorded.`,
      );
  }
  return tracer.describe(record, evaluated, notes);
}

/** Traces a golden case. */
export async function traceExample(
  example: Example,
  load: () => Pack,
  options: TraceOptions,
): Promise<{ readonly trace: Trace; readonly result: ExampleResult }> {
  const tracer = new Tracer(load);
  const { record, take } = keepRecord(tracer.pack, options);
  const lists = { ...options.catalogs, ...example.definition.catalogs };
  const run = await createExampleRun(tracer.pack, lists, record);
  const { result, evaluated } = await tracer.record(() => runExample(tracer.pack, run, example));
  run.dryRun.catalogs.stop();
  return { trace: await tracer.describe(take(), evaluated, []), result };
}

/**
 * Traces a request that is written by hand.
 *
 * @param createUpstream Creates the upstream that responds to the request.
 */
export async function traceCall(
  createRequest: (pack: Pack) => DryRunRequest,
  createUpstream: (pack: Pack) => Upstream,
  load: () => Pack,
  options: TraceOptions,
): Promise<Trace> {
  const tracer = new Tracer(load);
  const { pack } = tracer;
  const { record, take } = keepRecord(pack, options);
  const catalogUpstream = createCatalogUpstream(pack, options.catalogs);
  const dryRun = createDryRun(pack, createUpstream(pack), {
    catalogUpstream,
    acceptsUnknownIds: true,
    record,
  });
  await dryRun.catalogs.refresh();
  const { evaluated } = await tracer.record(() => dryRun.send(createRequest(pack)));
  dryRun.catalogs.stop();
  return tracer.describe(take(), evaluated, []);
}
