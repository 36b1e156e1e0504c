/** Sends notices to a webhook, signed as Standard Webhooks 1.0 describes. */
import { createHmac } from "node:crypto";
import { request } from "undici";
import type { Notice } from "./notice.ts";
import type { Receiver } from "./notices-file.ts";

/** Time-out of a webhook in milliseconds. */
const TIMEOUT_MS = 10_000;

/** A notice could not be sent. The message is for the log: it contains a code or a status, and no part of the webhook's URL. */
export class SendError extends Error {
  override readonly name = "SendError";
  readonly code = "AG_NOTICE_FAILED";
}

/** Returns the code of an error of the system, such as `ECONNREFUSED`. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  const found = [code, cause?.code].find((each) => typeof each === "string");
  return typeof found === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(found) ? found : "no response in time";
}

/**
 * Sends a notice. The response is not read, and redirects are not followed.
 *
 * @param id The same for each attempt, so that receivers can ignore duplicates.
 * @throws {SendError} if it takes too long, the status is not 2xx, or there is no connection
 */
export async function sendWebhook(
  { url, key }: Pick<Receiver, "url" | "key">,
  { id, notice }: { readonly id: string; readonly notice: Notice },
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(notice);
  const seconds = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  let status: number;
  try {
    const response = await request(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "alpha-gateway",
        "webhook-id": id,
        "webhook-timestamp": String(seconds),
        "webhook-signature": `v1,${signature}`,
      },
      body,
      // Notices are rare: no connection is kept for the next one.
      reset: true,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    status = response.statusCode;
    response.body.on("error", () => {}).destroy();
  } catch (error) {
    throw new SendError(codeOf(error));
  }
  if (status < 200 || status > 299) throw new SendError(`status ${status}`);
}
