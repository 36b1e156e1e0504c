import type { AuditRecord, RecordedCall } from "../../audit/record.ts";
import { curl, recordCurls } from "../explain/curl.ts";
import type { Endpoint } from "../../mapping/compile/endpoint.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Route } from "../../mapping/compile/route.ts";
import type { Command } from "./model.ts";

const GATEWAY = "$GATEWAY";
const V4 = "$V4";

/** Fields of an answer that are made from an extra read. */
const fieldsOf = ({ resource }: Route, read: string): string[] =>
  [...resource.fields].flatMap(([name, rule]) =>
    new RegExp(String.raw`\$with\.${RegExp.escape(read)}\b`).test(rule.read ?? "") ? [name] : [],
  );

/** The call and the reads that make its answer whole, in their order, each with what it is for. */
function endpointsOf(route: Route): { why: string; endpoint: Endpoint }[] {
  const { source, readAfterWrite, related: besides, mergeParts } = route;
  if (!("call" in source)) return [];
  const reads = source.call.method === "GET";
  return [
    { why: "", endpoint: source.call },
    ...mergeParts.map(({ read, write }) => ({ why: "for its other part", endpoint: reads ? read : write })),
    ...(readAfterWrite ? [{ why: "then, to read what came of it", endpoint: readAfterWrite.endpoint }] : []),
    ...besides.map(({ name, endpoint }) => ({
      why: `for ${fieldsOf(route, name).join(", ") || name}, if you need it`,
      endpoint,
    })),
  ];
}

/** v4's calls for a route as the pack writes them. */
export function v4Calls(route: Route, { dialect }: Pack): string[] {
  const { prefix } = dialect.v4;
  if ("catalog" in route.source) return route.source.catalog.calls.map(({ path }) => `GET ${prefix}${path}`);
  return endpointsOf(route).map(({ endpoint }) => `${endpoint.method} ${prefix}${endpoint.template}`);
}

/** A command out of the pack alone, where no record shows how it is called. */
function plain(call: string, base: string, scheme: string | undefined): string {
  const [method = "GET", path = ""] = call.split(" ", 2);
  return curl({ base, method, path, scheme, headers: {}, body: undefined });
}

function ofCatalog(route: Route, { dialect }: Pack): Command[] {
  if (!("catalog" in route.source)) return [];
  const { prefix, scheme } = dialect.v4;
  return route.source.catalog.calls.map(({ path, filter }) => ({
    why: "",
    curl: curl({
      base: V4,
      method: "GET",
      path: prefix + path,
      scheme: route.access === "public" ? undefined : scheme,
      headers: { [dialect.filter.header]: filter === undefined ? undefined : JSON.stringify(filter) },
      body: undefined,
    }),
  }));
}

/** Whether a recorded call is one of this endpoint. */
export const isOf = (endpoint: Endpoint, { method, path }: RecordedCall): boolean =>
  endpoint.method === method && endpoint.matches(path.split("?", 1)[0] ?? "");

/** The record's own calls; undefined where they were never made. */
function recorded(record: AuditRecord | undefined, route: Route, pack: Pack): Command[] | undefined {
  if (!record) return undefined;
  const { v4 } = recordCurls(record, pack);
  const commands = endpointsOf(route).flatMap(({ why, endpoint }) => {
    const index = record.v4.findLastIndex((call) => isOf(endpoint, call));
    const command = v4[index];
    return command === undefined ? [] : [{ why, curl: command }];
  });
  const whole = record.alpha.status === 200 || commands[0]?.why === "";
  return whole && commands.length > 0 ? commands : undefined;
}

/** What is called from now on, out of a record where there is one. */
export function commandsAfter(record: AuditRecord | undefined, route: Route, pack: Pack): Command[] {
  if ("error" in route.source) return [];
  if ("catalog" in route.source) return ofCatalog(route, pack);
  const found = recorded(record, route, pack);
  if (found) return found;
  const { prefix, scheme } = pack.dialect.v4;
  return endpointsOf(route).map(({ why, endpoint }) => ({
    why,
    curl: plain(`${endpoint.method} ${prefix}${endpoint.template}`, V4, scheme),
  }));
}

/** What was called so far. */
export function commandBefore(record: AuditRecord | undefined, route: string, pack: Pack): string {
  if (record) return recordCurls(record, pack).alpha;
  const { prefix, scheme } = pack.dialect.alpha;
  const [method = "GET", path = ""] = route.split(" ", 2);
  return plain(`${method} ${prefix}${path}`, GATEWAY, scheme);
}
