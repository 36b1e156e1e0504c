import { setTimeout as pause } from "node:timers/promises";
import { readErrors } from "../../dialect/errors.ts";
import type { Wait } from "../../mapping/compile/route-steps.ts";
import { throwTranslatedError, type TranslationConfig } from "./build-response.ts";
import type { UpstreamResponse } from "./call-upstream.ts";
import { requestWithoutBody, type PreparedRequest, type RouteExecution } from "../route-context.ts";

/**
 * Waits until v4 shows what the call has to wait for: alpha queues what v4 refuses while it is busy. After the
 * longest time, or where v4 won't say, the call is made all the same and v4 decides.
 */
async function waitUntil(
  { endpoint, until, intervalMs, timeoutMs }: Wait,
  work: RouteExecution,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await work.call(requestWithoutBody(endpoint, work.match.parameters));
    if (!answer.success || (await until(answer.json))) return;
    if (performance.now() + intervalMs > deadline) return;
    // A client that goes away ends the pause; the next call then says so, without being made.
    await pause(intervalMs, undefined, { signal: work.request.signal }).catch(() => {});
  }
}

/** Did v4 refuse just the one member that the gateway had put in by itself? Then nothing was created. */
function refusedOwn(
  answer: UpstreamResponse,
  prepared: PreparedRequest,
  member: string,
  rules: TranslationConfig,
): boolean {
  const faults =
    answer.status === 400 && prepared.gatewayFields.has(member)
      ? readErrors(answer.json, rules.errors)
      : undefined;
  return faults !== undefined && faults.every(({ field }) => field === member);
}

/** Nothing but a GET is ever sent twice, except after a clear refusal: this one, and that of a token (present.ts). */
async function callOnce(
  prepared: PreparedRequest,
  { call, translation: rules, match: target }: RouteExecution,
): Promise<UpstreamResponse> {
  const answer = await call(prepared);
  const { retryWithout } = target.route;
  if (retryWithout === undefined || !refusedOwn(answer, prepared, retryWithout, rules)) return answer;
  const { [retryWithout]: _refused, ...body } = prepared.body ?? {};
  return call({ ...prepared, body });
}

/**
 * Makes the call of a request.
 *
 * @throws {Refusal} v4's refusal, in alpha's words
 */
export async function sendUpstreamRequest(
  prepared: PreparedRequest,
  work: RouteExecution,
): Promise<UpstreamResponse> {
  const { route } = work.match;
  work.context.upstreamEquivalent = `${prepared.method} ${prepared.path}`;
  if (route.wait) await waitUntil(route.wait, work);
  const answer = await callOnce(prepared, work);
  if (!answer.success) throwTranslatedError(answer, route, prepared, work.translation, work.context);
  for (const loss of route.losses) work.context.losses.add(loss);
  return answer;
}
