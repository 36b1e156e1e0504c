import { isDeepStrictEqual } from "node:util";
import { Refusal, type Fault } from "../dialect/refusal.ts";
import type { BodyRules, WrittenBody } from "../mapping/body.ts";
import { copyJson, remover } from "../mapping/paths.ts";
import type { Preliminary } from "../mapping/route-steps.ts";
import type { JsonObject } from "../mapping/reading.ts";
import { refuseLikeV4 } from "./answer-back.ts";
import { plainCall, type Work } from "./work.ts";

/** What a GET of the same object shows now, for edits; undefined where v4 won't say. */
export type Shown = (() => Promise<JsonObject | undefined>) | undefined;

/** A body without the members that are at fault, so that the rest can still be looked at. */
function without(body: JsonObject, faults: readonly Fault[], rules: BodyRules): JsonObject {
  const rest = copyJson(body) as JsonObject;
  for (const { field = "" } of faults) (rules.memberOf(field)?.remove ?? remover(field))(rest);
  return rest;
}

/**
 * Takes out members that break a rule of alpha and yet are what a GET shows now: whole objects are sent back
 * by clients, and a v4 object may hold what alpha would not let in (translation 2). Read only in this case.
 */
async function forgive(
  body: JsonObject,
  faults: readonly Fault[],
  rules: BodyRules,
  shown: Shown,
): Promise<JsonObject> {
  const now = await shown?.();
  if (!now) return body;
  const unchanged = faults.filter(({ field = "" }) => {
    const member = rules.memberOf(field);
    return member !== undefined && isDeepStrictEqual(member.get(body), member.get(now));
  });
  return without(body, unchanged, rules);
}

/** What the reads before the call gave, the faults of those that found nothing, and the rules that depend on them. */
interface FirstReads {
  readonly values: Readonly<Record<string, unknown>>;
  readonly faults: readonly Fault[];
  readonly check: (v4: JsonObject) => Promise<Fault[]>;
}

/**
 * Asks v4 for what rules or values depend on. Where a rule's read is refused (401, 403), v4 decides the call
 * itself; a read that values are made from must succeed.
 *
 * @throws {Refusal} v4's, of a read that nothing can be made without
 */
async function readFirst(body: JsonObject, faults: readonly Fault[], work: Work): Promise<FirstReads> {
  const { target, call, rules, notes, pack } = work;
  const values: Record<string, unknown> = {};
  const missing: Fault[] = [];
  const read: { step: Preliminary; json: unknown }[] = [];
  for (const step of target.route.first) {
    const { blames, endpoint } = step;
    const pointless = blames === undefined ? faults.length > 0 : faults.some(({ field }) => field === blames);
    if (pointless || !(await step.needed(body))) continue;
    const sent = plainCall(endpoint, { ...target.parameters, ...body });
    const answer = await call(sent);
    if (!answer.success && blames === undefined) refuseLikeV4(answer, target.route, sent, rules, notes);
    if (answer.status === 404 && blames !== undefined) {
      missing.push({ field: blames, reason: pack.dialect.reasons.unknown_record });
    }
    if (!answer.success || answer.json === undefined) continue;
    values[step.name] = answer.json;
    read.push({ step, json: answer.json });
  }
  return {
    values,
    faults: missing,
    async check(v4) {
      const found = await Promise.all(read.map(async ({ step, json }) => step.check(body, json, v4)));
      return found.flat();
    },
  };
}

/**
 * Brings an alpha body to v4.
 *
 * @throws {Refusal} 400 with every fault that can be told, in alpha's names.
 */
export async function translateBody(
  sent: JsonObject,
  rules: BodyRules,
  work: Work,
  shown: Shown,
): Promise<WrittenBody> {
  const normal = rules.normalise(sent);
  const unread = new Set(normal.faults.map(({ field }) => field));
  // What could not be read is told once, not a second time for the type that it has so.
  const check = (body: JsonObject): Fault[] => [
    ...normal.faults,
    ...rules.check(body).filter(({ field }) => !unread.has(field)),
  ];
  let { body } = normal;
  let faults = check(body);
  if (faults.length > 0 && shown) {
    body = await forgive(body, faults, rules, shown);
    faults = check(body);
  }
  const sound = faults.length > 0 ? without(body, faults, rules) : body;
  const first = await readFirst(sound, faults, work);
  const { catalogs, target, request } = work;
  const written = await rules.write(sound, {
    catalogs,
    first: first.values,
    path: target.parameters,
    client: request.address,
  });
  faults = [...faults, ...written.faults, ...first.faults];
  const blamed = new Set(faults.map(({ field }) => field));
  // A member at fault was taken out: what the rules say of its absence is not the client's doing.
  faults.push(...(await first.check(written.v4)).filter(({ field }) => !blamed.has(field)));
  if (faults.length > 0) throw new Refusal(400, faults);
  return written;
}
