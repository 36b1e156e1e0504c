/** The exports of `console` for other rooms. */
export { type AdminDeps, createAdminApp, type Readiness } from "./admin-app.ts";
export { type NamedClients, readAuditQuery, readNamedQuery, readUsageQuery } from "./audit-query.ts";
export { createImpactApi } from "./impact-api.ts";
export { createReportApi } from "./report-api.ts";
