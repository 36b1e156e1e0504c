/** The exports of `console` for other rooms. */
export { type AdminDeps, createAdminApp, type Readiness } from "./admin-app.ts";
export { createImpactApi } from "./impact-api.ts";
export { createReportApi } from "./report-api.ts";
