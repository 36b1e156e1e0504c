import { randomBytes } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../storage/make-folder.ts";
import type { Settings } from "../config/schema.ts";
import { StateUnavailableError } from "../storage/key-value-store.ts";

export const SECRET_FILE = "gateway.secret";

const BYTES = 32;
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** Anything else is a file that something has spoiled: what is in it may be known, or guessed. */
const MADE_HERE = /^[0-9a-f]{64}$/;

/** Written aside and linked into place whole: of several processes that start at once, one is first. */
function makeSecret(file: string): void {
  const aside = `${file}.${randomBytes(8).toString("hex")}`;
  try {
    writeFileSync(aside, randomBytes(BYTES).toString("hex"), { flag: "wx", mode: OWNER_ONLY });
    linkSync(aside, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Volumes and copies come with modes of their own. Only a file that can't be closed to others is a fault. */
function closeToOthers(file: string): void {
  if ((statSync(file).mode & OTHERS) !== 0) chmodSync(file, OWNER_ONLY);
}

/**
 * The secret under which grants are encrypted: the setting, or one that is made once and kept in the data
 * folder, for its owner's eyes.
 *
 * @throws {StateUnavailableError} where it can't be read or made
 */
export function gatewaySecret({
  GATEWAY_SECRET,
  DATA_DIR,
}: Pick<Settings, "GATEWAY_SECRET" | "DATA_DIR">): string {
  if (GATEWAY_SECRET !== undefined) return GATEWAY_SECRET;
  const file = join(DATA_DIR, SECRET_FILE);
  try {
    makeFolder(DATA_DIR);
    if (!statSync(file, { throwIfNoEntry: false })) makeSecret(file);
    closeToOthers(file);
    const secret = readFileSync(file, "utf8").trim();
    if (!MADE_HERE.test(secret)) throw new Error("it is not one that was made here");
    return secret;
  } catch (error) {
    throw new StateUnavailableError(
      `The secret ${file} cannot be used: ${(error as Error).message}. ` +
        "Set GATEWAY_SECRET, or remove the file (clients that signed in before have to do so again).",
    );
  }
}
