/** The caller's profile, second factor and logins. */

import { createHmac, randomBytes } from "node:crypto";
import { dateTime } from "../../clock.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { recordEvent } from "../../resource/event-log.ts";
import type { ActionCall, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import type { User } from "../row-types.ts";
import { readGrants } from "./user.ts";

const write = ["account:read_write"];
const ownedByUser = { owner: "user", access: "required", area: "account" } as const;
const entity = {
  type: "profile",
  url: "/v4/profile",
  id: ({ uid }: User) => uid,
  label: ({ username }: User) => username,
};

/** Whether this is a name of the time zone database, including old ones (`US/Eastern`), not an offset. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** Reading the profile needs no scope. */
export const profile: Resource<User> = {
  name: "profile",
  table: "user",
  path: "/profile",
  id: "perUser",
  owner: "account",
  access: "required",
  scopes: { update: write },
  entity,
  fields: {
    uid: { type: "integer" },
    username: { type: "string" },
    email: { type: "string", max: 128, pattern: "[^@\\s]+@[^@\\s]+", write: true },
    timezone: { type: "string", min: 1, max: 64, write: true },
    email_notifications: { type: "boolean", write: true },
    referrals: { type: "object" },
    ip_whitelist_enabled: { type: "boolean", write: true },
    lish_auth_method: { type: "string", values: ["password_keys", "keys_only", "disabled"], write: true },
    authorized_keys: { type: "strings", nullable: true, write: true },
    two_factor_auth: { type: "boolean" },
    restricted: { type: "boolean" },
    authentication_type: { type: "string" },
  },
  read: true,
  serialize({ value }) {
    const { ssh_keys: _keys, tfa_enabled: tfa, ...rest } = value;
    return { ...rest, two_factor_auth: tfa };
  },
  update: {
    event: "profile_update",
    validate({ body, row }) {
      const errors: FieldError[] = [];
      const switchedOn = body["ip_whitelist_enabled"] === true && !row.value.ip_whitelist_enabled;
      const field = "ip_whitelist_enabled";
      if (switchedOn) errors.push({ reason: `${field} can only be switched off`, field });
      const zone = body["timezone"];
      if (typeof zone === "string" && !isTimeZone(zone))
        errors.push({ reason: "timezone is not valid", field: "timezone" });
      return errors;
    },
  },
  actions: [
    {
      method: "GET",
      path: "/grants",
      grant: "none",
      run: ({ store, row }) => readGrants(store, row, "granted"),
    },
    { method: "POST", path: "/tfa-enable", scopes: write, run: enableSecondFactor },
    {
      method: "POST",
      path: "/tfa-enable-confirm",
      scopes: write,
      body: { tfa_code: { type: "string", min: 1, required: true } },
      event: "tfa_enabled",
      run: confirmSecondFactor,
    },
    {
      method: "POST",
      path: "/tfa-disable",
      scopes: write,
      event: "tfa_disabled",
      run: disableSecondFactor,
    },
  ],
};

const loginFields = {
  id: { type: "integer" },
  datetime: { type: "date-time" },
  ip: { type: "string" },
  username: { type: "string" },
  restricted: { type: "boolean" },
} as const;

/** The logins of all users of the account. */
export const login: Resource = {
  ...ownedByUser,
  owner: "account",
  name: "login",
  path: "/account/logins",
  id: "integer",
  grant: "unrestricted",
  fields: loginFields,
  list: { newestFirst: true },
  read: true,
};

export const profileLogin: Resource = {
  ...ownedByUser,
  owner: "account",
  name: "profileLogin",
  table: "login",
  path: "/profile/logins",
  id: "integer",
  fields: loginFields,
  list: {
    rows: ({ store, caller }) =>
      ownLogins([...store.table("login").inHome(caller.account)], caller.user).toReversed(),
  },
  read: true,
  isVisible: ({ value }, { caller }) => value["username"] === caller.user,
};

function ownLogins(rows: Row[], user: string): Row[] {
  return rows.filter(({ value }) => value["username"] === user);
}

// Second factor: time-based one-time passwords (RFC 6238, RFC 4226).

const step = 30_000;
const hour = 3_600_000;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function enableSecondFactor({ row, at }: ActionCall<User>): object {
  if (row.value.tfa_enabled) throw invalid("The second factor is enabled already");
  const secret = Array.from(randomBytes(16), (byte) => alphabet[byte & 31]).join("");
  row.hidden = { ...row.hidden, secret, expires: at + hour };
  return { secret, expiry: dateTime(at + hour) };
}

function confirmSecondFactor(call: ActionCall<User>): object {
  const { row, body, at, action } = call;
  const { secret, expires = 0 } = row.hidden ?? {};
  if (secret === undefined || expires < at) throw invalid("Enable the second factor first");
  const accepted = [at - step, at, at + step].map((time) => codeAt(secret, time));
  if (!accepted.includes(String(body["tfa_code"]))) throw invalid("tfa_code is not valid", "tfa_code");
  row.value.tfa_enabled = true;
  recordEvent(call, action.event ?? "", row);
  return { scratch: randomBytes(9).toString("base64url") };
}

function disableSecondFactor(call: ActionCall<User>): void {
  const { row, action } = call;
  if (!row.value.tfa_enabled) return;
  row.value.tfa_enabled = false;
  delete row.hidden?.secret;
  recordEvent(call, action.event ?? "", row);
}

/** Returns the six-digit code of a base32 secret at a time in milliseconds. */
export function codeAt(secret: string, time: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(time / step)));
  const digest = createHmac("sha1", bytesOf(secret)).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

function bytesOf(base32: string): Buffer {
  const bits = Array.from(base32, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
