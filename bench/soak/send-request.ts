import type { Pool } from "undici";

export interface SoakRequest {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** The whole `Authorization` header; undefined for a client without a token. */
  readonly as?: string;
  /** In alpha's words. */
  readonly filter?: object;
  readonly body?: object | string;
  /** Default: 200 alone. */
  readonly expected?: readonly number[];
}

export interface JsonResponse {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Sends one request and reads the whole response. @throws {Error} if its status is unexpected or its body is not JSON. */
export async function sendRequest(
  pool: Pool,
  { method = "GET", path, as, filter, body, ...more }: SoakRequest,
): Promise<JsonResponse> {
  const { expected = [200] } = more;
  const response = await pool.request({
    method,
    path,
    headers: {
      ...(as !== undefined && { authorization: as }),
      ...(filter && { "x-filter": JSON.stringify(filter) }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    body: typeof body === "object" ? JSON.stringify(body) : (body ?? null),
  });
  const text = await response.body.text();
  if (!expected.includes(response.statusCode))
    throw new Error(`${method} ${path} got ${response.statusCode}: ${text.slice(0, 200)}`);
  return { status: response.statusCode, json: JSON.parse(text) as JsonResponse["json"] };
}
