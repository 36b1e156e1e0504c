/** What a client gets of a translated body, and what headers are made of. */
import type { ChosenMembers, Pack, Route } from "../../pack/index.ts";
import type { RequestContext } from "../pipeline/context.ts";
import type { PlanRules } from "../pipeline/plan.ts";
import type { ResponseBody } from "../pipeline/response.ts";
import { createFieldHider } from "./hide-fields.ts";
import { keepFields } from "./keep-fields.ts";
import type { SuccessBodies } from "./passed-headers.ts";
import { writeText } from "./write-text.ts";

/** Whether a body is JSON text, and not a file or nothing. */
const isText = (body: ResponseBody): body is string | Buffer =>
  body !== "" && (typeof body === "string" || Buffer.isBuffer(body));

/** Puts an object into the client's wrapper. A 304 has no object. */
const wrap = ({ wrapObject }: Route, body: ResponseBody): ResponseBody =>
  wrapObject && typeof body === "string" && body !== "" ? wrapObject(body) : body;

/**
 * Returns a function that puts a body into the client's wrapper, leaves the fields of brown-outs out, keeps the members
 * that the client has chosen, and writes the text of routes that respond with one.
 */
export function createBodyShaper(pack: Pack, plan: Pick<PlanRules, "count">) {
  const fieldHider = createFieldHider(pack);

  /** Removes fields that are in a brown-out. Only responses from which a field is removed are parsed again. */
  function leaveOut(route: Route, body: ResponseBody, context: RequestContext): ResponseBody {
    const { hiddenFields } = context.planned ?? {};
    if (!hiddenFields) return body;
    const stages = fieldHider.hiddenIn(route, hiddenFields);
    if (stages.length === 0 || !isText(body)) return body;
    context.hiddenFields = stages.map(({ object, field }) => `${object}.${field}`);
    for (const { name, kind } of stages) plan.count(name, kind);
    return fieldHider.hide(body, stages, route);
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
