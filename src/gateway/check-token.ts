import type { Endpoint } from "../mapping/endpoint.ts";
import { refuseLikeV4, type AnswerRules } from "./answer-back.ts";
import type { CallV4 } from "./call-v4.ts";
import type { Notes, Target } from "./exchange.ts";
import { plainCall } from "./work.ts";

/**
 * Asks v4 whether it takes the caller's token, by a small read. A file is taken from nobody whose token v4 has not:
 * made-up tokens could hold all connections for files by sending them slowly. v4 may refuse the read itself (403).
 *
 * @throws {Refusal} v4's refusal of the token, in alpha's words
 */
export async function checkToken(
  endpoint: Endpoint,
  call: CallV4,
  { route }: Target,
  rules: AnswerRules,
  notes: Notes,
): Promise<void> {
  const sent = plainCall(endpoint, {});
  const answer = await call(sent);
  if (!answer.success && answer.status !== 403) refuseLikeV4(answer, route, sent, rules, notes);
}
