/** Traces a record, a golden case, or a manually written request. */
import { type AuditRecord, serializeRecord } from "../../audit/index.ts";
import { isSuccess, type Pack } from "../../pack/index.ts";
import { parseJson, plural } from "../../base/index.ts";
import { createRecord, createRecordOptions, translatedExchange, type Upstream } from "../../gateway/index.ts";
import {
  bodyOf,
  type CatalogLists,
  compareBodies,
  createCatalogUpstream,
  createDryRun,
  type DryRunOptions,
  type DryRunRequest,
  type DryRunResponse,
  Replay,
  type ReplayOptions,
} from "../../compare/index.ts";
import type { ExampleResult } from "../examples/compare-example.ts";
import type { Example } from "../examples/example.ts";
import { createExampleRun, runExample } from "../examples/run-examples.ts";
import type { Trace } from "./trace.ts";
import { Tracer } from "./tracer.ts";

/** Maximum size of a body in the record for a trace in bytes. The record is not stored. */
const BODY_LIMIT = 10_000_000;

/** Creates the record of the only request of a dry run. */
function keepRecord(pack: Pack) {
  let kept: AuditRecord | undefined;
  const options = createRecordOptions(pack, { AUDIT: "full", AUDIT_BODY_LIMIT: BODY_LIMIT });
  const record: DryRunOptions["record"] = (request, outcome, context) => {
    kept = createRecord(translatedExchange(request, outcome, context), options);
    return undefined;
  };
  const take = (): AuditRecord => {
    if (!kept) throw new Error("The pipeline did not record the request");
    // Bodies are kept as text. In a stored record, they are values.
    return parseJson(serializeRecord(kept).parts.join("")) as AuditRecord;
  };
  return { record, take };
}

/** Returns notes about the response of a record that was run again. */
function compareWithRecord(
  { alpha, pack: hash }: AuditRecord,
  result: DryRunResponse | Error,
  pack: Pack,
): string[] {
  const notes: string[] = [];
  if (hash !== undefined && hash !== pack.hash)
    notes.push("The record is of another version of the pack. The trace is of the active one.");
  if (result instanceof Error) return [...notes, "The request failed when it ran again."];
  const { status, file } = result.response;
  if (status !== alpha.status)
    notes.push(
      `The status was ${alpha.status} and is ${status} when the request runs again: bodies that are not recorded, secrets and catalogs are missing.`,
    );
  else if (isSuccess(status) && alpha.response !== undefined && file === undefined) {
    const { length } = compareBodies("response", alpha.response, bodyOf(result.response));
    if (length > 0)
      notes.push(
        `The response differs from the recorded one in ${plural(length, "value")} when the request runs again: secrets and catalogs are not recorded.`,
      );
  }
  return notes;
}

/**
 * Traces a recorded request: it runs again under the pack, with the recorded responses of the upstream. Nothing is
 * sent.
 *
 * @param load loads the pack
 */
export async function traceRecord(
  record: AuditRecord,
  load: () => Pack,
  catalogs: Pick<ReplayOptions, "catalogs" | "entries">,
): Promise<Trace> {
  const tracer = new Tracer(load);
  if (record.lane !== "alpha" || record.alpha.route === null)
    return tracer.describe(record, { expressions: [], omitted: 0, isCut: false }, []);
  const replay = new Replay(tracer.pack, catalogs);
  await replay.readCatalogs();
  const { result, evaluated } = await tracer.record(() => replay.respond(record));
  return tracer.describe(record, evaluated, compareWithRecord(record, result, tracer.pack));
}

/** Traces a golden case. @param lists The objects of the upstream's catalogs */
export async function traceExample(
  example: Example,
  load: () => Pack,
  lists: CatalogLists,
): Promise<{ readonly trace: Trace; readonly result: ExampleResult }> {
  const tracer = new Tracer(load);
  const { record, take } = keepRecord(tracer.pack);
  const run = await createExampleRun(tracer.pack, { ...lists, ...example.definition.catalogs }, record);
  const { result, evaluated } = await tracer.record(() => runExample(tracer.pack, run, example));
  run.dryRun.catalogs.stop();
  return { trace: await tracer.describe(take(), evaluated, []), result };
}

/**
 * Traces a manually written request.
 *
 * @param createUpstream Creates the upstream that responds to the request.
 * @param lists The objects of the upstream's catalogs.
 */
export async function traceCall(
  createRequest: (pack: Pack) => DryRunRequest,
  createUpstream: (pack: Pack) => Upstream,
  load: () => Pack,
  lists: CatalogLists,
): Promise<Trace> {
  const tracer = new Tracer(load);
  const { pack } = tracer;
  const { record, take } = keepRecord(pack);
  const catalogUpstream = createCatalogUpstream(pack, lists);
  const options = { catalogUpstream, acceptsUnknownIds: true, record };
  const dryRun = createDryRun(pack, createUpstream(pack), options);
  await dryRun.catalogs.refresh();
  const { evaluated } = await tracer.record(() => dryRun.send(createRequest(pack)));
  dryRun.catalogs.stop();
  return tracer.describe(take(), evaluated, []);
}
