/**
 * A seed file, YAML or JSON, with additional accounts.
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
import { isObject } from "../fields/field.ts";
import type { Grants } from "../resources/hidden-state.ts";

/**
 * Reads and parses a seed file. Its content is validated when it is added to the store.
 *
 * @throws {SeedError} for a file that cannot be read or parsed.
 */
export async function readSeedFile(path: string): Promise<unknown> {
  try {
    return parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new SeedError(error instanceof Error ? error.message : String(error), path);
  }
}

/** Validates the structure of a seed file. @throws {SeedError} naming the missing part. */
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
  for (const { tokens, apps, grants } of users) {
    for (const [name, items] of Object.entries({ tokens, apps }))
      seedsOf(items ?? [], `${where}.users, ${name}`);
    if (grants && !(isObject(grants.global) && isObject(grants.entities)))
      throw new SeedError("grants with global and entities are needed", `${where}.users`);
  }
  for (const [name, items] of Object.entries(lists)) if (name !== "id") seedsOf(items, `${where}.${name}`);
  const id = typeof value["id"] === "string" ? value["id"] : accountId(JSON.stringify(users));
  return { ...lists, ...(settings && { settings }), id, account, users };
}

/** Derives an account id from a text. The same text always has the same id. */
function accountId(text: string): string {
  const digits = createHash("sha256").update(text).digest("hex").toUpperCase();
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 32)].join("-");
}

function isUser(value: unknown): value is UserSeed {
  return isObject(value) && typeof value["username"] === "string" && typeof value["email"] === "string";
}

/** Checks that the value is a list of objects and returns it. @throws {SeedError} if it is not. */
export function seedsOf(value: unknown, where: string): Seeds {
  if (Array.isArray(value) && value.every(isObject)) return value;
  throw new SeedError("a list of objects is needed", where);
}

// Types of seed data, hand-written or from a file.

export type Seeds = readonly Readonly<Record<string, unknown>>[];

export interface UserSeed extends Readonly<Record<string, unknown>> {
  readonly username: string;
  readonly email: string;
  readonly restricted?: boolean;
  readonly grants?: Grants;
  /** Tokens of the user. `token` is the secret. If it is omitted, the secret is derived from the label. */
  readonly tokens?: Seeds;
  /** Labels of the SSH keys of the user. */
  readonly ssh_keys?: string[];
  /** Tokens of apps. They have the lifetime of tokens from the login server, and are revoked with their `client`. */
  readonly apps?: Seeds;
}

/**
 * The data of an account. Other members are lists of its resources, named by the last segment of their path:
 * `instances`, `domains`, `volumes`, `tickets`, …; items contain their children (`records` in a domain).
 */
export interface AccountSeed extends Readonly<Record<string, unknown>> {
  /** Account id, sent as `X-Customer-UUID`; optional in a file. */
  readonly id: string;
  readonly account: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly users: readonly UserSeed[];
}

/** Invalid seed data. The message addresses the author of the file. */
export class SeedError extends Error {
  override readonly name = "SeedError";
  readonly code = "AG_SEED_INVALID";

  /** @param where Location in the data, e.g. `accounts[0].users`. If omitted, the error concerns the data as a whole. */
  constructor(reason: string, where?: string) {
    super(`Seed data${where === undefined ? "" : `, ${where}`}: ${reason}`);
  }
}
