import { createAdminApp, type AdminDeps } from "../admin/admin-app.ts";
import { reportApi } from "../admin/report-api.ts";
import { explainRecord } from "../tools/explain/explain-record.ts";
import { recordCurls } from "../tools/explain/record-curl.ts";
import type { Pack } from "../mapping/pack.ts";
import { summarise } from "../mapping/summary.ts";
import { createReport } from "../tools/migration-report/make-report.ts";
import type { Settings } from "../config/schema.ts";
import { badRequestBody } from "./bad-request.ts";
import { listen, type HttpServer } from "./http-server.ts";
import type { Dependencies } from "./dependencies.ts";

export interface AdminDependencies extends Pick<AdminDeps, "readiness" | "metrics" | "purgeTokens"> {
  /** The pack in use. */
  readonly pack: () => Pack;
}

/** Begins to listen for operators; undefined where the admin listener is off. */
export async function startAdminListener(
  { ADMIN_HOST, ADMIN_PORT, ADMIN_TOKEN, TRUST_PROXY }: Settings,
  { audit, log, v4, brownOuts }: Dependencies,
  { pack, ...deps }: AdminDependencies,
): Promise<HttpServer | undefined> {
  if (ADMIN_PORT === "off") return undefined;
  const handler = createAdminApp({
    ...(ADMIN_TOKEN !== undefined && { token: ADMIN_TOKEN }),
    host: ADMIN_HOST,
    trustProxy: TRUST_PROXY,
    onError: (error) =>
      log.error({ code: "AG_ADMIN_REQUEST_FAILED", err: error }, "a request of the admin listener failed"),
    audit,
    filterHeader: pack().dialect.filter.header,
    brownOuts: brownOuts.schedules,
    mappings: () => summarise(pack()),
    explain: async (record) => ({
      ...(await explainRecord(record, pack())),
      curl: recordCurls(record, pack()),
    }),
    ...(audit && {
      report: reportApi((query) => createReport({ store: audit, pack: pack(), query, now: Date.now() })),
    }),
    sandbox: v4.sandbox,
    ...deps,
  });
  return listen({
    settings: ["ADMIN_HOST", "ADMIN_PORT"],
    host: ADMIN_HOST,
    port: ADMIN_PORT,
    handler,
    badRequest: () => badRequestBody(pack()),
  });
}
