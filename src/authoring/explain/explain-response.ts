import { type AuditRecord, isTruncated, type RecordedCall } from "../../audit/index.ts";
import {
  classOf,
  type ClientHead,
  compileGetter,
  dottedPath,
  type FieldRule,
  LIST_VALUES,
  lossText,
  type Pack,
  parseQuery,
  type Resource,
  type Route,
  valueAt,
} from "../../pack/index.ts";
import { isObject } from "../../base/index.ts";
import {
  callName,
  describeRead,
  type ExplainedField,
  findRecordedCall,
  type V4Side,
} from "../../compare/index.ts";

/** An alpha object and the v4 object that it comes from. */
interface ObjectPair {
  /** Its path in alpha's response: `list[0]`; empty for the whole response. */
  readonly at: string;
  readonly alpha: unknown;
  /** Undefined if it was not recorded. */
  readonly v4: unknown;
  /** The v4 request that returned it, and its path in the response. */
  readonly from: { readonly call: string | null; readonly at: string };
}

interface FieldSources {
  readonly resources: ReadonlyMap<string, Resource>;
  /** The responses of related requests by their names. */
  readonly related: ReadonlyMap<string, { readonly call: string; readonly value: unknown }>;
  /** What the response has lost. A list does not say in which of its rows. */
  readonly losses: readonly string[];
}

const joinPath = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);

/** The member of a related response that an expression uses; undefined if it uses none. */
function findRelatedSource({ read = "" }: FieldRule, { related }: FieldSources): V4Side | undefined {
  const paths = new Set([...read.matchAll(/\$related\.(\w+(?:\.\w+)*)/g)].map(([, path = ""]) => path));
  const [path = ""] = paths;
  const [name = "", ...rest] = path.split(".");
  const response = related.get(name);
  if (!response) return undefined;
  const names = new Set([...paths].map((used) => used.split(".", 1)[0]));
  if (names.size > 1) return { call: null, field: null };
  if (paths.size > 1 || rest.length === 0) return { call: response.call, field: null };
  const field = rest.join(".");
  return { call: response.call, field, value: compileGetter(field)(response.value) };
}

function findV4Side(rule: FieldRule, { v4, from }: ObjectPair, sources: FieldSources): V4Side {
  if (rule.const !== undefined) return { call: null, field: null };
  if (rule.upstream === undefined) {
    // A related request that was not sent, or failed, is not a source.
    const ownCall = rule.read?.includes("$related") ? null : from.call;
    return findRelatedSource(rule, sources) ?? { call: ownCall, field: null };
  }
  const value = compileGetter(rule.upstream)(v4);
  return { call: from.call, field: joinPath(from.at, rule.upstream), ...(value !== undefined && { value }) };
}

/** Explains the fields of an object within an object, if it has one v4 object as its source. */
function explainNested(
  name: string,
  rule: FieldRule,
  pair: ObjectPair,
  sources: FieldSources,
): ExplainedField[] {
  const resource = rule.object === undefined ? undefined : sources.resources.get(rule.object);
  const nested = compileGetter(name)(pair.alpha);
  const hasSource = rule.upstream !== undefined && rule.read === undefined;
  const origin = hasSource ? compileGetter(rule.upstream ?? name)(pair.v4) : undefined;
  const explainOne = (alpha: unknown, v4: unknown, at: string): ExplainedField[] => {
    if (!resource || !isObject(alpha)) return [];
    const from = { call: pair.from.call, at: joinPath(pair.from.at, (rule.upstream ?? name) + at) };
    return explainObject(resource, { at: joinPath(pair.at, name + at), alpha, v4, from }, sources);
  };
  if (!hasSource) return [];
  if (!Array.isArray(nested)) return explainOne(nested, origin, "");
  return nested.flatMap((item, row) =>
    explainOne(item, Array.isArray(origin) ? origin[row] : undefined, `[${row}]`),
  );
}

/** Whether the response has lost what a field may lose. Losses of nested objects have the name of their field in front. */
function hasLost(name: string, rule: FieldRule, { losses }: FieldSources): boolean {
  const text = lossText(name, rule);
  return text !== undefined && losses.some((loss) => loss === text || loss.endsWith(`.${text}`));
}

