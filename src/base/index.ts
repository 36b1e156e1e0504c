/** The exports of `base` for other rooms. */
export {
  type Block,
  type Button,
  type Chart,
  type Column,
  foldedList,
  type Item,
  type Line,
  listNames,
  listOf,
  namedLists,
  type OpenedRows,
  type Span,
  tableOf,
  type Tone,
} from "./blocks/block.ts";
export { COLORS } from "./blocks/colors.ts";
export { DOCUMENT_POLICY, renderDocument } from "./blocks/html.ts";
export { renderMarkdown } from "./blocks/markdown.ts";
export { closeAll, type Closer, withClosing } from "./features/close-all.ts";
export {
  CommandError,
  type CommandFlag,
  type CommandInput,
  type CommandResult,
  type FeatureCommand,
  type FeatureCommands,
  lines,
} from "./features/feature-command.ts";
export { commandProcess, type FeatureHost } from "./features/feature-host.ts";
export { createAction, type FeatureAction, RefusedError } from "./features/feature-action.ts";
export type { ActionForm, Feature, FeatureParts } from "./features/feature.ts";
export { openFeature, type OpenFeature } from "./features/open-feature.ts";
export { createReloader, type Reload } from "./features/reloader.ts";
export { renderScript, renderTerminal } from "./blocks/terminal.ts";
export { about } from "./files/about.ts";
export {
  type Diagnostic,
  type DiagnosticCode,
  formatDiagnostic,
  formatDiagnosticLine,
  MAX_DIAGNOSTICS,
  type Message,
  PackError,
  withCode,
} from "./files/diagnostic.ts";
export {
  OperatorFileError,
  type OperatorFileKind,
  operatorFileSchema,
  readOperatorFile,
  type ReportProblem,
} from "./files/operator-file.ts";
export { readYamlFolder, readYamlTexts } from "./files/read-yaml.ts";
export { type Json, keysAt } from "./files/schema-keys.ts";
export { DEFAULT_SEVERITY, SEVERITIES, type Severity } from "./files/severity.ts";
export {
  locationIn,
  NOTHING_REMOVED,
  type Origin,
  type RemovedParts,
  resolveReference,
  type SourceLocation,
} from "./files/source-location.ts";
export { closestMatch, suggestionFor } from "./files/suggest.ts";
export { validateFile } from "./files/validate-file.ts";
export { type JudgedFile, prepareOrReject } from "./files/watched-file.ts";
export type { YamlPath } from "./files/yaml-nodes.ts";
export { checkedYaml, parseYaml, type YamlSource, type YamlText } from "./files/yaml-source.ts";
export { ByteMap, isAt } from "./json/byte-map.ts";
export { MAX_DEPTH } from "./json/characters.ts";
export {
  createMemberTable,
  forEachItem,
  forEachMember,
  itemsOf,
  type MemberTable,
  nameAt,
} from "./json/members.ts";
export { type PaddedText, paddedText, PADDING, toText } from "./json/padded-text.ts";
export {
  compareNumbers,
  type ExactNumber,
  isExactNumber,
  isObject,
  parseJson,
  parseNumber,
  printJson,
  setMember,
} from "./json/parse.ts";
export {
  checkJson,
  type Cursor,
  cursorAt,
  endOfValue,
  expectEnd,
  isArrayAt,
  isJson,
  isObjectAt,
  notJson,
  rawTextAt,
  readRaw,
  readValue,
  skipWhitespace,
  tooDeep,
} from "./json/scan.ts";
export {
  canonicalString,
  detachString,
  fromJsonText,
  isArrayText,
  isStringText,
  type JsonText,
  stringFromJson,
  toJsonText,
} from "./json/text.ts";
export { callHost, reasonOfError } from "./log/host-call.ts";
export { countDroppedLines } from "./log/log-output.ts";
export { createLog, endLog, type GatewayLogger, isForPeople, type Log, openLog } from "./log/log.ts";
export { Outage } from "./log/outage.ts";
export { CLIENT_GONE } from "./metrics/client-gone.ts";
export type { HostRegistry } from "./metrics/instruments.ts";
export { createMetrics, type Metrics } from "./metrics/metrics.ts";
export { NO_METRICS } from "./metrics/no-metrics.ts";
export { OTHER_ROUTE, pathTemplate, RouteTemplates, type UsedUp } from "./routing/path-template.ts";
export { createPathTree, type PathSegment } from "./routing/path-tree.ts";
export { errorText, isOperatorError } from "./settings/error-text.ts";
export { isLoopback } from "./settings/loopback.ts";
export { isObserving, observedUrlOf } from "./settings/observing.ts";
export {
  createRenamer,
  type ProductWords,
  renameDeep,
  type RenameString,
  scopeRenaming,
  type ScopeRenaming,
} from "./settings/product-words.ts";
export { readTextFile } from "./settings/read-text-file.ts";
export {
  SETTING_SECTIONS,
  type SettingName,
  type Settings,
  SETTINGS,
  type SettingValues,
  STATE_SETTINGS,
} from "./settings/setting-definitions.ts";
export {
  DEFAULT_TEXTS,
  givenTexts,
  mayShareAddresses,
  redactSettings,
  optionName,
  readEnvironment,
  readOptions,
  readSettings,
  type SettingOptions,
  SettingsError,
  type SettingTexts,
} from "./settings/settings.ts";
export { BoundedMap } from "./storage/bounded-map.ts";
export { holdFile } from "./storage/held-file.ts";
export {
  type Fullness,
  GROUP_ENTRIES,
  type KeyValueStore,
  NOT_WRITABLE,
  type Owner,
  type OwnerGroup,
  type Room,
  StateUnavailableError,
  NO_STORE,
} from "./storage/key-value-store.ts";
export { makeFolder } from "./storage/make-folder.ts";
export {
  migratePostgres,
  migrateSqlite,
  type PostgresSchema,
  SchemaError,
  type SqliteSchema,
} from "./storage/schema.ts";
export { createSharedDocument, type DocumentStore, type SharedDocument } from "./storage/shared-document.ts";
export { type ShareLimits, Shares } from "./storage/shares.ts";
export { addressNetwork, addressNetworks } from "./text/address-networks.ts";
export { formatCount, formatRate, percent, percentDown, plural, verbFor } from "./text/counts.ts";
export { CUT, cutText } from "./text/cut-text.ts";
export {
  DAY_MS,
  formatDay,
  formatMinute,
  formatMinuteUtc,
  formatSecondUtc,
  HOUR_MS,
  MINUTE_MS,
} from "./text/dates.ts";
export { INVISIBLE, toVisibleLine, toVisibleText } from "./text/visible-text.ts";
export { runInThread } from "./threads/run-in-thread.ts";
export { serveJobs } from "./threads/serve-jobs.ts";
export { startThread, ThreadLink } from "./threads/thread-link.ts";
export { continueTrace, formatTraceparent, parseTraceparent } from "./tracing/traceparent.ts";
export type {
  CallSpan,
  RequestResult,
  RequestSpan,
  RequestStart,
  StartCallSpan,
  Tracing,
} from "./tracing/tracing.ts";
export { loadResource, withOpenTelemetry } from "./tracing/with-opentelemetry.ts";

export * as characters from "./json/characters.ts";
