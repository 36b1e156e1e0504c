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
import type { Grants } from "../resources/hidden-state.ts";

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

// An account as seed data: by hand in this folder, or from a file.

export type Seeds = readonly Readonly<Record<string, unknown>>[];

export interface UserSeed extends Readonly<Record<string, unknown>> {
  readonly username: string;
  readonly email: string;
  readonly restricted?: boolean;
  readonly grants?: Grants;
  /** `token` is the secret itself; without one it is made from the label. */
  readonly tokens?: Seeds;
  readonly sshkeys?: Seeds;
  readonly devices?: Seeds;
  /** Applications let in. `token` works for as long as one from the login server does, and ends with its `client`. */
  readonly apps?: Seeds;
}

/**
 * Everything that an account has. Besides these members, lists of its resources under the names that their
 * paths end with: `instances`, `domains`, `volumes`, `tickets`, …, and inside an item what hangs on it
 * (`records` in a domain).
 */
export interface AccountSeed extends Readonly<Record<string, unknown>> {
  /** In `X-Customer-UUID`; from a file it may be left out. */
  readonly id: string;
  readonly account: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly users: readonly UserSeed[];
}

/** Seed data that can't be used. Its message is for whoever wrote the file. */
export class SeedError extends Error {
  override readonly name = "SeedFault";
  readonly code = "SEED";

  /** @param where `accounts[0].users`; the whole of the data where it is left out */
  constructor(reason: string, where?: string) {
    super(`Seed data${where === undefined ? "" : `, ${where}`}: ${reason}`);
  }
}
