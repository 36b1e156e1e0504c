/** The exports of `pack` for other rooms. */
export {
  type ClientMediaTypes,
  FORM,
  type UpstreamBodyFormat,
  UNREADABLE_BODY,
  wrongMediaType,
} from "./bodies/body-format.ts";
export type { BodyMember } from "./bodies/body-members.ts";
export { InvalidCallValueError } from "./bodies/body-merge.ts";
export type { BodyRules, SentJson } from "./bodies/body.ts";
export { changedMembers } from "./bodies/changed-members.ts";
export { parseForm, printForm } from "./bodies/form.ts";
export { createObjectReader, objectPath, type ReadWrapped } from "./bodies/object-wrapper.ts";
export type { WrittenBody } from "./bodies/write-body.ts";

export type { RouteCall } from "./calls/call.ts";
export type { OperationState, Repetition } from "./calls/repetition.ts";
export { type RunChecks, withFailure } from "./expressions/checks.ts";
export {
  type Catalog,
  type CatalogCall,
  type CatalogPaging,
  createCatalogEntry,
} from "./calls/compile-catalog.ts";
export { failureAsValue } from "./expressions/compile-expression.ts";
export {
  addQuery,
  type Endpoint,
  InvalidPathValueError,
  keysOfName,
  NAME_IN_BRACES,
  RESPONSE,
} from "./calls/endpoint.ts";
export type { RoutedRequest, Scope } from "./translation-context.ts";
export { OutputBuffer } from "./codegen/output-buffer.ts";
export { readBasic } from "./credentials/auth-parameters.ts";
export type { ClientCredentialsDefinition } from "./credentials/credentials-definition.ts";
export {
  credentialPlaces,
  credentialScheme,
  type CredentialsFormat,
  type CredentialsPlace,
  type SentToken,
  takeParameter,
  type TokenCarrier,
} from "./credentials/credentials.ts";
export type { OAuthDefinition } from "./credentials/oauth-definition.ts";
export type { Access, Grants, Scopes } from "./credentials/scopes.ts";
export type { FindV4Access } from "./routes/upstream-access.ts";
export { findUsualToken, secretsBehindScheme, usualTokenTexts } from "./credentials/usual-credentials.ts";
export { type ReadErrors, withBrackets } from "./errors/read-errors.ts";
export { findPlaces, keyNameOf } from "./errors/error-places.ts";
export { type ErrorFormats, errorsOf } from "./errors/error-shapes.ts";
export type { ErrorFormat } from "./errors/errors.ts";
export {
  type ErrorDetail,
  type ErrorSummary,
  type Failure,
  HttpError,
  INVALID_VALUE,
  type RejectedBy,
  type Rejection,
  REJECTIONS,
  REQUIRED,
  TranslatedError,
  type UpstreamErrorMeaning,
  ValidationError,
} from "./errors/http-error.ts";
export {
  type ErrorCodes,
  GATEWAY_TIMEOUT,
  type InvalidPart,
  isSuccess,
  meaningOf,
  NOT_MODIFIED,
  type Statuses,
  TOO_MANY_REQUESTS,
} from "./errors/statuses.ts";
export type { FieldRule } from "./fields/field-definition.ts";
export { levelsLoss, partLoss, relatedLoss, responseLoss } from "./calls/loss-texts.ts";
export { type Loss, lossText } from "./fields/loss.ts";
export { compileCopy, compileGetter, compileRemover, compileSetter } from "./values/member-paths.ts";
export {
  keysOfObjects,
  objectKeys,
  objectsPath,
  type ResponseField,
  responseFields,
} from "./routes/response-fields.ts";
export { allowsNull, keysOfPointer, schemaAt } from "./values/schema-members.ts";
export {
  dottedPath,
  fillKey,
  fillShape,
  findPath,
  nameOf,
  namesIn,
  type Shape,
  type ShapeValues,
  valueAt,
} from "./values/shape.ts";
export { headerName, status } from "./values/text-types.ts";
export { isOperand, type Scalar } from "./values/value-kind.ts";
export { fieldNames, type Filter } from "./filters/condition.ts";
export { completeFilter } from "./filters/default-filters.ts";
export { throwFilterError, throwParameterError } from "./filters/filter-error.ts";
export type { FilterWriter, SentFilter } from "./filters/filter-writer.ts";
export type { Grammar } from "./filters/grammar.ts";
export { parseFilter } from "./filters/parse-filter.ts";
export { selectRows } from "./filters/select.ts";
export { type FilterField, type FilterFields, translateFilter } from "./filters/translate.ts";
export { compileAskedForms, inCallback } from "./headers/asked-forms.ts";
export { queryOf } from "./expressions/client-head.ts";
export { hasTag, isEntityTag } from "./headers/entity-tag.ts";
export type { PassedHeaders } from "./headers/headers.ts";
export { namesAnotherMethod, namesMethod, overriddenMethod } from "./headers/method-override.ts";
export {
  type RateLimitHeaders,
  type RateLimitValues,
  readRetryAfter,
  rejectedByUpstream,
} from "./headers/rate-limit-headers.ts";
export type { Answer, WriteResponseHeaders } from "./headers/response-headers.ts";
export type { Aggregation } from "./keys/lists.ts";
export type { Bulk } from "./keys/bulk.ts";
export { fillResult } from "./calls/bulk-shapes.ts";
export type { BulkChunk } from "./calls/bulk-chunk.ts";
export type { FileRule } from "./keys/bodies.ts";
export { fieldTexts } from "./fields/keys/field-keys.ts";
export { isFilterable } from "./fields/keys/filters.ts";
export type { TokensStep } from "./keys/credentials.ts";
export type { RouteKind } from "./key-rules.ts";
export {
  createListParser,
  type ListValues,
  onePage,
  type ParseListBody,
  writeList,
} from "./lists/envelope.ts";
export { type RouteLists, upstreamEnvelopeOf } from "./lists/envelopes.ts";
export { LIST_VALUES } from "./lists/page-values.ts";
export type { ListWalk } from "./lists/list-walk.ts";
export { pageBefore, type PageRequest, readOffsetCursor, writeOffsetCursor } from "./lists/page-request.ts";
export type { Paging } from "./lists/paging.ts";
export { cursorParameter, type PageSize, type PagingStyle } from "./lists/styles.ts";
export type { ReceivedPage } from "./lists/upstream-pages.ts";
export { buildFiles } from "./load/checked-pack.ts";
export type { Pack } from "./load/pack.ts";
export { buildValidPack, loadPack, type PackFiles, readPack } from "./load/load-pack.ts";
export { renameWords } from "./load/rename-words.ts";
export { ACCEPTED_FILE } from "./load/validate-pack.ts";
export {
  assertReplaceable,
  describeProblems,
  type LoadedPack,
  loadFiles,
  loadFilesInBackground,
  packFolder,
  packHash,
  readPackFiles,
} from "./load/loaded-pack.ts";
export type { ApiNames, ChosenMembers } from "./keys/key.ts";
export type { TranslateLocation } from "./routes/locations.ts";
export type { Resource } from "./routes/resource.ts";
export { describePack } from "./openapi/document.ts";
export {
  classOf,
  type FieldClass,
  type FilterHeaders,
  filterHeadersOf,
  apiNames,
  type PackSummary,
  scopeOf,
  summarizePack,
} from "./load/pack-summary.ts";
export type { ApiSurface } from "./routes/api-surface.ts";
export { upstreamNamesOf } from "./parameters/parameter-definition.ts";
export { parseQuery, type Query, readParameters, shortName } from "./paths/query.ts";
export { mayBeNotModified, type Route } from "./routes/route.ts";
export type { TranslatedQuery } from "./parameters/query-rules.ts";
export { hasDotSegment, isText, type Parameters, splitPath } from "./paths/router.ts";
export { type AcceptedDifference, DIFFERENCE_KINDS } from "./schema/accepted-definition.ts";
export { FILE_KINDS, type FileKind, fileSchema } from "./schema/file-schema.ts";
export type { DialectDefinition } from "./schema/pack-definition.ts";
export {
  type CatalogCopy,
  type CatalogEntry,
  type ClientHead,
  type JsonObject,
  NO_CATALOGS,
  type ReadContext,
  type ReadFunction,
  type WriteContext,
} from "./translation-context.ts";
