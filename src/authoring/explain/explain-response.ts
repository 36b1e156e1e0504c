/** The fields of a recorded response, each with its source. */
import { type AuditRecord, isTruncated, type RecordedCall } from "../../audit/index.ts";
import {
  dottedPath,
  type Pack,
  parseQuery,
  type Route,
  type RouteCall,
  type Scope,
  valueAt,
} from "../../pack/index.ts";
import { callName, type ExplainedField, findRecordedCall } from "../../compare/index.ts";
import { explainEnvelope, explainGatewayEnvelope, readRows } from "./explain-list.ts";
import { explainObject, type FieldSources, type ObjectPair } from "./explain-object.ts";

/** The fields of a response, or why they are not explained. */
export interface ExplainedResponse {
  readonly fields: readonly ExplainedField[];
  readonly note: string | null;
}

const unexplained = (note: string): ExplainedResponse => ({ fields: [], note });

/** The last call after the main one whose response becomes the route's. Undefined without one. */
const lastAnswerOf = ({ calls }: Route): RouteCall | undefined =>
  calls.findLast(({ place, use }) => place === "after" && use === "answer");

/** Finds the v4 request whose response became the alpha response. */
export function findOrigin(record: AuditRecord, route: Route, pack: Pack): RecordedCall | undefined {
  const readRoute = route.readRoute === undefined ? undefined : pack.route(route.readRoute);
  // An edit without anything to write becomes a read of the object.
  const endpoints = [lastAnswerOf(route)?.endpoint, ...[route, readRoute].map(callEndpoint)];
  for (const endpoint of endpoints) {
    const call = endpoint && findRecordedCall(record, endpoint);
    if (call) return call;
  }
  return undefined;
}

const callEndpoint = (route: Route | undefined) =>
  route && "call" in route.source ? route.source.call : undefined;

function findSources(record: AuditRecord, route: Route, pack: Pack): FieldSources {
  const related = route.calls.flatMap(({ name, endpoint, use }) => {
    const call = use === "fields" ? findRecordedCall(record, endpoint) : undefined;
    return call ? [[name, { call: callName(call), value: call.response }] as const] : [];
  });
  return { resources: pack.resources, related: new Map(related), losses: record.losses };
}

/** The variables of expressions of a recorded request. Its headers are not recorded. */
const scopeOf = ({ alpha, time }: AuditRecord, route: Route): Scope => ({
  head: {
    query: route.query.withDefaults(parseQuery(alpha.query)),
    request: { headers: {} },
    match: { parameters: {} },
    time: new Date(time),
  },
  body: alpha.body,
  calls: {},
});

/** Explains objects that the gateway selected from a catalog or from several pages. Their v4 objects are unknown. */
async function explainSelected(
  record: AuditRecord,
  route: Route,
  pack: Pack,
  { call, note }: { readonly call: string; readonly note: string },
): Promise<ExplainedResponse> {
  const { response } = record.alpha;
  const isList = route.response === "list";
  const itemsPath = dottedPath(route.lists.envelope.client.list, "items") ?? "";
  const objects = isList ? readRows(response, itemsPath) : [response];
  const wrapper = route.clientPath;
  const sources = findSources(record, route, pack);
  const fields = await Promise.all(
    objects.map(async (alpha, row) => {
      const at = [...(isList ? [`${itemsPath}[${row}]`] : []), ...wrapper].join(".");
      const pair: ObjectPair = {
        at,
        alpha: valueAt(alpha, wrapper),
        v4: undefined,
        from: { call, at: "" },
      };
      return explainObject(await route.resourceFor(undefined, scopeOf(record, route)), pair, sources);
    }),
  );
  return {
    fields: isList ? [...fields.flat(), ...explainGatewayEnvelope(response, route)] : fields.flat(),
    note,
  };
}

function explainCatalogResponse(
  record: AuditRecord,
  route: Route,
  pack: Pack,
): Promise<ExplainedResponse> | ExplainedResponse {
  if (!("catalog" in route.source))
    return unexplained("The record has no upstream request that this response comes from.");
  const [first] = route.source.catalog.calls;
  return explainSelected(record, route, pack, {
    call: `GET ${pack.dialect.upstream.base_path}${first?.path ?? ""}`,
    note: "The response comes from the catalog cache. The record does not have the upstream objects.",
  });
}

/** Explains a recorded response with status 200. */
export async function explainResponse(
  record: AuditRecord,
  route: Route,
  pack: Pack,
): Promise<ExplainedResponse> {
  const { response } = record.alpha;
  if (response === undefined) return unexplained("Bodies are not recorded (AUDIT=metadata).");
  if (isTruncated(response))
    return unexplained("The response was too long to be recorded completely (AUDIT_BODY_LIMIT).");
  if (route.response === "file") return unexplained("The response is a file, which was forwarded unchanged.");
  if (route.response === "none") return unexplained("The responses of this route have no members.");
  if (route.kind === "bulk")
    return unexplained("The response has the results of a call for each id. The record has their responses.");
  if (lastAnswerOf(route)?.repeats)
    return unexplained("The response is the result of an operation, which the gateway polled.");
  const call = findOrigin(record, route, pack);
  if (!call) return explainCatalogResponse(record, route, pack);
  if (route.kind === "aggregated") {
    const note = "The gateway read several pages of the upstream and selected the rows of this page.";
    return explainSelected(record, route, pack, { call: callName(call), note });
  }
  if (isTruncated(call.response))
    return unexplained(
      "The response of the upstream was too long to be recorded completely (AUDIT_BODY_LIMIT).",
    );

  const sources = findSources(record, route, pack);
  const scope = scopeOf(record, route);
  const explain = async (pair: ObjectPair) =>
    explainObject(await route.resourceFor(pair.v4, scope), pair, sources);
  const name = callName(call);
  const { clientPath, upstreamPath } = route;
  if (route.response === "object") {
    const pair: ObjectPair = {
      at: clientPath.join("."),
      alpha: valueAt(response, clientPath),
      v4: valueAt(call.response, upstreamPath),
      from: { call: name, at: upstreamPath.join(".") },
    };
    return { fields: await explain(pair), note: null };
  }
  const items = dottedPath(route.lists.envelope.upstream.list, "items") ?? "";
  const clientItems = dottedPath(route.lists.envelope.client.list, "items") ?? "";
  const v4Rows = readRows(call.response, items);
  const rows = readRows(response, clientItems);
  if (route.kind === "paged" && v4Rows.length !== rows.length) {
    const note = "The pages of v4 have other rows than this page: the gateway read one or more of them.";
    return explainSelected(record, route, pack, { call: name, note });
  }
  const pairs = rows.map((alpha, row): ObjectPair => ({
    at: [`${clientItems}[${row}]`, ...clientPath].join("."),
    alpha: valueAt(alpha, clientPath),
    v4: valueAt(v4Rows[row], upstreamPath),
    from: { call: name, at: [`${items}[${row}]`, ...upstreamPath].join(".") },
  }));
  const fields = await Promise.all(pairs.map(explain));
  const envelope =
    route.kind === "paged" ? explainGatewayEnvelope(response, route) : explainEnvelope(response, call, route);
  return { fields: [...fields.flat(), ...envelope], note: null };
}
