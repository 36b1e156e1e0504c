/** What other rooms may use of `compare`. */
export { createCandidateReloader } from "./candidate/candidate-pack.ts";
export { createLiveComparison } from "./candidate/compare-live.ts";
export { loadInitialPack, openPackChoice, type PackChoice } from "./candidate/pack-choice.ts";
export { createTesterGuard } from "./candidate/tester-guard.ts";
export type { Exchange } from "./candidate/translate-again.ts";
export { readWantedPack, writeWantedPack } from "./candidate/wanted-pack.ts";
export { readExample, resetComparisons, SOURCES } from "./counts/comparison-store.ts";
export type { Compared, ComparisonSource } from "./counts/comparison.ts";
export { openComparisons } from "./counts/comparisons.ts";
export type { Example } from "./counts/example.ts";
export { provenBy, ProvenClients } from "./counts/proven-by.ts";
export { createCusum, type Cusum, DIFFERENCES, isTripped, TRIP } from "./counts/statistics.ts";
export {
  DEFAULT_RATE,
  type FieldSummary,
  MIN_RATE,
  REQUIRED_CLIENTS,
  type RouteSummary,
  type SourceSummary,
  summarizeComparisons,
  type Verdict,
} from "./counts/summary.ts";
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
export { explainBody } from "./dry-run/explain-body.ts";
export {
  describeRead,
  type ExplainedError,
  type ExplainedField,
  type Explanation,
  toLine,
  type V4Side,
} from "./dry-run/explanation.ts";
export { namedAnswer, withNames } from "./dry-run/named-values.ts";
export { recordCurls } from "./dry-run/record-curls.ts";
export { clientBody, typeOfFormat } from "./dry-run/recorded-body.ts";
export { callName, findRecordedCall, isCallOf } from "./dry-run/recorded.ts";
export { addressVariable, shellComment, shellQuote, shellWord } from "./dry-run/shell.ts";
export { MAX_COMPARED_BYTES } from "./live/ask-old-service.ts";
export { compareAfter } from "./live/compare-after.ts";
export type { ComparisonBudget, RolloutData } from "./live/compared-rollout.ts";
export { overridesMethod } from "./live/method-override.ts";
export { type ComparisonsService, openComparisonsService } from "./live/open-comparisons.ts";
export { openShadow, type ShadowService } from "./live/open-shadow.ts";
export { createShadow, type Shadow } from "./live/shadow.ts";
export { createRecordedComparison } from "./recorded/compare-recorded.ts";
export {
  type DescribedExample,
  describeExample,
  type DifferingRule,
  findRules,
  loadWithPlaces,
} from "./recorded/describe-example.ts";
export { findUnusedLines } from "./recorded/unused-lines.ts";
export { bodyOf } from "./replay/compare-result.ts";
export { compareBodies, type ReplayDifference } from "./replay/differences.ts";
export { decodeExport, matchesQuery, readRecords } from "./replay/read-records.ts";
export { Replay, type ReplayOptions } from "./replay/replay-record.ts";
export { createReplaySummary, type ReplaySummary } from "./replay/summary.ts";
