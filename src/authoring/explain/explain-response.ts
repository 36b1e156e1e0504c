/** The fields of a recorded response, each with its source. */
import type { AuditRecord } from "../../audit/index.ts";
import { dottedPath, type Pack, parseQuery, type Route, type Scope, valueAt } from "../../pack/index.ts";
import { callName, type ExplainedField, findRecordedCall } from "../../compare/index.ts";
import { explainEnvelope, readRows } from "./explain-list.ts";
import { explainObject, type FieldSources, type ObjectPair } from "./explain-object.ts";
import { findObstacle, findSource, type ResponseSource } from "./response-source.ts";

/** The fields of a response, or the reason why they are not explained. */
interface ExplainedResponse {
  readonly fields: readonly ExplainedField[];
  readonly note: string | null;
}

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