/** Explains each field of an object by the rules of its resource. */
function explainObject(resource: Resource, pair: ObjectPair, sources: FieldSources): ExplainedField[] {
  return [...resource.fields].flatMap(([name, rule]) => {
    const nested = explainNested(name, rule, pair, sources);
    if (nested.length > 0) return nested;
    const v4 = findV4Side(rule, pair, sources);
    const isMissing = pair.v4 !== undefined && v4.field !== null && (v4.value ?? null) === null;
    return [
      {
        field: joinPath(pair.at, name),
        class: classOf(name, rule),
        value: compileGetter(name)(pair.alpha),
        v4,
        rule: describeRead(name, rule, isMissing),
        loss: hasLost(name, rule, sources) ? (rule.loss ?? null) : null,
      },
    ];
  });
}

/** The fields of a response, or why they are not explained. */
export interface ExplainedResponse {
  readonly fields: readonly ExplainedField[];
  readonly note: string | null;
}

const unexplained = (note: string): ExplainedResponse => ({ fields: [], note });

/** Finds the v4 request whose response became the alpha response. */
function findOrigin(record: AuditRecord, route: Route, pack: Pack): RecordedCall | undefined {
  const readRoute = route.readRoute === undefined ? undefined : pack.route(route.readRoute);
  // An edit without anything to write becomes a read of the object.
  const endpoints = [route.readAfterWrite?.endpoint, ...[route, readRoute].map(callEndpoint)];
  for (const endpoint of endpoints) {
    const call = endpoint && findRecordedCall(record, endpoint);
    if (call) return call;
  }
  return undefined;
}

const callEndpoint = (route: Route | undefined) =>
  route && "call" in route.source ? route.source.call : undefined;

function findSources(record: AuditRecord, route: Route, pack: Pack): FieldSources {
  const related = route.related.flatMap(({ name, endpoint }) => {
    const call = findRecordedCall(record, endpoint);
    return call ? [[name, { call: callName(call), value: call.response }] as const] : [];
  });
  return { resources: pack.resources, related: new Map(related), losses: record.losses };
}

const readMember = (body: unknown, path: string): unknown => (path === "" ? body : compileGetter(path)(body));

const readRows = (body: unknown, path: string): unknown[] => {
  const list = readMember(body, path);
  return Array.isArray(list) ? list : [];
};

/** The values that a list of the client has, with their paths. */
const clientCounts = ({
  lists: { envelope },
}: Route): { count: (typeof LIST_VALUES)[number]; field: string }[] =>
  LIST_VALUES.flatMap((count) => {
    const field = dottedPath(envelope.client.list, count);
    return field === undefined ? [] : [{ count, field }];
  });

/** Explains the counts of a list that v4 paged. */
function explainEnvelope(response: unknown, call: RecordedCall, route: Route): ExplainedField[] {
  return clientCounts(route).map(({ count, field }) => {
    const origin = dottedPath(route.lists.envelope.upstream.list, count) ?? "";
    return {
      field,
      class: field === origin ? "same" : "renamed",
      value: readMember(response, field),
      v4: { call: callName(call), field: origin, value: readMember(call.response, origin) },
      rule: field === origin ? "the same name" : `from ${origin}`,
      loss: null,
    };
  });
}

/** Explains the counts of a list that the gateway paged. */
function explainGatewayEnvelope(response: unknown, route: Route): ExplainedField[] {
  return clientCounts(route).map(({ field }) => {
    const value = readMember(response, field);
    const v4 = { call: null, field: null };
    return { field, class: "derived", value, v4, rule: "counted by the gateway", loss: null };
  });
}

/** The head of a recorded request. Its headers are not recorded. */
const headOf = ({ alpha }: AuditRecord, route: Route): ClientHead => ({
  query: route.query.withDefaults(parseQuery(alpha.query)),
  request: { headers: {} },
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
      return explainObject(await route.resourceFor(undefined, headOf(record, route)), pair, sources);
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
  if (route.bulk)
    return unexplained("The response has the results of a call for each id. The record has their responses.");
  if (route.poll && !route.readAfterWrite)
    return unexplained("The response is the result of an operation, which the gateway polled.");
  const call = findOrigin(record, route, pack);
  if (!call) return explainCatalogResponse(record, route, pack);
  if (route.aggregation) {
    const note = "The gateway read several pages of the upstream and selected the rows of this page.";
    return explainSelected(record, route, pack, { call: callName(call), note });
  }
  if (isTruncated(call.response))
    return unexplained(
      "The response of the upstream was too long to be recorded completely (AUDIT_BODY_LIMIT).",
    );

  const sources = findSources(record, route, pack);
  const head = headOf(record, route);
  const explain = async (pair: ObjectPair) =>
    explainObject(await route.resourceFor(pair.v4, head), pair, sources);
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
