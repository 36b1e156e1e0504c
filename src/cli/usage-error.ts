/** What someone typed can't be done; the message alone is shown. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "AG_USAGE";
}

/** A parameter that can't be used, as the readers of queries tell it. */
interface Problem {
  readonly parameter?: string;
  readonly reason: string;
}

/** Tells problems of parameters by the flags they were typed as, all at once. @throws {UsageError} where there is one */
export function throwUsageErrors(problems: readonly Problem[]): void {
  if (problems.length > 0)
    throw new UsageError(problems.map(({ parameter, reason }) => `--${parameter}: ${reason}`).join("\n"));
}
