/** What someone typed can't be done; the message alone is shown. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
