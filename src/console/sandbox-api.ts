import { json, Router } from "express";
import { sendErrors } from "./responses.ts";

/** Controls of the embedded sandbox. */
export interface SandboxControls {
  /** Returns the whole state, including pending events, as JSON. */
  save(): unknown;
  /** Restores a saved state. @throws {Error} if it is not a saved state. Nothing is changed in that case */
  restore(state: unknown): void;
  /** Deletes all data and seeds the sandbox again. */
  reset(): void;
  /** Advances the clock. */
  advance(ms: number): void;
  readonly clock: { now(): number };
}

/** Maximum size of a state. 60 000 objects need about 40 MB. */
const MAX_STATE_SIZE = "256mb";

/** Maximum number of seconds. After more than a year, all tokens and cards have expired. */
const MAX_SECONDS = 366 * 86_400;

/**
 * Controls the sandbox between two tests of a migration:
 *
 *     GET /api/sandbox/state                           downloads the whole state
 *     PUT /api/sandbox/state                           restores a state
 *     POST /api/sandbox/reset                          deletes all data and seeds again
 *     POST /api/sandbox/clock {"advance_seconds": 60}  advances the clock, so that pending events happen
 */
export function createSandboxApi(sandbox: SandboxControls | undefined): Router {
  const router = Router({ caseSensitive: true });
  if (!sandbox) {
    router.use((_request, response) => {
      sendErrors(response, 404, "The v4 service of this gateway is not the embedded sandbox.");
    });
    return router;
  }

  router.get("/state", (_request, response) => {
    response.attachment("sandbox.json").json(sandbox.save());
  });

  router.put("/state", json({ limit: MAX_STATE_SIZE }), (request, response) => {
    try {
      sandbox.restore(request.body);
    } catch {
      return sendErrors(response, 400, "This is not a saved state of a sandbox.");
    }
    response.status(204).end();
  });

  router.post("/reset", (_request, response) => {
    sandbox.reset();
    response.status(204).end();
  });

  router.post("/clock", json(), (request, response) => {
    const seconds = (request.body as Record<string, unknown> | undefined)?.["advance_seconds"];
    if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= MAX_SECONDS))
      return sendErrors(response, 400, `advance_seconds must be a number from 0 to ${MAX_SECONDS}.`);
    sandbox.advance(seconds * 1000);
    response.json({ now: new Date(sandbox.clock.now()).toISOString() });
  });
  return router;
}
