import { Refusal } from "../dialect/refusal.ts";
import { isObject } from "../mapping/paths.ts";
import type { JsonObject } from "../mapping/reading.ts";
import type { FollowUp } from "../mapping/route-steps.ts";
import { answerBack } from "./answer-back.ts";
import { answerFromCatalog } from "./answer-from-catalog.ts";
import { callOut } from "./call-out.ts";
import type { Incoming } from "./call-v4.ts";
import { readBesides } from "./read-besides.ts";
import { requestOut } from "./request-out.ts";
import { plainCall, type Work } from "./work.ts";

/** The call has happened; when the read that its answer is made of fails, what is known is said (translation 1.3). */
async function followUp(
  { endpoint, otherwise }: FollowUp,
  answer: Incoming,
  work: Work,
): Promise<Incoming | JsonObject> {
  const { parameters } = work.target;
  const next = await work.call(plainCall(endpoint, parameters)).catch(() => undefined);
  if (next?.success && isObject(next.json)) return next;
  work.notes.losses.add("the answer: v4 did not give it");
  const known = await otherwise(answer.json, parameters);
  return isObject(known) ? known : {};
}

const isIncoming = (value: Incoming | JsonObject): value is Incoming =>
  "success" in value && "headers" in value;

/**
 * Does what an admitted request asks for: request out, v4, answer back.
 *
 * @returns alpha's body of a success
 * @throws {Refusal} what alpha refuses, and what v4 refused
 */
export async function fulfil(work: Work): Promise<JsonObject> {
  const { route } = work.target;
  if ("refusal" in route.source) throw new Refusal(400, route.source.refusal);
  if ("catalog" in route.source) return answerFromCatalog(route.source.catalog, work);
  const prepared = await requestOut(route.source.call, work);
  const called = await callOut(prepared, work);
  const answer = route.after ? await followUp(route.after, called, work) : called;
  if (!isIncoming(answer)) return answer;
  const reading = { catalogs: work.catalogs, with: await readBesides(answer, work) };
  return answerBack(answer, route, reading, work.rules);
}
