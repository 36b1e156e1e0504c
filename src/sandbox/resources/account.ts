/** The account: who pays, with what, and the settings that hold for everything on it. */

import type { RowCall, Resource } from "../resource/declaration.ts";
import type { Field, Fields } from "../rules/field.ts";
import { checkCard, cardBody, payWith } from "./card.ts";
import type { AccountValue, Value } from "./shapes.ts";
import { accountTransfer } from "./account-transfer.ts";
import { checkWallet, refuseWallet, walletBody, walletExecuteBody } from "./wallet.ts";

const text = (max: number): Field => ({ type: "string", max, write: true });

/** Countries that ask for a tax id; elsewhere there is none (document 1, Account). */
const taxing = new Set(
  "AT AU BE BG BR CA CH CY CZ DE DK EE ES FI FR GB GR HR HU IE IN IS IT JP KR LT LU LV MT MX NL NO NZ PL PT RO SE SG SI SK ZA".split(
    " ",
  ),
);

function dropTaxId({ row }: RowCall<AccountValue>): void {
  if (!taxing.has(row.value.country)) row.value.tax_id = null;
}

const label = (value: object): string => (value as AccountValue).company;
const entity = { type: "account", url: "/v4/account", id: () => 0, label };

/** Nothing in the sandbox costs anything: only payments move `balance`, and `uninvoiced_balance` never moves. */
export const account: Resource<AccountValue> = {
  name: "account",
  path: "/account",
  id: "perAccount",
  owner: "account",
  access: "required",
  area: "account",
  grant: "account",
  entity,
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
      run: payWith,
    },
    { method: "GET", path: "/transfer", run: accountTransfer },
    {
      method: "POST",
      path: "/payments/wallet",
      body: walletBody,
      validate: checkWallet,
      run: refuseWallet,
    },
    { method: "POST", path: "/payments/wallet/execute", body: walletExecuteBody, run: refuseWallet },
  ],
};

const settingsFields: Fields = {
  managed: { type: "boolean" },
  longview_subscription: { type: "string", nullable: true },
  network_helper: { type: "boolean", write: true },
  backups_enabled: { type: "boolean", write: true },
  object_storage: { type: "string", values: ["disabled", "suspended", "active"] },
};

export const settings: Resource<Value> = {
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
