/** What the service says no with. Any other error that reaches the end of the road is a 500 without details. */

/** One entry of `errors` (document 1, Errors). `field` names a member of the request, dotted when nested. */
export interface FieldError {
  readonly reason: string;
  readonly field?: string;
}

export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly errors: readonly FieldError[];
  /** Extra headers of the answer, e.g. `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, errors: readonly FieldError[], headers: Readonly<Record<string, string>> = {}) {
    super(errors.map((fieldError) => fieldError.reason).join(" "));
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** 400, for one member of the request or for the request as a whole. */
export function invalid(reason: string, field?: string): Problem {
  return new Problem(400, [field === undefined ? { reason } : { reason, field }]);
}

export function notFound(): Problem {
  return new Problem(404, [{ reason: "Not found" }]);
}

// Ends a call on which something is wrong, with everything that is.

/**
 * One fault for each member: the first, which is about the member by itself.
 *
 * @throws {Problem} 400 where there is any.
 */
export function throwInvalid(errors: readonly FieldError[]): void {
  const seen = new Set<string>();
  const kept = errors.filter(({ field }) => {
    if (field === undefined) return true;
    const first = !seen.has(field);
    seen.add(field);
    return first;
  });
  if (kept.length > 0) throw new Problem(400, kept);
}
