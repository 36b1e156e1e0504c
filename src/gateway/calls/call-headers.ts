/** The headers of calls to v4. */
import type { CredentialsFormat, SentToken } from "../../pack/index.ts";
import type { Credentials } from "../request/client.ts";
import { header, type AlphaRequest } from "../request/request.ts";

/** The names of v4's headers. */
export interface UpstreamDialect {
  /** Name of the upstream in warnings. */
  readonly name: string;
  /** Format of the credentials; undefined if no token is sent to the upstream. */
  readonly credentials: CredentialsFormat | undefined;
  readonly filterHeader: string | undefined;
  /** Headers of all requests. */
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** Returns a client's token in the form for v4. Undefined for a client without a token. */
export const sentToken = (
  { token }: Credentials,
  format: CredentialsFormat | undefined,
): SentToken | undefined => (token === undefined ? undefined : format?.write(token));

/**
 * Returns the headers of all calls of a request. Only these are copied from the client (L-17). @param passed the
 * headers that the pack names
 */
export function commonHeaders(
  request: AlphaRequest,
  traceparent: string | undefined,
  fixed: UpstreamDialect["headers"],
  passed: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {
    accept: "application/json",
    "accept-encoding": "identity",
    "x-request-id": request.id,
  };
  if (traceparent !== undefined) headers["traceparent"] = traceparent;
  const agent = header(request, "user-agent");
  if (agent !== undefined) headers["user-agent"] = agent;
  if (fixed) Object.assign(headers, fixed);
  // The gateway's own headers take precedence.
  return { ...passed, ...headers };
}
