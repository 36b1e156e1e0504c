/** What the login server says no with (RFC 6749 4.1.2.1 and 5.2). */
export class OAuthProblem extends Error {
  override readonly name = "OAuthProblem";
  readonly status: number;
  /** `invalid_client` and its like. */
  readonly error: string;

  constructor(error: string, description: string, status = error === "invalid_client" ? 401 : 400) {
    super(description);
    this.error = error;
    this.status = status;
  }
}
