/** Invoices, payments and payment methods (V-076, V-077, V-098 to V-101, V-152, V-153). */

import { dateTime } from "../../clock.ts";
import type { Fields, Body } from "../../fields/field.ts";
import { objectOf, stringOf } from "../../fields/typed-values.ts";
import { type FieldError, invalid } from "../../http/problem.ts";
import { recordEvent } from "../../resource/event-log.ts";
import type { ActionCall, Call, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import type { Account } from "../row-types.ts";

// Credit cards: validation and the stored part (V-036 to V-040).

export const cardBody: Fields = {
  card_number: { type: "string", min: 13, max: 23, pattern: "[^\\s-]*", required: true },
  expiry_month: { type: "integer", min: 1, max: 12, required: true },
  expiry_year: { type: "integer", min: 1000, max: 9999, required: true },
  cvv: { type: "string", min: 3, max: 4, pattern: "\\d+", required: true },
};

export function checkCard(call: Call): FieldError[] {
  return expiryErrors(call.body, call.at, "");
}

/** Returns an error if the card expired before the current month. */
function expiryErrors(card: Body, at: number, prefix: string): FieldError[] {
  const { expiry_month: month, expiry_year: year } = card;
  if (typeof month !== "number" || typeof year !== "number") return [];
  if (month < 1 || month > 12 || year < 1000) return [];
  const now = new Date(at);
  const past = year * 12 + month < now.getUTCFullYear() * 12 + now.getUTCMonth() + 1;
  return past ? [{ reason: "The card has expired", field: `${prefix}expiry_year` }] : [];
}

/** Returns the stored part of a card. The number and the cvv are never stored. */
function storedCard(card: Body): { last_four: number; expiry: string } {
  const digits = String(card["card_number"]).replaceAll(/\D/g, "");
  return {
    last_four: Number(digits.slice(-4)),
    expiry: `${String(card["expiry_month"]).padStart(2, "0")}/${String(card["expiry_year"])}`,
  };
}

/** Replaces the account's card. */
export function replaceCard(call: ActionCall<Account>): void {
  const { store, caller, row, body, action } = call;
  row.value.credit_card = storedCard(body);
  const methods = store.table("paymentMethod");
  for (const { id, value } of methods.inHome(caller.account)) {
    if (value["type"] === "credit_card") methods.remove(id);
  }
  addCard(call, row.value.credit_card, true);
  recordEvent(call, action.event ?? "", row);
}

function addCard(
  { store, caller, at }: Pick<Call, "store" | "caller" | "at">,
  card: { readonly last_four: number; readonly expiry: string },
  isDefault: boolean,
): Row {
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

// Third-party payments. They are disabled: the body is validated, then the request is rejected (V-099 to V-101).

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
/** Maximum charge in dollars with a card on file. Without a card it is 500; the provider accepts up to 10000. */
const cardLimit = 2000;
const most = Math.min(Math.max(500, cardLimit), 10_000);

export function checkWallet(call: Call): FieldError[] {
  const outside = call.body["usd"] !== undefined && !(usdOf(call) >= least && usdOf(call) <= most);
  return outside ? [{ reason: `usd must be ${least} to ${most}`, field: "usd" }] : [];
}

/** Rejects the payment. @throws {Problem} 400, always. */
export function rejectWalletPayment(): never {
  throw invalid("This way of paying is disabled; add it as a payment method in the console");
}

const ofAccount = { owner: "account", access: "required", area: "account", grant: "account" } as const;
const dollars = { type: "number" } as const;
const account = { type: "account", url: "/v4/account", id: () => 0, label: () => "billing" };

export const invoice: Resource = {
  ...ofAccount,
  name: "invoice",
  path: "/account/invoices",
  id: "integer",
  fields: {
    id: { type: "integer" },
    date: { type: "date-time" },
    label: { type: "string" },
    subtotal: dollars,
    tax: dollars,
    total: dollars,
  },
  list: { newestFirst: true },
  read: true,
};

export const invoiceItem: Resource = {
  ...ofAccount,
  name: "invoiceItem",
  path: "/items",
  parent: "invoice",
  id: "integer",
  fields: {
    label: { type: "string" },
    type: { type: "string", values: ["hourly", "misc"] },
    from: { type: "date-time" },
    to: { type: "date-time" },
    quantity: { type: "integer" },
    unit_price: { type: "string" },
    amount: dollars,
    tax: dollars,
    total: dollars,
  },
  list: {},
};

const leastPayment = 5;
const mostPayment = 50_000;

function usdOf({ body }: Call): number {
  return Number(stringOf(body["usd"]).replace("$", ""));
}

function checkPayment(call: Call): FieldError[] {
  const { store, caller, body } = call;
  const errors: FieldError[] = [];
  const method = body["payment_method_id"];
  if (method !== undefined && store.table("paymentMethod").get(method)?.home !== caller.account)
    errors.push({ reason: "payment_method_id is not valid", field: "payment_method_id" });
  const balance = store.table("account").get(caller.account)?.value.balance ?? 0;
  const least = balance > 0 ? Math.min(leastPayment, balance) : leastPayment;
  const most = Math.min(Math.max(cardLimit, balance), mostPayment);
  if (body["usd"] !== undefined && !(usdOf(call) >= least && usdOf(call) <= most))
    errors.push({ reason: `usd must be ${least} to ${most}`, field: "usd" });
  return errors;
}

function pay(call: Call): Row {
  const { store, caller, at, resource } = call;
  const usd = usdOf(call);
  const owner = store.table("account").get(caller.account);
  if (owner) owner.value.balance = Math.round((owner.value.balance - usd) * 100) / 100;
  const table = store.table("payment");
  const id = table.nextId();
  const row = table.add(caller.account, id, { id, date: dateTime(at), usd });
  recordEvent(call, resource.create?.event ?? "", row);
  return row;
}

export const payment: Resource = {
  ...ofAccount,
  name: "payment",
  path: "/account/payments",
  id: "integer",
  entity: account,
  fields: { id: { type: "integer" }, date: { type: "date-time" }, usd: dollars },
  list: { newestFirst: true },
  read: true,
  create: {
    body: {
      usd: { type: "string", pattern: "\\$?\\d{1,9}\\.\\d{2}", required: true },
      cvv: { type: "string" },
      payment_method_id: { type: "integer" },
    },
    event: "payment_submitted",
    validate: checkPayment,
    createRow: pay,
  },
};

const mostMethods = 6;

function addMethod(call: Call): Row {
  const { store, caller, body } = call;
  const methods = store.table("paymentMethod");
  if (methods.count(caller.account) >= mostMethods)
    throw invalid(`An account has ${mostMethods} ways to pay at most`);
  const isDefault = body["is_default"] === true;
  if (isDefault) for (const { value } of methods.inHome(caller.account)) value["is_default"] = false;
  const row = addCard(call, storedCard(objectOf(body["data"])), isDefault);
  recordEvent(call, call.resource.create?.event ?? "", row);
  return row;
}

export const paymentMethod: Resource = {
  ...ofAccount,
  name: "paymentMethod",
  path: "/account/payment-methods",
  id: "integer",
  entity: account,
  fields: {
    id: { type: "integer" },
    type: { type: "string" },
    is_default: { type: "boolean" },
    created: { type: "date-time" },
    data: { type: "object" },
  },
  list: {},
  read: true,
  create: {
    body: {
      type: { type: "string", values: ["credit_card"], required: true },
      is_default: { type: "boolean", required: true },
      data: { type: "object", members: cardBody, required: true },
    },
    event: "payment_method_add",
    validate: ({ body, at }) => expiryErrors(objectOf(body["data"]), at, "data."),
    createRow: addMethod,
    buildResponse: () => ({}),
  },
};
