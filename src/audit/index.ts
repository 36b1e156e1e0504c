/** The exports of `audit` for other rooms. */
export {
  type ClientDirectory,
  type ClientIdentity,
  CLIENTS_FILE,
  type KnownClient,
  NO_CLIENTS,
} from "./clients/client-directory.ts";
export { bucketOf, BUCKETS, hasName, namesSoFar, lastingName, UNNAMED } from "./clients/client-name.ts";
export { CLIENTS, type ClientsParts } from "./feature/feature.ts";
export { type Cell, csvRow } from "./export/csv.ts";
export { type ExportOptions, exportTexts, writeExport } from "./export/export-records.ts";
export { EXPORT_FORMATS, exportFormat, type ExportFormat, isExportFormat } from "./export/formats.ts";
export { decodeBody, isForm, isTextType, type SentBody } from "./record/client-body.ts";
export { JsonText, tryParse } from "./record/json-text.ts";
export { readRecord, tryReadRecord } from "./store/read-record.ts";
export { createRecordIds } from "./record/record-id.ts";
export { serializeRecord } from "./record/record-text.ts";
export { recordTime } from "./record/record-time.ts";
export {
  type AuditRecord,
  checksumOf,
  isClientApi,
  LANES,
  type RecordedBody,
  type RecordedCall,
} from "./record/record.ts";
export { firstCharacters, isTruncated, omittedBody, truncatedBody } from "./record/truncate.ts";
export { numberedNames, NumberedNames } from "./record/numbered-names.ts";
export { type NamedClients, type OfClients, readNamedQuery } from "./queries/named-query.ts";
export {
  readAuditQuery,
  type ReadQuery,
  readRouteQuery,
  readUsageQuery,
  RECORD_FILTERS,
  type RecordFilter,
} from "./queries/read-query.ts";
export { Redaction } from "./redact/redact.ts";
export type { SecretSearch } from "./redact/secret-search.ts";
export { secretNames } from "./redact/secret-names.ts";
export { REDACTED } from "./redact/edits.ts";
export { SecretValues } from "./redact/secret-values.ts";
export { addAuditMetrics } from "./store/audit-metrics.ts";
export type { ClientCalls, DecisionReader } from "./store/decisions.ts";
export { openExistingAuditStore, startAuditThread } from "./store/open-audit-store.ts";
export { openAudit, reportDamaged } from "./open-audit.ts";
export {
  type AuditPage,
  type AuditQuery,
  type AuditStore,
  AuditUnavailableError,
  clientsOf,
  DamagedRecordError,
  MAX_LIMIT,
  type ValueFilter,
} from "./store/store.ts";
export { isOfClients } from "./store/record-row.ts";
export type { CallersReader, RouteCaller, RouteCallers, SentName } from "./usage/callers.ts";
export {
  ANONYMOUS,
  type ClientGroup,
  type GroupOptions,
  type GroupToken,
  type IdentifiedGroup,
  identifyGroups,
  MAX_ROUTE_ROWS,
  readClientGroups,
  readGroupCalls,
  readGroupsOfAllDays,
  readGroupTokens,
} from "./usage/client-groups.ts";
export { familyKeyOf, isLookedUp, keysOfName, namedKeys, nameOfUsage } from "./usage/client-keys.ts";
export type { LossQuery, LossUsage } from "./usage/loss-usage.ts";
export {
  createMigrationJudge,
  type MigrationState,
  migrationStateOf,
  pauseDays,
  type QuietTime,
  spansOf,
} from "./usage/migration-state.ts";
export { nameClients, type NamedClient } from "./usage/name-clients.ts";
export { describeStates, STATE_LABELS } from "./usage/migration-words.ts";
export { type LossClient, type LossSummary, rankLosses } from "./usage/rank-losses.ts";
export { applicationKey, identityOfKey, isNamedKey, labelKey, UNACCEPTED } from "./usage/summary-key.ts";
export type { UsageReader } from "./usage/usage-reader.ts";
export {
  agentsText,
  type ClientUsage,
  MAX_USAGE_ROWS,
  type RouteUsage,
  type TokenUsage,
  usageKeysOf,
  type UsageQuery,
} from "./usage/usage.ts";
