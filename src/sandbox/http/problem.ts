/** Errors with a response. The request handler turns any other error into a 500 without details. */

/** One entry of `errors` (V-186 to V-189). `field` names a member of the request, dotted when nested. */
export interface FieldError {
  readonly reason: string;
  readonly field?: string;
}

export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly errors: readonly FieldError[];
  /** Additional response headers, e.g. `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, errors: readonly FieldError[], headers: Readonly<Record<string, string>> = {}) {
    super(errors.map((fieldError) => fieldError.reason).join(" "));
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** Creates a 400 for one member of the request, or for the whole request. */
export function invalid(reason: string, field?: string): Problem {
  return new Problem(400, [field === undefined ? { reason } : { reason, field }]);
}

export function notFound(): Problem {
  return new Problem(404, [{ reason: "Not found" }]);
}

// Reporting of validation errors.

/**
 * Throws one error per member: its first one, which concerns only that member.
 *
 * @throws {Problem} 400 if there is any error.
 */
export function throwInvalid(errors: readonly FieldError[]): void {
  const seen = new Set<string>();
  const firstErrors = errors.filter(({ field }) => {
    if (field === undefined) return true;
    const first = !seen.has(field);
    seen.add(field);
    return first;
  });
  if (firstErrors.length > 0) throw new Problem(400, firstErrors);
}
