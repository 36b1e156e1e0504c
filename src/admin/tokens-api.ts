import { Router, type Response } from "express";
import { sendErrors } from "./responses.ts";

/** Forgets what is known of the tokens with a fingerprint, or of all, at every replica. */
export type Purge = (fingerprint?: string) => Promise<void>;

const FINGERPRINT = /^[0-9a-f]{16,64}$/;

/** `DELETE /api/tokens` and `DELETE /api/tokens/:fingerprint`: the next request with such a token asks v4 anew. */
export function tokensApi(purge: Purge, onError: (error: unknown) => void = () => {}): Router {
  const router = Router({ caseSensitive: true });

  async function answer(response: Response, fingerprint?: string): Promise<void> {
    try {
      await purge(fingerprint);
    } catch (error) {
      onError(error);
      return sendErrors(response, 503, "Forgotten here, but other replicas could not be told. Try again.");
    }
    response.status(204).end();
  }

  router.delete("/", (_request, response) => answer(response));
  router.delete("/:fingerprint", (request, response) => {
    const { fingerprint } = request.params;
    if (FINGERPRINT.test(fingerprint)) return answer(response, fingerprint);
    return sendErrors(response, 400, "A fingerprint is 16 to 64 digits of 0-9a-f, as the audit shows it.");
  });
  return router;
}
