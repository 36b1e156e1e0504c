/** The account, its settings, its transfer quota, and transfers of instances to another account. */

import { randomUUID } from "node:crypto";
import { dateTime } from "../../clock.ts";
import type { Field, Fields } from "../../fields/field.ts";
import { numbersOf, objectOf } from "../../fields/typed-values.ts";
import { invalid, notFound } from "../../http/problem.ts";
import type {
  ActionCall,
  Call,
  CallContext,
  Resource,
  RowCall,
  Store,
} from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { addressesOf } from "../network/address-allocation.ts";
import {
  cardBody,
  checkCard,
  checkWallet,
  replaceCard,
  rejectWalletPayment,
  walletBody,
  walletExecuteBody,
} from "./billing.ts";
import type { Account, Instance, UntypedRow } from "../row-types.ts";

const text = (max: number): Field => ({ type: "string", max, write: true });

/** Countries that collect a tax id. For all others `tax_id` is null (V-033). */
const taxIdCountries = new Set(
  "AT AU BE BG BR CA CH CY CZ DE DK EE ES FI FR GB GR HR HU IE IN IS IT JP KR LT LU LV MT MX NL NO NZ PL PT RO SE SG SI SK ZA".split(
    " ",
  ),
);

function dropTaxId({ row }: RowCall<Account>): void {
  if (!taxIdCountries.has(row.value.country)) row.value.tax_id = null;
}

const entity = { type: "account", url: "/v4/account", id: () => 0 };

/** The sandbox bills nothing: only payments change `balance`, and `uninvoiced_balance` never changes. */
export const account: Resource<Account> = {
  name: "account",
  path: "/account",
  id: "perAccount",
  owner: "account",
  access: "required",
  area: "account",
  grant: "account",
  entity: { ...entity, label: ({ company }) => company },
  fields: {
    email: text(128),
    first_name: text(50),
    last_name: text(50),
    company: text(128),
    address_1: text(64),
    address_2: text(64),
    city: text(24),
    state: text(24),
    zip: text(16),
    country: { type: "string", min: 2, max: 2, write: true },
    phone: text(32),
    tax_id: { type: "string", max: 100, nullable: true, write: true },
    balance: { type: "number" },
    uninvoiced_balance: { type: "number" },
    credit_card: {
      type: "object",
      members: { last_four: { type: "integer" }, expiry: { type: "string" } },
    },
  },
  read: true,
  update: { event: "account_update", afterUpdate: dropTaxId },
  actions: [
    {
      method: "POST",
      path: "/credit-card",
      body: cardBody,
      event: "credit_card_updated",
      validate: checkCard,
      run: replaceCard,
    },
    { method: "GET", path: "/transfer", run: accountTransfer },
    {
      method: "POST",
      path: "/payments/wallet",
      body: walletBody,
      validate: checkWallet,
      run: rejectWalletPayment,
    },
    { method: "POST", path: "/payments/wallet/execute", body: walletExecuteBody, run: rejectWalletPayment },
  ],
};

const settingsFields: Fields = {
  managed: { type: "boolean" },
  longview_subscription: { type: "string", nullable: true },
  network_helper: { type: "boolean", write: true },
  backups_enabled: { type: "boolean", write: true },
  object_storage: { type: "string", values: ["disabled", "suspended", "active"] },
};

export const settings: Resource = {
  name: "settings",
  path: "/account/settings",
  id: "perAccount",
  owner: "account",
  access: "required",
  area: "account",
  grant: "account",
  entity: { ...entity, label: () => "settings" },
  fields: settingsFields,
  read: true,
  update: { event: "account_settings_update" },
};

// Transfer quota of an account: the sum over its instances, in GB.

/** Amount in GB that object storage adds to the quota (V-195). */
const ofObjectStorage = 1000;

