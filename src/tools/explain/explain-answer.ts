import type { AuditRecord, RecordedCall } from "../../audit/record.ts";
import { isObject } from "../../dialect/json/parse.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Route } from "../../mapping/compile/route.ts";
import type { ExplainedField } from "./explanation.ts";
import { explainObject, type ObjectPair, type FieldSources } from "./explain-object.ts";
import { recordedCallOf, isTruncated, callName } from "./recorded.ts";

/** Fields of an answer, or why they can't be told. */
export interface ExplainedResponse {
  readonly fields: readonly ExplainedField[];
  readonly note: string | null;
}

const untold = (note: string): ExplainedResponse => ({ fields: [], note });

/** The call that the answer was made from. */
function originOf(record: AuditRecord, route: Route, pack: Pack): RecordedCall | undefined {
  const shows = route.readRoute === undefined ? undefined : pack.route(route.readRoute);
  // An edit that left nothing to write became the read of what it shows.
  const endpoints = [route.readAfterWrite?.endpoint, ...[route, shows].map(callEndpoint)];
  for (const endpoint of endpoints) {
    const call = endpoint && recordedCallOf(record, endpoint);
    if (call) return call;
  }
  return undefined;
}

const callEndpoint = (route: Route | undefined) =>
  route && "call" in route.source ? route.source.call : undefined;

function sourcesOf(record: AuditRecord, route: Route, pack: Pack): FieldSources {
  const besides = route.related.flatMap(({ name, endpoint }) => {
    const call = recordedCallOf(record, endpoint);
    return call ? [[name, { call: callName(call), value: call.response }] as const] : [];
  });
  return { resources: pack.resources, besides: new Map(besides) };
}

const rows = (body: unknown, name: string): unknown[] => {
  const list = isObject(body) ? body[name] : undefined;
  return Array.isArray(list) ? list : [];
};

const COUNTS = ["page", "pages", "results"] as const;

const memberOf = (body: unknown, name: string): unknown => (isObject(body) ? body[name] : undefined);

/** The members beside the rows of a list that v4 gave. */
function envelope(response: unknown, call: RecordedCall, pack: Pack): ExplainedField[] {
  const { alpha, v4 } = pack.dialect;
  return COUNTS.map((count) => {
    const [field, origin] = [alpha.envelope[count], v4.envelope[count]];
    return {
      field,
      class: field === origin ? "same" : "renamed",
      value: memberOf(response, field),
      v4: { call: callName(call), field: origin, value: memberOf(call.response, origin) },
      rule: field === origin ? "as v4 has it" : `from ${origin}`,
      loss: null,
    };
  });
}

/** The same of a list that the gateway pages itself. */
function ownEnvelope(response: unknown, pack: Pack): ExplainedField[] {
  return COUNTS.map((count) => {
    const field = pack.dialect.alpha.envelope[count];
    const value = memberOf(response, field);
    const v4 = { call: null, field: null };
    return { field, class: "derived", value, v4, rule: "counted by the gateway", loss: null };
  });
}

/** Objects that the gateway picked by itself, out of a catalog or out of several pages: v4's side of each is not known. */
async function pickedByGateway(
  record: AuditRecord,
  route: Route,
  pack: Pack,
  { call, note }: { readonly call: string; readonly note: string },
): Promise<ExplainedResponse> {
  const { response } = record.alpha;
  const list = route.response === "list";
  const objects = list ? rows(response, route.list) : [response];
  const sources = sourcesOf(record, route, pack);
  const fields = await Promise.all(
    objects.map(async (alpha, row) => {
      const at = list ? `${route.list}[${row}]` : "";
      const pair: ObjectPair = { at, alpha, v4: undefined, from: { call, at: "" } };
      return explainObject(await route.resourceFor(undefined), pair, sources);
    }),
  );
  return { fields: list ? [...fields.flat(), ...ownEnvelope(response, pack)] : fields.flat(), note };
}

function fromCatalog(
  record: AuditRecord,
  route: Route,
  pack: Pack,
): Promise<ExplainedResponse> | ExplainedResponse {
  if (!("catalog" in route.source)) return untold("The record shows no call that this answer was made from.");
  const [first] = route.source.catalog.calls;
  return pickedByGateway(record, route, pack, {
    call: `GET ${pack.dialect.v4.prefix}${first?.path ?? ""}`,
    note: "Answered from the gateway's copy of the catalog: what v4 had is not in the record.",
  });
}

/** Explains a recorded success. */
export async function explainResponse(
  record: AuditRecord,
  route: Route,
  pack: Pack,
): Promise<ExplainedResponse> {
  const { response } = record.alpha;
  if (response === undefined) return untold("Bodies are not recorded (AUDIT=metadata).");
  if (isTruncated(response))
    return untold("The answer was too long to be recorded whole (AUDIT_BODY_LIMIT).");
  if (route.response === "file") return untold("A file went through as it was.");
  if (route.response === "nothing") return untold("An answer of this route has no members.");
  const call = originOf(record, route, pack);
  if (!call) return fromCatalog(record, route, pack);
  if (route.aggregation) {
    const note = "The gateway read v4's pages and picked the rows of this one itself.";
    return pickedByGateway(record, route, pack, { call: callName(call), note });
  }
  if (isTruncated(call.response))
    return untold("v4's answer was too long to be recorded whole (AUDIT_BODY_LIMIT).");

  const sources = sourcesOf(record, route, pack);
  const explain = async (pair: ObjectPair) => explainObject(await route.resourceFor(pair.v4), pair, sources);
  const name = callName(call);
  if (route.response === "object") {
    const pair: ObjectPair = { at: "", alpha: response, v4: call.response, from: { call: name, at: "" } };
    return { fields: await explain(pair), note: null };
  }
  const { items } = pack.dialect.v4.envelope;
  const given = rows(call.response, items);
  const pairs = rows(response, route.list).map((alpha, row): ObjectPair => ({
    at: `${route.list}[${row}]`,
    alpha,
    v4: given[row],
    from: { call: name, at: `${items}[${row}]` },
  }));
  const fields = await Promise.all(pairs.map(explain));
  return { fields: [...fields.flat(), ...envelope(response, call, pack)], note: null };
}
