/**
 * A seed file, YAML or JSON: accounts besides the two there are.
 *
 *     accounts:
 *       - account: { company: Harbour, email: kari@example.org }
 *         users: [{ username: kari, email: kari@example.org, tokens: [{ label: ci, scopes: "*", token: kari-ci }] }]
 *         instances: [{ label: web-1, region: us-east, type: g6-standard-1, image: vm/debian11 }]
 *         domains: [{ domain: harbour.example.org, type: master, soa_email: dns@harbour.example.org }]
 */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import type { AccountSeed } from "./account-seed.ts";
import { SeedError } from "./seed-fault.ts";

/**
 * What a seed file says; what it must say is checked where it is put in.
 *
 * @throws {SeedError} for a file that can't be read or is no YAML.
 */
export async function readSeedFile(path: string): Promise<unknown> {
  try {
    return parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new SeedError((error as Error).message, path);
  }
}

/** @throws {SeedError} that says what is missing. What the items of lists must be is told when they are put in. */
export function seedFile(data: unknown): readonly AccountSeed[] {
  if (data === undefined || data === null) return [];
  const accounts = isObject(data) ? data["accounts"] : undefined;
  if (!Array.isArray(accounts)) throw new SeedError("a list of accounts is needed, accounts: [...]");
  return accounts.map((each: unknown, index) => accountSeed(each, `accounts[${index}]`));
}

function accountSeed(value: unknown, where: string): AccountSeed {
  if (!isObject(value)) throw new SeedError("an account is an object", where);
  const { account = {}, users, settings, ...lists } = value;
  if (!isObject(account)) throw new SeedError("an object is needed", `${where}.account`);
  if (settings !== undefined && !isObject(settings))
    throw new SeedError("an object is needed", `${where}.settings`);
  if (!Array.isArray(users) || users.length === 0 || !users.every(isUser))
    throw new SeedError("users with username and email are needed", `${where}.users`);
  for (const [name, items] of Object.entries(lists)) {
    const fits = name === "id" || (Array.isArray(items) && items.every(isObject));
    if (!fits) throw new SeedError("a list of objects is needed", `${where}.${name}`);
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
