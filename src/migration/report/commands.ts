import type { AuditRecord } from "../../audit/index.ts";
import { addQuery, type CredentialsPlace, type Endpoint, type Pack, type Route } from "../../pack/index.ts";
import { addressVariable, curl, isCallOf, recordCurls } from "../../compare/index.ts";
import type { Command } from "./model.ts";

const GATEWAY = "$GATEWAY";

/** Lists the main call and the requests that complete its response, in order, each with its reason. */
function listEndpoints({ source, calls }: Route): { why: string; endpoint: Endpoint }[] {
  if (!("call" in source)) return [];
  return [
    { why: "", endpoint: source.call },
    ...calls.flatMap(({ guide, endpoint }) => (guide === undefined ? [] : [{ why: guide, endpoint }])),
  ];
}

/** Lists the v4 calls of a route, with the paths as the pack writes them. */
export function listV4Calls(route: Route, { dialect }: Pack): string[] {
  const { base_path: prefix } = dialect.upstream;
  if ("catalog" in route.source) return route.source.catalog.calls.map(({ path }) => `GET ${prefix}${path}`);
  return listEndpoints(route).map(({ endpoint }) => `${endpoint.method} ${prefix}${endpoint.template}`);
}

/** Creates a command without query and body, for a call without a record. */
function createPlainCommand(call: string, base: string, credentials: CredentialsPlace | undefined): string {
  const [method = "GET", path = ""] = call.split(" ", 2);
  return curl({ base, method, path, credentials, headers: {}, body: undefined });
}

function createCatalogCommands(route: Route, { dialect, filterWriter }: Pack): Command[] {
  if (!("catalog" in route.source)) return [];
  const { base_path: prefix, credentials, filters } = dialect.upstream;
  return route.source.catalog.calls.map(({ path, filter }) => {
    const { header, query } = filterWriter.write(filter);
    return {
      why: "",
      curl: curl({
        base: addressVariable(dialect.upstream.name),
        method: "GET",
        path: addQuery(prefix + path, query),
        credentials: route.access === "public" ? undefined : credentials,
        headers: filters?.header === undefined ? {} : { [filters.header]: header },
        body: undefined,
      }),
    };
  });
}

/** Creates the v4 requests of a record; undefined if the main call was not sent. */
function createRecordedCommands(
  record: AuditRecord | undefined,
  route: Route,
  pack: Pack,
): Command[] | undefined {
  if (!record) return undefined;
  const { v4 } = recordCurls(record, pack);
  const commands = listEndpoints(route).flatMap(({ why, endpoint }) => {
    // The first page of a list, and the call that succeeded if it was repeated.
    const calls = record.v4.flatMap((call, index) => (isCallOf(endpoint, call) ? [{ call, index }] : []));
    const chosen = calls.find(({ call }) => call.status !== null && call.status < 400) ?? calls.at(-1);
    const command = v4[chosen?.index ?? -1];
    return command === undefined ? [] : [{ why, curl: command }];
  });
  const hasMainCall = record.alpha.status === 200 || commands[0]?.why === "";
  return hasMainCall && commands.length > 0 ? commands : undefined;
}

/** Creates the v4 commands, from a record if there is one. */
export function createV4Commands(record: AuditRecord | undefined, route: Route, pack: Pack): Command[] {
  if ("error" in route.source) return [];
  if ("catalog" in route.source) return createCatalogCommands(route, pack);
  const recorded = createRecordedCommands(record, route, pack);
  if (recorded) return recorded;
  const { name, base_path: prefix, credentials } = pack.dialect.upstream;
  return listEndpoints(route).map(({ why, endpoint }) => ({
    why,
    curl: createPlainCommand(
      `${endpoint.method} ${prefix}${endpoint.template}`,
      addressVariable(name),
      credentials,
    ),
  }));
}

/** Creates the alpha command, from a record if there is one. */
export function createAlphaCommand(record: AuditRecord | undefined, route: string, pack: Pack): string {
  if (record) return recordCurls(record, pack).alpha;
  const { base_path: prefix, credentials } = pack.dialect.client;
  const [method = "GET", path = ""] = route.split(" ", 2);
  return createPlainCommand(`${method} ${prefix}${path}`, GATEWAY, credentials);
}
