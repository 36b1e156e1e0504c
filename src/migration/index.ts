/** The exports of `migration` for other rooms. */
export type { ClientMean } from "./coverage/served-shares.ts";
export { type Coverage, CoverageCounter, type Refusal } from "./coverage/coverage.ts";
export { CallJudge } from "./coverage/judge-call.ts";
export { observedCall, type ObservedCall } from "./coverage/observed-call.ts";
export { type HarOptions, isHar, readHar } from "./coverage/read-har.ts";
export { findPackImpact, findUpstreamImpact, type Impact, OtherServiceError } from "./impact/find-impact.ts";
export { objectsIn, readPlace, SchemaBudget, UnreadableDocumentError } from "./impact/flatten-schema.ts";
export { IMPACT_FORMATS, type ImpactFormat, outlineNotices } from "./impact/outline-impact.ts";
export type { ImpactContext } from "./impact/noticing-clients.ts";
export {
  basePath,
  contentSchema,
  type DocumentOperation,
  openapiSurface,
  operationsOf,
  readScopes,
} from "./impact/openapi-surface.ts";
export { packSurface } from "./impact/pack-surface.ts";
export { readOpenapi } from "./impact/read-openapi.ts";
export { type Operation, operationKey, type Place, type Surface } from "./impact/surface.ts";
export { wordsOfExpressions } from "./impact/upstream-use.ts";
export { findNotices, findQuestions, namesOfRoutes, type Subject } from "./impact/who-would-notice.ts";
export { NOTICES } from "./notices/feature.ts";
export { createMigrationPages } from "./page/migration-page.ts";
export { createPageState } from "./page/page-cache.ts";
export { checkPagePaths } from "./page/page-paths.ts";
export { FORMATS, isReportFormat, REPORT_FORMATS, type ReportFormat } from "./report/formats.ts";
export { createReport, type Report } from "./report/make-report.ts";
export { ROLLOUT } from "./rollout/feature.ts";
export { createRolloutMiddleware } from "./rollout/middleware.ts";
export { PLAN } from "./plan/feature.ts";
export { NO_PLAN_IN_FORCE } from "./plan/plan-in-force.ts";
