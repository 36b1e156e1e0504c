import { Router } from "express";
import { refuse } from "./answers.ts";

/** Forgets what is known of the tokens with a fingerprint, or of all, at every replica. */
export type Purge = (fingerprint?: string) => Promise<void>;

const FINGERPRINT = /^[0-9a-f]{16,64}$/;

/** `DELETE /api/tokens` and `DELETE /api/tokens/:fingerprint`: the next request with such a token asks v4 anew. */
export function tokensApi(purge: Purge): Router {
  const router = Router({ caseSensitive: true });

  router.delete("/", async (_request, response) => {
    await purge();
    response.status(204).end();
  });

  router.delete("/:fingerprint", async (request, response) => {
    const { fingerprint } = request.params;
    if (!FINGERPRINT.test(fingerprint))
      return refuse(response, 400, "A fingerprint is 16 to 64 digits of 0-9a-f, as the audit shows it.");
    await purge(fingerprint);
    response.status(204).end();
  });

  return router;
}
