/** Sends notices to a webhook, signed as Standard Webhooks 1.0 describes. */
import { createHmac } from "node:crypto";
import { request } from "undici";
import type { Notice } from "./notice.ts";
import type { WebhookTarget } from "./notices-file.ts";
import { codeOf, SendError } from "./send-error.ts";

/** How long a webhook may take to respond. */
export const WEBHOOK_TIMEOUT_MS = 10_000;

/** `webhook-signature` of a message. @param seconds `webhook-timestamp`, in seconds since the epoch */
export const signatureOf = (key: Buffer, id: string, seconds: number, body: string): string =>
  `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`;

/**
 * Sends a notice. The response is not read, and redirects are not followed.
 *
 * @param id Stays the same for each attempt, so that receivers can leave out what they have.
 * @throws {SendError} If it takes too long, the status is not 2xx, or there is no connection.
 */
export async function sendWebhook(
  { url, key }: WebhookTarget,
  { id, notice }: { readonly id: string; readonly notice: Notice },
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(notice);
  const seconds = Math.floor(Date.now() / 1000);
  let status: number;
  try {
    const response = await request(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "alpha-gateway",
        "webhook-id": id,
        "webhook-timestamp": String(seconds),
        "webhook-signature": signatureOf(key, id, seconds, body),
      },
      body,
      // Notices are rare: no connection is kept for the next one.
      reset: true,
      signal: AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_TIMEOUT_MS)]),
    });
    status = response.statusCode;
    response.body.on("error", () => {}).destroy();
  } catch (error) {
    throw new SendError(codeOf(error, "no response in time"));
  }
  if (status < 200 || status > 299) throw new SendError(`status ${status}`);
}
