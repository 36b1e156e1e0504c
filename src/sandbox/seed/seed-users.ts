/** The two accounts of the sandbox, their users and tokens. */

import { createHash } from "node:crypto";
import type { AccountSeed } from "./seed-file.ts";

/** Returns a token that is the same at every start and as long as v4's. It gives access to made-up data only. */
export function sandboxToken(name: string): string {
  return createHash("sha256").update(`sandbox token ${name}`).digest("hex");
}

export type TokenName = "full" | "readOnly" | "vms" | "none" | "other" | "restricted" | "billing" | "app";

/** The accounts below define the user and scopes of each token. */
export const sandboxTokens: Readonly<Record<TokenName, string>> = {
  full: sandboxToken("full"),
  readOnly: sandboxToken("readOnly"),
  vms: sandboxToken("vms"),
  none: sandboxToken("none"),
  other: sandboxToken("other"),
  restricted: sandboxToken("restricted"),
  billing: sandboxToken("billing"),
  app: sandboxToken("app"),
};

function token(label: TokenName, scopes: string): { label: string; scopes: string; token: string } {
  return { label, scopes, token: sandboxToken(label) };
}

const capabilities = ["Vms", "NodeBalancers", "Block Storage", "Object Storage", "Kubernetes"];
const since = { active_promotions: [], active_since: "2020-01-01T00:00:00", capabilities };

/** An account without debt: one unrestricted user, one with few grants, one with read access to billing. */
export const anna: AccountSeed = {
  id: "0C1D2E3F-1122-3344-5566AABBCCDDEEFF",
  account: {
    ...since,
    email: "anna@example.net",
    first_name: "Anna",
    last_name: "Berg",
    company: "Shop AS",
    address_1: "1 Harbour Rd",
    address_2: "",
    city: "Bergen",
    state: "Vestland",
    zip: "5003",
    country: "NO",
    phone: "55512345",
    tax_id: null,
    balance: 0,
    uninvoiced_balance: 12.4,
    credit_card: { last_four: 1111, expiry: "11/2031" },
  },
  users: [
    {
      username: "ops-anna",
      email: "anna@example.net",
      timezone: "Europe/Oslo",
      tokens: [
        token("full", "*"),
        token("readOnly", "vms:read_only"),
        token("vms", "vms:read_write"),
        token("none", ""),
      ],
      ssh_keys: ["laptop"],
      apps: [{ scopes: "vms:read_only", token: sandboxToken("app"), client: "9f0c1d2e3b4a59687766" }],
    },
    {
      username: "dev-kai",
      email: "kai@example.net",
      restricted: true,
      tokens: [token("restricted", "*")],
      grants: {
        global: { add_domains: true, account_access: null },
        entities: { vm: { 5201: "read_write", 5202: "read_only" }, domain: { 7010: "read_only" } },
      },
    },
    {
      username: "bill-ola",
      email: "ola@example.net",
      restricted: true,
      tokens: [token("billing", "*")],
      grants: { global: { account_access: "read_only" }, entities: {} },
    },
  ],
};

/** An account with an outstanding balance and a domain. */
export const per: AccountSeed = {
  id: "7A8B9C0D-5566-7788-99AABBCCDDEEFF00",
  account: {
    ...since,
    email: "per@example.org",
    first_name: "Per",
    last_name: "Lind",
    company: "",
    address_1: "12 Mill Street",
    address_2: "",
    city: "London",
    state: "London",
    zip: "N1 7AA",
    country: "GB",
    phone: "",
    tax_id: "GB123456789",
    balance: 25.5,
    uninvoiced_balance: 0,
    credit_card: { last_four: 4242, expiry: "02/2030" },
  },
  users: [{ username: "per", email: "per@example.org", tokens: [token("other", "*")] }],
};
