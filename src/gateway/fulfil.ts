import { Refusal } from "../dialect/refusal.ts";
import { isObject, printJson } from "../dialect/json.ts";
import type { FollowUp } from "../mapping/route-steps.ts";
import { answerBack } from "./answer-back.ts";
import { answerCollected } from "./answer-collected.ts";
import { answerFromCatalog } from "./answer-from-catalog.ts";
import { answerJoined } from "./answer-joined.ts";
import { carryFile } from "./carry-file.ts";
import { callOut } from "./call-out.ts";
import type { Incoming } from "./call-v4.ts";
import type { FileAnswer } from "./exchange.ts";
import { readBesides } from "./read-besides.ts";
import { requestOut } from "./request-out.ts";
import { bringLevels } from "./token-levels.ts";
import { plainCall, type Prepared, type Work } from "./work.ts";

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

async function answered(answer: Incoming, prepared: Prepared, work: Work): Promise<string | Buffer> {
  const { route } = work.target;
  // Asked now: v4 may have said with this very answer what the token may do.
  const shown = route.withoutScopes && (await work.lacksScopes()) ? route.withoutScopes : route;
  const besides = await readBesides(answer, prepared, work);
  const reading = { catalogs: work.catalogs, with: besides, sent: prepared.alpha };
  const body = await answerBack(answer, shown, reading, work.rules);
  if (!route.tokenLevels) return body;
  return bringLevels(body, route.tokenLevels, route.gives === "list" ? route.list : undefined, work.levels);
}

/**
 * Does what an admitted request asks for: request out, v4, answer back.
 *
 * @returns alpha's body of a success, as JSON text
 * @throws {Refusal} what alpha refuses, and what v4 refused
 */
export async function fulfil(work: Work): Promise<string | Buffer | FileAnswer> {
  const { route } = work.target;
  if ("refusal" in route.source) throw new Refusal(route.source.refusal.status, route.source.refusal.reason);
  if ("catalog" in route.source) return answerFromCatalog(route.source.catalog, work);
  if (route.takes || route.file) return carryFile(route.source.call, work);
  if (route.collect) return answerCollected(route.source.call, route.collect, work);
  const prepared = await requestOut(route.source.call, work);
  if (route.joins.length > 0) return answerJoined(prepared, work);
  const called = await callOut(prepared, work);
  if (!route.after) return answered(called, prepared, work);
  const next = await followUp(route.after, work);
  return next ? answered(next, prepared, work) : whatIsKnown(route.after, called, work);
}
