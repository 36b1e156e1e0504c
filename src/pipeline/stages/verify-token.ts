import type { Endpoint } from "../../mapping/compile/endpoint.ts";
import { throwTranslatedError, type TranslationConfig } from "./build-response.ts";
import type { CallUpstream } from "./call-upstream.ts";
import type { RequestContext, RouteMatch } from "../context.ts";
import { requestWithoutBody } from "../route-context.ts";

/**
 * Asks v4 whether it takes the caller's token, by a small read. A file is taken from nobody whose token v4 has not:
 * made-up tokens could hold all connections for files by sending them slowly. v4 may refuse the read itself (403).
 *
 * @throws {Refusal} v4's refusal of the token, in alpha's words
 */
export async function verifyToken(
  endpoint: Endpoint,
  call: CallUpstream,
  { route }: RouteMatch,
  rules: TranslationConfig,
  notes: RequestContext,
): Promise<void> {
  const sent = requestWithoutBody(endpoint, {});
  const answer = await call(sent);
  if (!answer.success && answer.status !== 403) throwTranslatedError(answer, route, sent, rules, notes);
}
