/** Credit cards: what is asked of one, and what is kept of it (document 1, Credit card). */

import type { FieldError } from "../http/problem.ts";
import type { ActionCall, Call } from "../resource/declaration.ts";
import { recordEvent } from "../resource/events.ts";
import type { Body } from "../rules/check.ts";
import type { Fields } from "../rules/field.ts";
import { dateTime } from "../clock.ts";
import type { Row } from "../store/table.ts";
import type { AccountValue, Value } from "./shapes.ts";

export const cardBody: Fields = {
  card_number: { type: "string", min: 13, max: 23, pattern: "[^\\s-]*", required: true },
  expiry_month: { type: "integer", min: 1, max: 12, required: true },
  expiry_year: { type: "integer", min: 1000, max: 9999, required: true },
  cvv: { type: "string", min: 3, max: 4, pattern: "\\d+", required: true },
};

export function checkCard(call: Call): FieldError[] {
  return expiryErrors(call.body, call.at, "");
}

/** Month and year together: this month or later. */
export function expiryErrors(card: Body, at: number, prefix: string): FieldError[] {
  const { expiry_month: month, expiry_year: year } = card;
  if (typeof month !== "number" || typeof year !== "number") return [];
  if (month < 1 || month > 12 || year < 1000) return [];
  const now = new Date(at);
  const past = year * 12 + month < now.getUTCFullYear() * 12 + now.getUTCMonth() + 1;
  return past ? [{ reason: "The card has expired", field: `${prefix}expiry_year` }] : [];
}

/** The number and the cvv are kept nowhere. */
export function keptCard(card: Body): { last_four: number; expiry: string } {
  const digits = String(card["card_number"]).replaceAll(/\D/g, "");
  return {
    last_four: Number(digits.slice(-4)),
    expiry: `${String(card["expiry_month"]).padStart(2, "0")}/${String(card["expiry_year"])}`,
  };
}

/** The new card takes the place of the one there was. */
export function payWith(call: ActionCall<AccountValue>): void {
  const { store, caller, row, body, action } = call;
  row.value.credit_card = keptCard(body);
  const methods = store.table("paymentMethod");
  for (const { id, value } of methods.inHome(caller.account)) {
    if (value["type"] === "credit_card") methods.remove(id);
  }
  addCard(call, row.value.credit_card, true);
  recordEvent(call, action.event ?? "", row);
}

export function addCard(
  { store, caller, at }: Pick<Call, "store" | "caller" | "at">,
  card: { readonly last_four: number; readonly expiry: string },
  isDefault: boolean,
): Row<Value> {
  const methods = store.table("paymentMethod");
  const id = methods.nextId();
  return methods.add(caller.account, id, {
    id,
    type: "credit_card",
    is_default: isDefault,
    created: dateTime(at),
    data: { card_type: "Visa", expiry: card.expiry, last_four: String(card.last_four).padStart(4, "0") },
  });
}
