/** The upstream's response that a recorded response comes from. */
import { type AuditRecord, isTruncated, type RecordedCall } from "../../audit/index.ts";
import { dottedPath, type Pack, type Route, type RouteCall } from "../../pack/index.ts";
import { callName, findRecordedCall } from "../../compare/index.ts";
import { readRows } from "./explain-list.ts";

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

/** The v4 request that provides a response. */
export interface ResponseSource {
  readonly call: string;
  /** The v4 response; undefined if it is unknown which of its objects correspond to the client's. */
  readonly v4: unknown;
  readonly note: string | null;
}

/** Finds the source of a response. @returns the reason as text if it is unknown */
export function findSource(record: AuditRecord, route: Route, pack: Pack): ResponseSource | string {
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
export function findObstacle({ alpha: { response } }: AuditRecord, route: Route): string | undefined {
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
