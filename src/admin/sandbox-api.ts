import { json, Router } from "express";
import { sendErrors } from "./responses.ts";

/** The embedded sandbox, as its keeper holds it. */
export interface SandboxControls {
  /** Everything there is and everything that is about to happen, as JSON. */
  save(): unknown;
  /** @throws {Error} where it is no saved state; nothing is changed then. */
  restore(state: unknown): void;
  /** Wipes everything and seeds it anew. */
  reset(): void;
  /** Moves its clock on. */
  advance(ms: number): void;
  readonly clock: { now(): number };
}

/** 60 000 objects are some 40 MB. */
const MAX_STATE_SIZE = "256mb";

/** Further ahead than a year, tokens and cards have all ended. */
const MAX_SECONDS = 366 * 86_400;

/**
 * What a team does with the sandbox between two tries of its migration:
 *
 *     GET /api/sandbox/state                           the whole state, to be kept in a file
 *     PUT /api/sandbox/state                           goes back to one
 *     POST /api/sandbox/reset                          wipes and seeds anew
 *     POST /api/sandbox/clock {"advance_seconds": 60}  what takes a minute has happened
 */
export function createSandboxApi(sandbox: SandboxControls | undefined): Router {
  const router = Router({ caseSensitive: true });
  if (!sandbox) {
    router.use((_request, response) => {
      sendErrors(response, 404, "The v4 service of this gateway is no embedded sandbox.");
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
      return sendErrors(response, 400, "This is no saved state of a sandbox.");
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
