/** A second factor: codes that change with the time, from a secret that both sides know (RFC 6238, RFC 4226). */

import { createHmac, randomBytes } from "node:crypto";
import { invalid } from "../http/problem.ts";
import { dateTime } from "../clock.ts";
import type { ActionCall } from "../resource/declaration.ts";
import { recordEvent } from "../resource/events.ts";
import type { User } from "./shapes.ts";

const step = 30_000;
const hour = 3_600_000;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function enableSecondFactor({ row, at }: ActionCall<User>): object {
  if (row.value.tfa_enabled) throw invalid("The second factor is enabled already");
  const secret = Array.from(randomBytes(16), (byte) => alphabet[byte & 31]).join("");
  row.hidden = { ...row.hidden, secret, expires: at + hour };
  return { secret, expiry: dateTime(at + hour) };
}

export function confirmSecondFactor(call: ActionCall<User>): object {
  const { row, body, at, action } = call;
  const { secret, expires = 0 } = row.hidden ?? {};
  if (secret === undefined || expires < at) throw invalid("Enable the second factor first");
  const accepted = [at - step, at, at + step].map((time) => codeAt(secret, time));
  if (!accepted.includes(String(body["tfa_code"]))) throw invalid("tfa_code is not valid", "tfa_code");
  row.value.tfa_enabled = true;
  recordEvent(call, action.event ?? "", row);
  return { scratch: randomBytes(9).toString("base64url") };
}

export function disableSecondFactor(call: ActionCall<User>): void {
  const { row, action } = call;
  if (!row.value.tfa_enabled) return;
  row.value.tfa_enabled = false;
  delete row.hidden?.secret;
  recordEvent(call, action.event ?? "", row);
}

/** The six digits that a secret of base32 gives at a time, in milliseconds. */
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
