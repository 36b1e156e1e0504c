import { json, Router } from "express";
import { z } from "zod";
import { RolloutRefusedError, type RolloutStatus, type TurnedBack } from "../migration/index.ts";
import { sendErrors } from "./responses.ts";

/** Who gets the translation, and the button that turns something back. */
export interface RolloutControls {
  /** Null without a rollout. */
  status(): RolloutStatus | null;
  /** Turns something back, on all replicas. @throws {RolloutRefusedError} {Error} If they can't be notified. */
  turnBack(order: {
    readonly target: string;
    readonly by: string;
    readonly reason: string | null;
  }): Promise<TurnedBack>;
}

/** One line without control characters: it is shown, and logged. */
const line = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}]{1,200}$/u);

const orderSchema = z.strictObject({
  by: line,
  target: line,
  reason: line.nullable().default(null),
});

const USAGE =
  'Send {"by": "your name", "target": "all"}: a route, a client or all, with "reason" if you like. Texts have at most 200 characters.';

/**
 * The rollout. What was turned back is resumed by a command, never here:
 *
 *     GET /api/rollout                               who is where and why, what has returned, and who can't
 *     POST /api/rollout/turn-back {"by", "target"}   turns a route, a client or everything back, on all replicas
 */
export function createRolloutApi(
  rollout: RolloutControls,
  onError: (error: unknown) => void = () => {},
): Router {
  const router = Router({ caseSensitive: true });

  router.get("/", (_request, response) => {
    response.json({ rollout: rollout.status() });
  });

  router.post("/turn-back", json(), async (request, response) => {
    if (!rollout.status())
      return sendErrors(response, 404, "This gateway has no rollout: ROLLOUT_FILE is not set.");
    const { data: order } = orderSchema.safeParse(request.body);
    if (!order) return sendErrors(response, 400, USAGE);
    try {
      const turnedBack = await rollout.turnBack(order);
      response.json({ ...turnedBack, rollout: rollout.status() });
    } catch (error) {
      if (error instanceof RolloutRefusedError) return sendErrors(response, 409, error.message);
      onError(error);
      sendErrors(response, 503, "The state store can't be written: nothing has changed. Try again.");
    }
  });
  return router;
}
