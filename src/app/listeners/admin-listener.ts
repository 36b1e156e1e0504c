import type { RequestListener } from "node:http";
import { type AdminDeps, createAdminApp, createImpactApi, createReportApi } from "../../console/index.ts";
import {
  type CatalogCopy,
  filterHeadersOf,
  apiNames,
  type Pack,
  type PackFiles,
  summarizePack,
} from "../../pack/index.ts";
import type { Settings } from "../../base/index.ts";
import { badRequestBody, type HttpServer, listen } from "../../gateway/index.ts";
import { reportDamaged } from "../../audit/index.ts";
import type { Dependencies } from "../composition/dependencies.ts";

export interface AdminDependencies extends Pick<AdminDeps, "readiness" | "metrics" | "purgeTokens"> {
  /** Returns the pack in use. */
  readonly pack: () => Pack;
  /** Returns the files from which it was compiled. */
  readonly files: () => PackFiles;
  /** Returns its catalogs. */
  readonly catalogs: () => CatalogCopy;
}

/** Creates the admin application. */
export function createAdminHandler(
  settings: Settings,
  { audit, log, v4, features, clients }: Pick<Dependencies, "audit" | "log" | "v4" | "features" | "clients">,
  { pack, files, catalogs, ...deps }: AdminDependencies,
): RequestListener {
  const { ADMIN_HOST, ADMIN_TOKEN, TRUST_PROXY, QUIET_DAYS, WORDS } = settings;
  const named = { directory: clients.current, quietDays: QUIET_DAYS };
  return createAdminApp({
    ...(ADMIN_TOKEN !== undefined && { token: ADMIN_TOKEN }),
    host: ADMIN_HOST,
    trustProxy: TRUST_PROXY,
    onError: (error) =>
      log.error({ code: "AG_ADMIN_REQUEST_FAILED", err: error }, "a request of the admin listener failed"),
    audit,
    clients: named,
    exports: { filterHeaders: () => filterHeadersOf(pack()), onDamaged: reportDamaged(log) },
    features,
    names: () => apiNames(pack()),
    mappings: () => summarizePack(pack()),
    // The tools are loaded on demand.
    views: {
      async explain(record) {
        const { explainRecord } = await import("../../authoring/index.ts");
        const { recordCurls } = await import("../../compare/index.ts");
        return { ...(await explainRecord(record, pack())), curl: recordCurls(record, pack()) };
      },
      async trace(record) {
        const { traceInThread } = await import("../../authoring/index.ts");
        const { findCatalogRows } = await import("../../authoring/index.ts");
        const rows = findCatalogRows(record, pack(), catalogs());
        return traceInThread(record, { files: files(), words: WORDS, rows });
      },
    },
    ...(audit && {
      report: createReportApi(audit, named, pack),
      impact: createImpactApi(audit, named, pack),
    }),
    sandbox: v4.sandbox,
    ...deps,
  });
}

/** Starts the admin listener; undefined if it is off. */
export async function startAdminListener(
  settings: Settings,
  dependencies: Dependencies,
  deps: AdminDependencies,
): Promise<HttpServer | undefined> {
  const { ADMIN_HOST: host, ADMIN_PORT: port } = settings;
  if (port === "off") return undefined;
  return listen({
    settings: ["ADMIN_HOST", "ADMIN_PORT"],
    host,
    port,
    handler: createAdminHandler(settings, dependencies, deps),
    badRequest: (fault) => badRequestBody(deps.pack(), fault),
  });
}
