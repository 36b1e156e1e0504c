/** What other rooms may use of `migration`. */
export { COLORS } from "./report/colors.ts";
export type { ClientMean } from "./coverage/client-shares.ts";
export { type Coverage, CoverageCounter, type Refusal } from "./coverage/coverage.ts";
export { CallJudge } from "./coverage/judge-call.ts";
export { observedCall, type ObservedCall } from "./coverage/observed-call.ts";
export { isHar, readHar } from "./coverage/read-har.ts";
export {
  findPackImpact,
  findUpstreamImpact,
  type Impact,
  type ImpactContext,
  OtherServiceError,
} from "./impact/find-impact.ts";
export { readPlace, SchemaBudget, UnreadableDocumentError } from "./impact/flatten-schema.ts";
export {
  callsText,
  clientLines,
  clientText,
  IMPACT_FORMATS,
  type ImpactFormat,
  sinceText,
} from "./impact/formats.ts";
export type { NoticingClient } from "./impact/noticing-clients.ts";
export { openapiSurface } from "./impact/openapi-surface.ts";
export { packSurface } from "./impact/pack-surface.ts";
export { readOpenapi } from "./impact/read-openapi.ts";
export { type Operation, operationKey, type Place, type Surface } from "./impact/surface.ts";
export { wordsOfExpressions } from "./impact/upstream-use.ts";
export {
  findNotices,
  findQuestions,
  type NamesOfRoute,
  namesOfRoutes,
  type Notice,
  type Notices,
  type Subject,
} from "./impact/who-would-notice.ts";
export { NOTICES_SCHEMA, noticesFile, type Receiver } from "./notices/notices-file.ts";
export { type NoticesService, openNotices } from "./notices/open-notices.ts";
export { SendError, sendWebhook } from "./notices/webhook.ts";
export { createMigrationPages } from "./page/migration-page.ts";
export { createPageState, type PageState } from "./page/page-cache.ts";
export { checkPagePaths } from "./page/page-paths.ts";
export { FORMATS, isReportFormat, REPORT_FORMATS, type ReportFormat } from "./report/formats.ts";
export { REPORT_POLICY } from "./report/html.ts";
export { createReport } from "./report/make-report.ts";
export type { Report } from "./report/model.ts";
export { type ClientStatus, describeRollout, type RolloutStatus } from "./rollout/describe-rollout.ts";
export { openRollout, type RolloutService } from "./rollout/open-rollout.ts";
export type { TripTarget } from "./rollout/returns/trips.ts";
export {
  findTarget,
  rolloutClientText,
  RolloutRefusedError,
  turnBack,
  type TurnedBack,
} from "./rollout/returns/turn-back.ts";
export { ROLLOUT_SCHEMA } from "./rollout/rollout-definition.ts";
export { rolloutFile } from "./rollout/rollout-file.ts";
export { createRolloutMiddleware } from "./rollout/rollout-middleware.ts";
export type { RolloutPlan } from "./rollout/rollout-plan.ts";
export { createRollout, type Rollout } from "./rollout/rollout.ts";
export { type Action, createControl, type SunsetControl } from "./sunset/control.ts";
export { describePlan, type PlanStatus, type StageStatus } from "./sunset/describe-plan.ts";
export { openSunset, packNames, type SunsetService } from "./sunset/open-sunset.ts";
export type { PlanClient } from "./sunset/plan-dates.ts";
export { createPlan, type Plan } from "./sunset/plan.ts";
export { summaryKeysOf } from "./sunset/proven-client.ts";
export { findCalling } from "./sunset/recorded-traffic.ts";
export { type PastCall, simulatePlan, type Simulation } from "./sunset/simulate.ts";
export { SUNSET_SCHEMA } from "./sunset/sunset-definition.ts";
export { sunsetFile } from "./sunset/sunset-file.ts";
