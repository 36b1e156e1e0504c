/** The final form of a translated body, and the input for headers. */
import {
  type ChosenMembers,
  keysOfObjects,
  objectKeys,
  type Pack,
  type Route,
  type Scope,
} from "../../pack/index.ts";
import type { RequestContext } from "../request/context.ts";
import type { PlanRules } from "../request/plan.ts";
import type { ResponseBody } from "../request/response.ts";
import type { SuccessBodies } from "./passed-headers.ts";
import { isObject, parseJson, printJson } from "../../base/index.ts";
import { InvalidUpstreamResponseError } from "../calls/upstream-response.ts";

/** Whether a body is JSON text, not a file or empty. */
const isText = (body: ResponseBody): body is string | Buffer =>
  body !== "" && (typeof body === "string" || Buffer.isBuffer(body));

/** Puts an object into the client's wrapper. A 304 contains no object. */
const wrap = ({ wrapObject }: Route, body: ResponseBody): ResponseBody =>
  wrapObject && typeof body === "string" && body !== "" ? wrapObject(body) : body;

/**
 * Returns a function that puts a body into the client's wrapper, removes the fields of brown-outs, keeps the members
 * that the client has chosen, and writes the text of routes that respond with a text.
 */
export function createBodyShaper(pack: Pack, plan: Pick<PlanRules, "count">) {
  /** The locations of a route's objects are computed once, when a plan first needs them. */
  const known = new Map<Route, ReturnType<typeof keysOfObjects>>();
  function keysOf(route: Route): ReturnType<typeof keysOfObjects> {
    const found = known.get(route) ?? keysOfObjects(route, pack);
    known.set(route, found);
    return found;
  }

  /** Removes fields that are in a brown-out. Only responses from which a field is removed are parsed again. */
  function leaveOut(route: Route, body: ResponseBody, context: RequestContext): ResponseBody {
    const keys = context.planned?.hiddenFields && keysOf(route);
    const stages = context.planned?.hiddenFields?.filter(({ object }) => keys?.has(object)) ?? [];
    if (stages.length === 0 || !isText(body)) return body;
    const parsed = parseJson(body.toString());
    for (const { name, kind, object, field } of stages) {
      plan.count(name, kind);
      for (const path of keys?.get(object) ?? [])
        for (const found of valuesAt(parsed, path)) removeField(found, field);
    }
    context.hiddenFields = stages.map(({ object, field }) => `${object}.${field}`);
    return printJson(parsed);
  }

  return async function shapeBodies(
    route: Route,
    body: ResponseBody,
    chosen: ChosenMembers | undefined,
    context: RequestContext,
  ): Promise<SuccessBodies> {
    const whole = leaveOut(route, wrap(route, body), context);
    const kept = chosen && isText(whole) ? keepFields(whole, chosen, route) : whole;
    const shown = route.text && isText(kept) ? await writeText(route.text, kept, context.scope) : kept;
    return { whole, shown };
  };
}

/** The header of a response that lacks fields because of the plan. */
export const FIELD_HEADER = "x-field-brown-out";

/** Removes a member by its dotted name. */
function removeMember(object: unknown, [key = "", ...rest]: readonly string[]): void {
  if (!isObject(object) || !Object.hasOwn(object, key)) return;
  if (rest.length === 0) delete object[key];
  else removeMember(object[key], rest);
}

/** Removes a field. A pack may write a name with a dot as one member. */
function removeField(object: unknown, field: string): void {
  if (isObject(object) && Object.hasOwn(object, field)) removeMember(object, [field]);
  else removeMember(object, field.split("."));
}

/** Removes all members except the chosen ones, even in the objects of a list. */
function keepMembers(value: unknown, chosen: ChosenMembers): void {
  if (Array.isArray(value)) return value.forEach((item) => keepMembers(item, chosen));
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(chosen, name)) delete value[name];
    else if (chosen[name]) keepMembers(value[name], chosen[name]);
  }
}

/**
 * Removes the members that the client has not requested. Only such responses are parsed again.
 *
 * @param body JSON text
 */
function keepFields(body: string | Buffer, chosen: ChosenMembers, route: Route): string {
  const parsed = parseJson(body.toString());
  for (const object of valuesAt(parsed, objectKeys(route))) keepMembers(object, chosen);
  return printJson(parsed);
}

/**
 * The text of a response.
 *
 * @param body JSON text
 * @throws {InvalidUpstreamResponseError} if the expression does not return a text; {ExpressionError}
 */
async function writeText(
  { write }: NonNullable<Route["text"]>,
  body: string | Buffer,
  scope: Scope | undefined,
): Promise<string> {
  const text = await write(parseJson(body.toString()), scope ?? { calls: {} });
  if (typeof text === "string") return text;
  throw new InvalidUpstreamResponseError('"text" of the route gives no text for the response');
}

/** Finds all values at the given keys, in each item of arrays on the path. */
export function* valuesAt(value: unknown, keys: readonly string[]): Generator<unknown> {
  const [key, ...rest] = keys;
  if (Array.isArray(value)) for (const item of value) yield* valuesAt(item, keys);
  else if (key === undefined) yield value;
  else if (isObject(value) && Object.hasOwn(value, key)) yield* valuesAt(value[key], rest);
}
