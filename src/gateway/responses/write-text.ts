/** Responses that are a text, which the pack makes of the client's JSON. */
import { parseJson } from "../../base/index.ts";
import type { Route, Scope } from "../../pack/index.ts";
import { InvalidUpstreamResponseError } from "../pipeline/calls/upstream-response.ts";

/**
 * The text of a response.
 *
 * @param body JSON text
 * @throws {InvalidUpstreamResponseError} if its expression gives no text; {ExpressionError}
 */
export async function writeText(
  { write }: NonNullable<Route["text"]>,
  body: string | Buffer,
  scope: Scope | undefined,
): Promise<string> {
  const text = await write(parseJson(body.toString()), scope ?? { calls: {} });
  if (typeof text === "string") return text;
  throw new InvalidUpstreamResponseError('"text" of the route gives no text for the response');
}
