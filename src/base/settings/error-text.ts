/** The message of a thrown value, which may not be an `Error`. */
export const errorText = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** Whether an operator can correct an error. Such errors have a `code`; all others are bugs. */
export const isOperatorError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("AG_");
