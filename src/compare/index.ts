/** The exports of `compare` for other rooms. */
export { compare } from "./answers/compare.ts";
export { createLiveComparison } from "./candidate/compare-live.ts";
export { loadInitialPack, PACK_CHOICE } from "./candidate/pack-choice.ts";
export { createTesterGuard } from "./candidate/tester-guard.ts";
export type { Exchange } from "./answers/comparison.ts";
export { readExample } from "./counts/counts.ts";
export type { Compared } from "./answers/comparison.ts";
export type { Example } from "./counts/example.ts";
export { REQUIRED_CLIENTS } from "./counts/summary.ts";
export { withRoutes } from "./dry-run/changed-routes.ts";
export {
  type CatalogLists,
  catalogRequest,
  catalogShapes,
  createCatalogUpstream,
} from "./dry-run/catalog-upstream.ts";
export { curl } from "./dry-run/curl.ts";
export {
  createDryRun,
  type DryRun,
  type DryRunOptions,
  type DryRunRequest,
  type DryRunResponse,
  isJsonType,
} from "./dry-run/dry-run.ts";
export { explainBody } from "./dry-run/explanation.ts";
export { describeRead, type ExplainedField, toLine, type V4Side } from "./dry-run/explanation.ts";
export { recordCurls } from "./dry-run/record-curls.ts";
export { clientBody, typeOfFormat } from "./dry-run/recorded-body.ts";
export { callName, findRecordedCall, isCallOf } from "./dry-run/recorded-v4.ts";
export { addressVariable, shellQuote, shellWord } from "./dry-run/curl.ts";
export { MAX_COMPARED_BYTES } from "./answers/compare-answers.ts";
export { compareAfter } from "./live/shadow-feature.ts";
export type { ComparisonBudget, RolloutData } from "./live/compared-sides.ts";
export { overridesMethod } from "./live/served-request.ts";
export { COMPARISONS } from "./live/comparisons-feature.ts";
export { SHADOW } from "./live/shadow-feature.ts";
export { Shadow } from "./live/shadow.ts";
export { createRecordedParity } from "./recorded/recorded-parity.ts";
export { findUnusedLines } from "./recorded/unused-lines.ts";
export { bodyOf } from "./replay/compare-result.ts";
export { compareBodies, type ReplayDifference } from "./replay/differences.ts";
export { decodeExport, matchesQuery, readRecords } from "./replay/read-records.ts";
export { Replay, type ReplayOptions } from "./replay/replay-record.ts";
export { createReplaySummary, describeDifference, type ReplaySummary } from "./replay/summary.ts";
