/** Payments through a third party, which are disabled: they check what they are sent and do nothing (document 1). */

import type { FieldError } from "../http/problem.ts";
import { invalid } from "../http/problem.ts";
import type { Call } from "../resource/declaration.ts";
import type { Fields } from "../rules/field.ts";

export const walletBody: Fields = {
  cancel_url: { type: "string", min: 1, required: true },
  redirect_url: { type: "string", min: 1, required: true },
  usd: { type: "string", pattern: "\\$?\\d{1,9}(?:\\.\\d{1,2})?", required: true },
};

export const walletExecuteBody: Fields = {
  payer_id: { type: "string", min: 1, required: true },
  payment_id: { type: "string", min: 1, required: true },
};

const least = 5;
/** The most that a card may be charged, which is above the 500 that hold without one; the provider takes 10000. */
export const cardLimit = 2000;
const most = Math.min(Math.max(500, cardLimit), 10_000);

export function checkWallet({ body }: Call): FieldError[] {
  const usd = Number(String(body["usd"]).replace("$", ""));
  const outside = body["usd"] !== undefined && !(usd >= least && usd <= most);
  return outside ? [{ reason: `usd must be ${least} to ${most}`, field: "usd" }] : [];
}

/** @throws {Problem} 400, whatever was sent. */
export function refuseWallet(): never {
  throw invalid("This way of paying is disabled; add it as a payment method in the console");
}
