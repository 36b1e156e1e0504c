/** What other rooms may use of `base`. */
export { about } from "./files/about.ts";
export {
  type Diagnostic,
  type DiagnosticCode,
  formatDiagnostic,
  formatDiagnosticLine,
  MAX_DIAGNOSTICS,
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
export { pollFile } from "./files/poll-file.ts";
export { readYamlFolder, readYamlTexts } from "./files/read-yaml.ts";
export { type Json, keysAt } from "./files/schema-keys.ts";
export { DEFAULT_SEVERITY, SEVERITIES, type Severity } from "./files/severity.ts";
export {
  coded,
  locationIn,
  NOTHING_REMOVED,
  type Origin,
  type RemovedParts,
  resolveReference,
  silent,
  type SourceLocation,
} from "./files/source-location.ts";
export { closestMatch, suggestionFor } from "./files/suggest.ts";
export { validateFile } from "./files/validate-file.ts";
export {
  type JudgedFile,
  prepareOrReject,
  type WatchedFile,
  watchOperatorFile,
} from "./files/watched-file.ts";
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
export { countDroppedLines } from "./log/log-output.ts";
export { createLog, endLog, type GatewayLogger, isForPeople, type Log, openLog } from "./log/log.ts";
export { Outage } from "./log/outage.ts";
export { CLIENT_GONE } from "./metrics/client-gone.ts";
export type { HostRegistry } from "./metrics/instruments.ts";
export { createMetrics, type Metrics } from "./metrics/metrics.ts";
export { OTHER_ROUTE, pathTemplate, RouteTemplates, type UsedUp } from "./routing/path-template.ts";
export { createPathTree } from "./routing/path-tree.ts";
export { errorText } from "./settings/error-text.ts";
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
} from "./settings/setting-definitions.ts";
export {
  DEFAULT_TEXTS,
  givenTexts,
  maskSecrets,
  optionName,
  readEnvironment,
  readOptions,
  readSettings,
  type SettingOptions,
  SettingsError,
  type SettingTexts,
} from "./settings/settings.ts";
export {
  type Fullness,
  type KeyValueStore,
  type Owner,
  type Room,
  StateUnavailableError,
} from "./storage/key-value-store.ts";
export { makeFolder } from "./storage/make-folder.ts";
export { loadRedis } from "./storage/load-redis.ts";
export type { RedisClient } from "./storage/redis-client.ts";
export {
  COUNT_REQUESTS,
  LIMIT_PREFIX,
  readInteger,
  readText,
  readTexts,
  readWindowCount,
  REDIS_PREFIX,
} from "./storage/redis-replies.ts";
export { migratePostgres, type PostgresSchema, SchemaError, type SqliteSchema } from "./storage/schema.ts";
export {
  createSharedDocument,
  DOCUMENT_TTL_SECONDS,
  type DocumentStore,
  replaceValue,
  type SharedDocument,
} from "./storage/shared-document.ts";
export { STATE_FILE } from "./storage/sqlite-schema.ts";
export { openSqliteKeyValueStore } from "./storage/sqlite-store.ts";
export { formatCount, formatSpacedCount, percent, plural } from "./text/counts.ts";
export { CUT, cutText } from "./text/cut-text.ts";
export { normalizeDateTime } from "./text/date-time.ts";
export { formatDay, formatMinute, formatMinuteUtc, formatSecondUtc } from "./text/dates.ts";
export { INVISIBLE, toVisibleLine, toVisibleText } from "./text/visible-text.ts";
export { type HostTracer, openHostTracing, openTracing } from "./tracing/open-tracing.ts";
export { continueTrace, parseTraceparent } from "./tracing/traceparent.ts";
export type { RequestResult, RequestSpan, StartCallSpan, Tracing } from "./tracing/tracing.ts";
export { loadResource, withOpenTelemetry } from "./tracing/with-opentelemetry.ts";

export * as characters from "./json/characters.ts";
