/** The headers of calls to v4. */
import type { CredentialsFormat, Pack, SentToken } from "../../pack/index.ts";
import type { Credentials } from "../request/client.ts";
import { header, type AlphaRequest } from "../request/request.ts";

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
  fixed: Pack["upstreamHeaders"],
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
