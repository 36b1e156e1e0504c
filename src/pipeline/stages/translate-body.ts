import { isDeepStrictEqual } from "node:util";
import { HttpError, type ErrorDetail } from "../../dialect/http-error.ts";
import type { BodyMember, BodyRules, WrittenBody } from "../../mapping/compile/body.ts";
import { changedMembers } from "../../mapping/compile/changed-members.ts";
import { compileCopy, compileRemover } from "../../mapping/compile/member-paths.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import { fetchPrerequisites } from "./fetch-prerequisites.ts";
import type { RouteExecution } from "../route-context.ts";

/** What a GET of the same object shows now, for edits; undefined where v4 won't say. `must`: v4's refusal is thrown. */
export type FetchCurrent = ((must?: "must") => Promise<JsonObject | undefined>) | undefined;

/** A body as it goes to v4, with what it was made from. */
export interface TranslatedBody extends WrittenBody {
  /** The alpha body, in its documented form. */
  readonly alpha: JsonObject;
  /** What was read before the call. */
  readonly prerequisites: Readonly<Record<string, unknown>>;
}

/** A body without the members that are at fault, so that the rest can still be looked at. */
function without(body: JsonObject, faults: readonly ErrorDetail[], rules: BodyRules): JsonObject {
  const members = faults.map(({ field = "" }) => ({ field, member: rules.memberOf(field) }));
  const rest = compileCopy(members.map(({ field, member }) => member?.name ?? field))(body);
  for (const { field, member } of members) (member?.remove ?? compileRemover(field))(rest);
  return rest;
}

/**
 * Takes out members that break a rule of alpha and yet are what a GET shows now: whole objects are sent back
 * by clients, and a v4 object may hold what alpha would not let in (translation 2). Read only in this case.
 */
async function forgive(
  body: JsonObject,
  faults: readonly ErrorDetail[],
  rules: BodyRules,
  shown: FetchCurrent,
): Promise<JsonObject> {
  const now = await shown?.();
  if (!now) return body;
  const same = new Map<BodyMember, boolean>();
  const unchanged = faults.filter(({ field = "" }) => {
    const member = rules.memberOf(field);
    if (!member) return false;
    const isSame = same.get(member) ?? isDeepStrictEqual(member.get(body), member.get(now));
    same.set(member, isSame);
    return isSame;
  });
  return without(body, unchanged, rules);
}

/**
 * Brings an alpha body to v4.
 *
 * @throws {HttpError} 400 with every fault that can be told, in alpha's names.
 */
export async function translateBody(
  sent: JsonObject,
  rules: BodyRules,
  work: RouteExecution,
  shown: FetchCurrent,
): Promise<TranslatedBody> {
  const normal = rules.normalise(sent);
  const unread = new Set(normal.faults.map(({ field }) => field));
  // What could not be read is told once, not a second time for the type that it has so.
  const check = (body: JsonObject): ErrorDetail[] => [
    ...normal.faults,
    ...rules.check(body).filter(({ field }) => !unread.has(field)),
  ];
  let { body } = normal;
  let faults = check(body);
  if (faults.length > 0 && shown) {
    body = await forgive(body, faults, rules, shown);
    faults = check(body);
  }
  let sound = faults.length > 0 ? without(body, faults, rules) : body;
  if (work.match.route.sendsOnlyChanges && faults.length === 0) {
    sound = changedMembers(sound, await shown?.("must"), work.pack.dialect.alpha.reference);
  }
  const first = await fetchPrerequisites(sound, faults, work);
  const { catalogs, match: target, request } = work;
  const written = await rules.write(sound, {
    catalogs,
    prerequisites: first.values,
    path: target.parameters,
    client: request.address,
  });
  faults = [...faults, ...written.faults, ...first.faults];
  const blamed = new Set(faults.map(({ field }) => field));
  // A member at fault was taken out: what the rules say of its absence is not the client's doing.
  faults.push(...(await first.check(written.v4)).filter(({ field }) => !blamed.has(field)));
  if (faults.length > 0) throw new HttpError(400, faults);
  return { ...written, alpha: sound, prerequisites: first.values };
}
