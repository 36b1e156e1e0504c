import { isObject, printJson } from "../../dialect/json/parse.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import type { MergePart } from "../../mapping/compile/route-steps.ts";
import { buildResponse, parseObject, throwTranslatedError } from "./build-response.ts";
import type { UpstreamResponse } from "./call-upstream.ts";
import { requestWithoutBody, type PreparedRequest, type RouteExecution } from "../route-context.ts";

/** One of the places that a v4 object is spread over, with the call that is made there. */
interface Half {
  /** Undefined: the object itself. */
  readonly name: string | undefined;
  readonly send: PreparedRequest;
}

const isObjectWithMembers = (value: unknown): value is JsonObject =>
  isObject(value) && Object.keys(value).length > 0;

/** Where something is to be written, it is; every other half is read. */
function halves(
  prepared: PreparedRequest,
  joins: readonly MergePart[],
  { match: target }: RouteExecution,
): Half[] {
  const { body = {}, ...call } = prepared;
  const names = new Set(joins.map(({ name }) => name));
  const own = Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(name)));
  const main: PreparedRequest = isObjectWithMembers(own)
    ? { ...call, body: own }
    : { ...call, method: "GET" };
  const others = joins.map(({ name, read, write }): Half => {
    const written = body[name];
    if (!isObjectWithMembers(written)) return { name, send: requestWithoutBody(read, target.parameters) };
    return { name, send: { ...call, ...requestWithoutBody(write, target.parameters), body: written } };
  });
  return [{ name: undefined, send: main }, ...others];
}

/** Errors of a joined half name its members as if they stood below its name. */
function refuseHalf(
  answer: UpstreamResponse,
  { name, send: call }: Half,
  { match: target, translation: rules, context: notes }: RouteExecution,
): never {
  const { route } = target;
  const errorField = (field: string) => route.errorField(name === undefined ? field : `${name}.${field}`);
  return throwTranslatedError(answer, { ...route, errorField }, call, rules, notes);
}

/**
 * Answers with an object that v4 has in several places. What is written is written one after the other; what is
 * only read, at once. Where any of it fails, that is the answer, though an earlier half is written by then.
 *
 * @throws {Refusal} v4's, in alpha's words
 */
export async function mergeResources(
  prepared: PreparedRequest,
  work: RouteExecution,
): Promise<string | Buffer> {
  const { match: target, context: notes, catalogs, translation: rules } = work;
  const all = halves(prepared, target.route.mergeParts, work);
  const found: JsonObject = {};
  notes.upstreamEquivalent = all.map(({ send: call }) => `${call.method} ${call.path}`).join(", ");

  async function make(half: Half): Promise<void> {
    const answer = await work.call(half.send);
    if (!answer.success) refuseHalf(answer, half, work);
    const object = parseObject(answer.json);
    if (half.name === undefined) Object.assign(found, { ...object, ...found });
    else found[half.name] = object;
  }

  const [read, written] = [true, false].map((reads) =>
    all.filter(({ send: call }) => (call.method === "GET") === reads),
  );
  for (const [index, half] of (written ?? []).entries()) {
    await make(half).catch((error: unknown) => {
      if (index > 0) notes.warnings.push("what was written before has taken effect");
      throw error;
    });
  }
  await Promise.all((read ?? []).map(make));
  for (const loss of target.route.losses) notes.losses.add(loss);
  const whole: UpstreamResponse = {
    status: 200,
    success: true,
    headers: {},
    text: printJson(found),
    json: found,
  };
  return buildResponse(whole, target.route, { catalogs, related: {} }, rules);
}
