import type { Pool } from "undici";

export interface Ask {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** The whole header; none for a client without a token. */
  readonly as?: string;
  /** In alpha's words. */
  readonly filter?: object;
  readonly body?: object | string;
  /** Default: 200 alone. */
  readonly expected?: readonly number[];
}

export interface Told {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Asks once and reads the whole answer. @throws {Error} where its status is not expected, or it is no JSON. */
export async function ask(
  pool: Pool,
  { method = "GET", path, as, filter, body, ...more }: Ask,
): Promise<Told> {
  const { expected = [200] } = more;
  const answer = await pool.request({
    method,
    path,
    headers: {
      ...(as !== undefined && { authorization: as }),
      ...(filter && { "x-filter": JSON.stringify(filter) }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    body: typeof body === "object" ? JSON.stringify(body) : (body ?? null),
  });
  const text = await answer.body.text();
  if (!expected.includes(answer.statusCode))
    throw new Error(`${method} ${path} got ${answer.statusCode}: ${text.slice(0, 200)}`);
  return { status: answer.statusCode, json: JSON.parse(text) as Told["json"] };
}
