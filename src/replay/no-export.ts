/** What can't be read as an export of the audit. The message names the line. */
export class NoExport extends Error {
  override readonly name = "NoExport";
}
