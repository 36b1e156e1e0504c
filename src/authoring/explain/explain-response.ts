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
import { explainEnvelope, readRows } from "./explain-list.ts";
import { explainObject, type FieldSources, type ObjectPair } from "./explain-object.ts";

/** The fields of a response, or the reason why they are not explained. */
interface ExplainedResponse {
  readonly fields: readonly ExplainedField[];
  readonly note: string | null;
}

/** Returns the last call after the main call whose response becomes the route's. Undefined if not found. */
const lastAnswerOf = ({ calls }: Route): RouteCall | undefined =>
  calls.findLast(({ place, use }) => place === "after" && use === "answer");

/** Finds the v4 request whose response became the alpha response. */
export function findOrigin(record: AuditRecord, route: Route, pack: Pack): RecordedCall | undefined {
  // An edit that has nothing to write becomes a read of the object.
  const reads = route.objectRoutes.map((name) => pack.route(name));
  const endpoints = [lastAnswerOf(route)?.endpoint, ...[route, ...reads].map(callEndpoint)];
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

/** Returns the variables for expressions of a recorded request. Its headers are not recorded. */
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

/** The v4 request that provides a response. */
interface ResponseSource {
  readonly call: string;
  /** The v4 response; undefined if it is unknown which of its objects correspond to the client's. */
  readonly v4: unknown;
  readonly note: string | null;
}

/** Finds the source of a response. @returns the reason as text if it is unknown */
function findSource(record: AuditRecord, route: Route, pack: Pack): ResponseSource | string {
  const { kind, source, lists } = route;
  const origin = findOrigin(record, route, pack);
  if (!origin && "catalog" in source)
    return {
      call: `GET ${pack.dialect.upstream.base_path}${source.catalog.calls[0]?.path ?? ""}`,
      v4: undefined,
      note: "The response comes from the catalog cache. The record does not have the upstream objects.",
    };
  if (!origin) return "The record has no upstream request that this response comes from.";
  const call = callName(origin);
  if (kind === "aggregated") {
    const note = "The gateway read several pages of the upstream and selected the rows of this page.";
    return { call, v4: undefined, note };
  }
  if (isTruncated(origin.response))
    return "The response of the upstream was too long to be recorded completely (AUDIT_BODY_LIMIT).";
  const [v4Rows, rows] = [
    readRows(origin.response, dottedPath(lists.envelope.upstream.list, "items") ?? ""),
    readRows(record.alpha.response, dottedPath(lists.envelope.client.list, "items") ?? ""),
  ];
  if (kind === "paged" && v4Rows.length !== rows.length) {
    const note = "The pages of v4 have other rows than this page: the gateway read one or more of them.";
    return { call, v4: undefined, note };
  }
  return { call, v4: origin.response, note: null };
}

/** Returns why the fields of a response are not explained. Undefined if they are. */
function findObstacle({ alpha: { response } }: AuditRecord, route: Route): string | undefined {
  if (response === undefined) return "Bodies are not recorded (AUDIT=metadata).";
  if (isTruncated(response)) return "The response was too long to be recorded completely (AUDIT_BODY_LIMIT).";
  if (route.response === "file") return "The response is a file, which was forwarded unchanged.";
  if (route.response === "none") return "The responses of this route have no members.";
  if (route.kind === "bulk")
    return "The response has the results of a call for each id. The record has their responses.";
  return lastAnswerOf(route)?.repeats
    ? "The response is the result of an operation, which the gateway polled."
    : undefined;
}

/** Pairs the objects of a response with the v4 objects on which they are based, if these are known. */
function pairObjects(response: unknown, route: Route, { call, v4 }: ResponseSource): ObjectPair[] {
  const { clientPath, upstreamPath } = route;
  const { client, upstream } = route.lists.envelope;
  const isList = route.response === "list";
  const objectsOf = (body: unknown, items: string): readonly unknown[] =>
    isList ? readRows(body, items) : [body];
  const placeOf = (items: string, row: number, path: readonly string[]): string =>
    [...(isList ? [`${items}[${row}]`] : []), ...path].join(".");
  const [items, v4Items] = [dottedPath(client.list, "items") ?? "", dottedPath(upstream.list, "items") ?? ""];
  const v4Objects = v4 === undefined ? [] : objectsOf(v4, v4Items);
  return objectsOf(response, items).map((alpha, row) => ({
    at: placeOf(items, row, clientPath),
    alpha: valueAt(alpha, clientPath),
    v4: valueAt(v4Objects[row], upstreamPath),
    from: { call, at: v4 === undefined ? "" : placeOf(v4Items, row, upstreamPath) },
  }));
}

/** Explains a recorded response with status 200. */
export async function explainResponse(
  record: AuditRecord,
  route: Route,
  pack: Pack,
): Promise<ExplainedResponse> {
  const { response } = record.alpha;
  const source = findObstacle(record, route) ?? findSource(record, route, pack);
  if (typeof source === "string") return { fields: [], note: source };
  const sources = findSources(record, route, pack);
  const scope = scopeOf(record, route);
  const fields = await Promise.all(
    pairObjects(response, route, source).map(async (pair) =>
      explainObject(await route.resourceFor(pair.v4, scope), pair, sources),
    ),
  );
  const isPagedByV4 = source.v4 !== undefined && route.kind !== "paged";
  const envelope =
    route.response !== "list" ? [] : explainEnvelope(response, route, isPagedByV4 ? source : undefined);
  return { fields: [...fields.flat(), ...envelope], note: source.note };
}