function accountTransfer({ store, caller }: ActionCall<Account>): object {
  const storage = store.table("settings").get(caller.account)?.value["object_storage"] === "active";
  let quota = storage ? ofObjectStorage : 0;
  for (const { value } of store.table("instance").inHome(caller.account)) quota += value.specs.transfer;
  return { billable: 0, quota, used: Math.floor(quota / 150) };
}

// Restrictions of an account with an outstanding balance (V-167).

/** Checks that the account has no debt. @throws {Problem} 400 if it has an outstanding balance. */
export function requireNoOutstandingBalance({ store, caller }: CallContext): void {
  const balance = store.table("account").get(caller.account)?.value.balance ?? 0;
  if (balance > 0) throw invalid("This account has an outstanding balance; pay it first");
}

// Transfers of instances to another account (V-152).

const transferLifetimeMs = 24 * 3_600_000;

function instancesOf({ store, body }: Pick<Call, "store" | "body">): number[] {
  return numbersOf(objectOf(body["entities"])[store.names.instanceIds]);
}

function make(call: Call): Row {
  const { store, caller, at, body } = call;
  const ids = instancesOf(call);
  const field = `entities.${store.names.instanceIds}`;
  if (ids.length === 0) throw invalid(`${field} must name an instance`, field);
  const foreign = ids.filter((id) => store.table("instance").get(id)?.home !== caller.account);
  if (foreign.length > 0) throw invalid(`${field}: ${foreign.join(", ")} is not valid`, field);
  const token = randomUUID().toUpperCase();
  const time = dateTime(at);
  return store.table("serviceTransfer").add(caller.account, token, {
    token,
    status: "pending",
    created: time,
    updated: time,
    is_sender: true,
    expiry: dateTime(at + transferLifetimeMs),
    entities: structuredClone(body["entities"]),
  });
}

/** Returns the transfer as callers see it: a pending transfer becomes `stale` at its expiry. */
function present({ value, home }: Row, { caller, at }: CallContext): UntypedRow {
  const stale = value["status"] === "pending" && String(value["expiry"]) <= dateTime(at);
  return { ...value, status: stale ? "stale" : value["status"], is_sender: home === caller.account };
}

function accept(call: ActionCall): void {
  const { store, caller, params, at } = call;
  const row = store.table("serviceTransfer").get(params["serviceTransfer"]);
  if (!row) throw notFound();
  if (row.home === caller.account) throw invalid("The sender can't accept a transfer");
  if (present(row, call)["status"] !== "pending") throw invalid("The transfer is not pending");
  for (const id of instancesOf({ store, body: { entities: row.value["entities"] } })) {
    const instance = store.table("instance").get(id);
    if (instance?.home === row.home) handOver(store, instance, caller.account);
  }
  Object.assign(row.value, { status: "completed", updated: dateTime(at) });
}

/** Child rows refer to the instance by id, so only the instance and its addresses change their home. */
function handOver(store: Store, row: Row<Instance>, account: string): void {
  for (const address of addressesOf(store, row)) {
    store.table("address").remove(address.id);
    store.table("address").add(account, address.id, address.value);
  }
  store.table("instance").remove(row.id);
  store.table("instance").add(account, row.id, row.value);
}

export const serviceTransfer: Resource = {
  name: "serviceTransfer",
  path: "/account/service-transfers",
  id: "text",
  owner: "account",
  access: "required",
  area: "account",
  grant: "unrestricted",
  fields: {
    token: { type: "string" },
    status: { type: "string", filter: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
    is_sender: { type: "boolean", filter: true },
    expiry: { type: "date-time" },
    entities: { type: "object" },
  },
  list: {},
  read: true,
  serialize: present,
  create: {
    body: { entities: { type: "object", members: { vms: { type: "integers" } }, required: true } },
    createRow: make,
  },
  actions: [
    {
      on: "collection",
      method: "POST",
      path: "/:serviceTransfer/accept",
      rate: { limit: 2, seconds: 60 },
      run: accept,
    },
  ],
};
