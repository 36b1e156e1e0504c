import { Refusal } from "../dialect/refusal.ts";
import { isObject, printJson } from "../dialect/json.ts";
import type { FollowUp } from "../mapping/route-steps.ts";
import { answerBack } from "./answer-back.ts";
import { answerFromCatalog } from "./answer-from-catalog.ts";
import { callOut } from "./call-out.ts";
import type { Incoming } from "./call-v4.ts";
import { readBesides } from "./read-besides.ts";
import { requestOut } from "./request-out.ts";
import { plainCall, type Work } from "./work.ts";

/** The read after the call whose answer is the answer; undefined where it fails. */
async function followUp({ endpoint }: FollowUp, work: Work): Promise<Incoming | undefined> {
  const next = await work.call(plainCall(endpoint, work.target.parameters)).catch(() => undefined);
  return next?.success && isObject(next.json) ? next : undefined;
}

/** The call has happened, and what its answer is made of could not be read: what is known is said (translation 1.3). */
async function whatIsKnown({ otherwise }: FollowUp, called: Incoming, work: Work): Promise<string> {
  work.notes.losses.add("the answer: v4 did not give it");
  const known = await otherwise(called.json, work.target.parameters);
  return printJson(isObject(known) ? known : {});
}

async function answered(answer: Incoming, work: Work): Promise<string> {
  const reading = { catalogs: work.catalogs, with: await readBesides(answer, work) };
  return answerBack(answer, work.target.route, reading, work.rules);
}

/**
 * Does what an admitted request asks for: request out, v4, answer back.
 *
 * @returns alpha's body of a success, as JSON text
 * @throws {Refusal} what alpha refuses, and what v4 refused
 */
export async function fulfil(work: Work): Promise<string> {
  const { route } = work.target;
  if ("refusal" in route.source) throw new Refusal(400, route.source.refusal);
  if ("catalog" in route.source) return answerFromCatalog(route.source.catalog, work);
  const prepared = await requestOut(route.source.call, work);
  const called = await callOut(prepared, work);
  if (!route.after) return answered(called, work);
  const next = await followUp(route.after, work);
  return next ? answered(next, work) : whatIsKnown(route.after, called, work);
}
