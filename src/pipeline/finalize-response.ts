import {
  header,
  type AlphaResponse,
  type AlphaRequest,
  type FileResponse,
  type RequestContext,
} from "./context.ts";

/** What every answer of one gateway has in common, decided at start. */
export interface ResponseDefaults {
  /** Headers that never change: caching, vary, deprecation. */
  readonly headers: Readonly<Record<string, string>>;
  readonly alwaysOk: { readonly request: string; readonly answer: string };
  readonly rateLimitedStatus: { readonly status: number; readonly phrase: string };
}

/** The gateway's own standing of the caller, or v4's where v4 refused (contract, rule 6). */
function limitHeaders(
  { rateLimitStatus: standing, upstreamRateLimitHeaders: v4Limits }: RequestContext,
  limited: boolean,
  headers: Record<string, string>,
): void {
  if (!standing) return;
  headers["x-ratelimit-limit"] = String(standing.limit);
  headers["x-ratelimit-remaining"] = String(standing.remaining);
  headers["x-ratelimit-reset"] = String(standing.resetAt);
  if (limited) headers["retry-after"] = String(standing.retryAfter);
  if (v4Limits) Object.assign(headers, v4Limits);
}

const NO_BYTES = Buffer.alloc(0);

function bytesOf(body: string | Buffer | FileResponse): Buffer {
  if (typeof body === "string") return Buffer.from(body);
  return Buffer.isBuffer(body) ? body : NO_BYTES;
}

/** Makes the answer that goes out. A client that asked for 200 always finds the true status in a header. */
export function finalizeResponse(
  request: AlphaRequest,
  {
    status,
    body,
    headers: own,
  }: Pick<AlphaResponse, "status"> &
    Partial<Pick<AlphaResponse, "headers">> & { readonly body: string | Buffer | FileResponse },
  style: ResponseDefaults,
  notes: RequestContext,
): AlphaResponse {
  const alwaysOk = header(request, style.alwaysOk.request.toLowerCase())?.toLowerCase() === "true";
  const limited = status === style.rateLimitedStatus.status;
  const headers: Record<string, string> = {
    ...style.headers,
    "content-type": "application/json",
    "x-request-id": request.id,
  };
  limitHeaders(notes, limited, headers);
  if (notes.upstreamEquivalent !== undefined) headers["x-v4-equivalent"] = notes.upstreamEquivalent;
  if (own) Object.assign(headers, own);
  if (alwaysOk) headers[style.alwaysOk.answer.toLowerCase()] = String(status);
  const file = typeof body === "string" || Buffer.isBuffer(body) ? undefined : body;
  if (file) headers["content-type"] = file.type;
  if (file?.coding !== undefined) headers["content-encoding"] = file.coding;
  return {
    status: alwaysOk ? 200 : status,
    ...(limited && !alwaysOk && { phrase: style.rateLimitedStatus.phrase }),
    headers,
    body: bytesOf(body),
    ...(file && { file }),
  };
}
