/** Invoices, payments and ways to pay (document 1, Invoice item; v4, Account, billing). */

import { dateTime } from "../clock.ts";
import type { FieldError } from "../http/problem.ts";
import { invalid } from "../http/problem.ts";
import type { ActionCall, Call, Resource } from "../resource/declaration.ts";
import { recordEvent } from "../resource/events.ts";
import type { Row } from "../store/table.ts";
import { addCard, cardBody, expiryErrors, keptCard } from "./card.ts";
import type { Value } from "./shapes.ts";
import { cardLimit } from "./wallet.ts";

const ofAccount = { owner: "account", access: "required", area: "account", grant: "account" } as const;
const dollars = { type: "number" } as const;
const account = { type: "account", url: "/v4/account", id: () => 0, label: () => "billing" };

export const invoice: Resource<Value> = {
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

export const invoiceItem: Resource<Value> = {
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
  return Number(String(body["usd"]).replace("$", ""));
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

function pay(call: Call): Row<Value> {
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

export const payment: Resource<Value> = {
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

function addMethod(call: Call): Row<Value> {
  const { store, caller, body } = call;
  const methods = store.table("paymentMethod");
  if (methods.count(caller.account) >= mostMethods)
    throw invalid(`An account has ${mostMethods} ways to pay at most`);
  const isDefault = body["is_default"] === true;
  const row = addCard(call, keptCard(body["data"] as Value), isDefault);
  if (isDefault) makeDefault({ ...call, row });
  recordEvent(call, call.resource.create?.event ?? "", row);
  return row;
}

function makeDefault({ store, caller, row }: Pick<ActionCall<Value>, "store" | "caller" | "row">): void {
  for (const { value } of store.table("paymentMethod").inHome(caller.account))
    value["is_default"] = value === row.value;
}

export const paymentMethod: Resource<Value> = {
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
    validate: ({ body, at }) => expiryErrors((body["data"] ?? {}) as Value, at, "data."),
    createRow: addMethod,
    buildResponse: () => ({}),
  },
  remove: {
    checkPreconditions({ row }) {
      if (row.value["is_default"]) throw invalid("The default way to pay can't be deleted");
    },
  },
  actions: [{ method: "POST", path: "/make-default", run: makeDefault }],
};
