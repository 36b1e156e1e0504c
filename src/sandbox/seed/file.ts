/**
 * A seed file, parsed: accounts besides the two there are.
 *
 *     accounts:
 *       - account: { company: Harbour, email: kari@example.org }
 *         users: [{ username: kari, email: kari@example.org, tokens: [{ label: ci, scopes: "*", token: kari-ci }] }]
 *         instances: [{ label: web-1, region: us-east, type: g6-standard-1, image: vm/debian11 }]
 *         domains: [{ domain: harbour.example.org, type: master, soa_email: dns@harbour.example.org }]
 */

import { createHash } from "node:crypto";
import type { AccountSeed } from "./account-seed.ts";

/** @throws {Error} that says what is missing. What the items of lists must be is told when they are put in. */
export function seedFile(data: unknown): readonly AccountSeed[] {
  if (data === undefined || data === null) return [];
  const accounts = isObject(data) ? data["accounts"] : undefined;
  if (!Array.isArray(accounts)) throw new Error("Seed data: a list of accounts is needed, accounts: [...]");
  return accounts.map((each: unknown, index) => accountSeed(each, `accounts[${index}]`));
}

function accountSeed(value: unknown, where: string): AccountSeed {
  if (!isObject(value)) throw new Error(`Seed data, ${where}: an account is an object`);
  const { account = {}, users, settings, ...lists } = value;
  if (!isObject(account)) throw new Error(`Seed data, ${where}.account: an object is needed`);
  if (settings !== undefined && !isObject(settings))
    throw new Error(`Seed data, ${where}.settings: an object is needed`);
  if (!Array.isArray(users) || users.length === 0 || !users.every(isUser))
    throw new Error(`Seed data, ${where}.users: users with username and email are needed`);
  for (const [name, items] of Object.entries(lists)) {
    const fits = name === "id" || (Array.isArray(items) && items.every(isObject));
    if (!fits) throw new Error(`Seed data, ${where}.${name}: a list of objects is needed`);
  }
  const id = typeof value["id"] === "string" ? value["id"] : accountId(JSON.stringify(users));
  return { ...lists, ...(settings && { settings }), id, account, users };
}

/** The same for the same file. */
function accountId(text: string): string {
  const digits = createHash("sha256").update(text).digest("hex").toUpperCase();
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 32)].join("-");
}

function isUser(value: unknown): boolean {
  return isObject(value) && typeof value["username"] === "string" && typeof value["email"] === "string";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
