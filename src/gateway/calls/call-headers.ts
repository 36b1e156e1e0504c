/** The headers of calls to v4. */
import type { Pack } from "../../pack/index.ts";
import { header, type AlphaRequest } from "../request/request.ts";

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
