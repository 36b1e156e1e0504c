import { json, Router, type Response } from "express";
import { z } from "zod";
import type { Action, PlanStatus } from "../migration/index.ts";
import { sendErrors } from "./responses.ts";

/** The plan by which the old API ends, and its stop button. */
export interface SunsetControls {
  /** Null without a plan. */
  status(): PlanStatus | null;
  /** Pauses a stage, or all of them, on all replicas. @throws {Error} If they can't be notified. */
  pause(action: Action): Promise<void>;
  resume(action: Action): Promise<void>;
}

/** One line without control characters: it is shown, and logged. */
const line = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}]{1,100}$/u);

const actionSchema = z.strictObject({
  by: line,
  stage: line.nullable().default(null),
  reason: line.nullable().default(null),
});

const USAGE =
  'Send {"by": "your name"}, with "stage" to name one stage and "reason" if you like: texts of at most 100 characters.';

/**
 * The sunset plan:
 *
 *     GET /api/sunset                              the plan, what runs now, and who paused it
 *     POST /api/sunset/pause {"by", "stage"?}      stops a stage, or all of them, on all replicas
 *     POST /api/sunset/resume {"by", "stage"?}     lets them continue
 */
export function createSunsetApi(
  sunset: SunsetControls,
  onError: (error: unknown) => void = () => {},
): Router {
  const router = Router({ caseSensitive: true });

  router.get("/", (_request, response) => {
    response.json({ plan: sunset.status() });
  });

  async function act(
    body: unknown,
    response: Response,
    apply: (action: Action) => Promise<void>,
  ): Promise<void> {
    const plan = sunset.status();
    if (!plan) return sendErrors(response, 404, "This gateway has no plan: SUNSET_FILE is not set.");
    const { data: action } = actionSchema.safeParse(body);
    if (!action) return sendErrors(response, 400, USAGE);
    const { stage } = action;
    // A paused stage may have left the plan meanwhile.
    const isKnown =
      plan.stages.some(({ name }) => name === stage) || plan.pauses.some((pause) => pause.stage === stage);
    if (stage !== null && !isKnown) return sendErrors(response, 404, `The plan has no stage "${stage}".`);
    try {
      await apply(action);
    } catch (error) {
      onError(error);
      return sendErrors(response, 503, "The state store can't be written: nothing has changed. Try again.");
    }
    response.json({ plan: sunset.status() });
  }

  router.post("/pause", json(), (request, response) => act(request.body, response, sunset.pause));
  router.post("/resume", json(), (request, response) => act(request.body, response, sunset.resume));
  return router;
}
