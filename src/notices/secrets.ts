/** Secrets that the file of notices names: keys of signatures, and the address of the mail server. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { isLoopback } from "../config/loopback.ts";
import { about } from "../mapping/schema/about.ts";
import type { ReportProblem } from "../operator-files/operator-file.ts";

/** Where a secret is: the file has none itself. */
export const secretDefinition = z.strictObject({
  env: about(
    z
      .string()
      .regex(/^[A-Za-z_]\w{0,99}$/, "is not the name of an environment variable")
      .optional(),
    "Name of an environment variable",
    "NOTICES_SECRET",
  ),
  file: about(
    z.string().min(1).max(1000).optional(),
    "Path of a file with nothing else in it",
    "/run/secrets/notices",
  ),
});

/** Reads a secret. No problem shows its value. @returns undefined with a report if that is not possible */
export function readSecret(
  { env, file }: z.output<typeof secretDefinition>,
  path: readonly PropertyKey[],
  report: ReportProblem,
): string | undefined {
  if ((env === undefined) === (file === undefined)) {
    report("AG_NOTICES_SECRET_PLACE", path, "has one of the keys env and file");
    return undefined;
  }
  let text: string | undefined;
  try {
    text = (env === undefined ? readFileSync(file ?? "", "utf8") : process.env[env])?.trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    report("AG_NOTICES_SECRET_MISSING", path, `the file "${file}" can't be read: ${code}`);
    return undefined;
  }
  if (text) return text;
  report("AG_NOTICES_SECRET_MISSING", path, env === undefined ? `"${file}" is empty` : `${env} is not set`);
  return undefined;
}

const WEBHOOK_KEY = /^(?:whsec_)?([A-Za-z0-9+/]+={0,2})$/;

/** The bytes of the key of signatures (Standard Webhooks, "Signature scheme"); undefined if it has another form. */
export function readKey(text: string): Buffer | undefined {
  const [, encoded] = WEBHOOK_KEY.exec(text) ?? [];
  const key = Buffer.from(encoded ?? "", "base64");
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The URL of a mail server; undefined for another URL. Options in a query could switch off the check of certificates. */
export function readMailUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol, hostname, username, password, search, hash } = url;
  const isMail = (protocol === "smtp:" || protocol === "smtps:") && hostname !== "";
  return isMail && search === "" && hash === "" && canDecode(username + password) ? url : undefined;
}

/** Whether TLS is required: a password must not be readable on the way to another machine. */
export const requiresTls = ({ username, hostname }: URL): boolean => username !== "" && !isLoopback(hostname);
