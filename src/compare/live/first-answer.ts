/** The first answer to a request that is compared: what its client got, of the old service or of the translation. */
import { CLIENT_GONE } from "../../base/index.ts";
import type { BodyStart, LegacyExchange } from "../../gateway/index.ts";
import type { Asked, Exchange } from "../answers/second-answer.ts";
import { MAX_COMPARED_BYTES, textHeaders } from "./ask-old-service.ts";

/** Whether the old service has done a write, or may have. A status of undefined says that it did not get the request. */
export const hasOldWritten = ({ outcome: { upstreamStatus } }: LegacyExchange): boolean =>
  upstreamStatus === null || (upstreamStatus !== undefined && upstreamStatus < 400);

/** The bytes of a body; undefined where it is too long, or a file. */
export async function wholeBody(start: BodyStart | undefined): Promise<Buffer | undefined> {
  if (!start) return Buffer.alloc(0);
  const { bytes, lack } = await start.decode(MAX_COMPARED_BYTES);
  return lack === undefined ? bytes : undefined;
}

/** The answer of the old service to a client, or why there is none to compare. */
export async function answerOf({ answer, outcome }: LegacyExchange): Promise<Asked> {
  if (outcome.status === CLIENT_GONE) return "client_gone";
  if (!answer) return "unreachable";
  if (outcome.isComplete === false) return "unreadable";
  const body = await wholeBody(answer.body);
  return body ? { status: answer.status, headers: textHeaders(answer.headers), body } : "size";
}

/** The answer of the translation to a client, or why there is none to compare. */
export function translatedAnswer({ outcome, context }: Exchange): Asked {
  const { status, response } = outcome;
  if (status === CLIENT_GONE) return "client_gone";
  if (response.file) return "size";
  // What the gateway itself refuses, or leaves out by its plan, is not the translation.
  if (context.rejectedBy !== undefined || context.hiddenFields) return "limited";
  return { status: response.status, headers: response.headers, body: response.body };
}
