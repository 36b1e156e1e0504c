/** The golden cases of a pack as the records that the audit would have kept of them. */
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { readExamples, splitCall, type Example } from "../../../src/authoring/examples/example.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { splitPath } from "../../../src/pack/paths/router.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";

async function routeOf(pack: Pack, method: string, path: string, body: unknown): Promise<string | null> {
  const segments = (splitPath(path) ?? []).slice(pack.prefix.length);
  for (const route of pack.match(method, segments)?.routes ?? []) {
    if (!route.matchesBody || (await route.matchesBody(body ?? {}, { calls: {} }))) return route.name;
  }
  return null;
}

async function recordOf({ definition }: Example, pack: Pack): Promise<AuditRecord> {
  const { request, body, upstream, response, headers = {} } = definition;
  const filterHeader = pack.dialect.client.filters?.header ?? "";
  const { method, path: whole } = splitCall(request, pack.dialect.client.base_path);
  const [path = "", query = ""] = whole.split("?", 2);
  return {
    ...sampleRecord(definition.title),
    ...(definition.now !== undefined && { time: new Date(definition.now).toISOString() }),
    alpha: {
      method,
      path,
      query,
      filter: headers[filterHeader] ?? null,
      status: response.status,
      response: response.body,
      route: await routeOf(pack, method, path, body),
      ...(body !== undefined && { body }),
    },
    v4: upstream.map(({ request: call, filter, body: sent, response: { status, body: received } }) => ({
      ...splitCall(call, pack.dialect.upstream.base_path),
      filter: filter === undefined ? null : JSON.stringify(filter),
      status,
      response: received,
      ms: 1,
      ...(sent !== undefined && { body: sent }),
    })),
  };
}

/** Title and record of every example in a pack's folder. */
export async function exampleRecords(folder: string, pack: Pack): Promise<[string, AuditRecord][]> {
  const { examples } = readExamples(folder, []);
  return Promise.all(
    examples.map(async (example): Promise<[string, AuditRecord]> => [
      example.definition.title,
      await recordOf(example, pack),
    ]),
  );
}
