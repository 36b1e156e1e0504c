/** What can't be read as an export of the audit. The message names the line. */
export class InvalidExportError extends Error {
  override readonly name = "InvalidExportError";
  readonly code = "AG_EXPORT_INVALID";
}
