import { randomBytes } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorText, makeFolder, type Settings, StateUnavailableError } from "../../base/index.ts";

export const SECRET_FILE = "gateway.secret";

const BYTES = 32;
const OWNER_ONLY = 0o600;
const GROUP_AND_OTHERS = 0o077;

/** Any other content was written by something else, and may be known or guessed. */
const SECRET = /^[0-9a-f]{64}$/;

/** Writes a temporary file and links it: of several processes that start at the same time, one wins. */
function createSecret(file: string): void {
  const temporary = `${file}.${randomBytes(8).toString("hex")}`;
  try {
    writeFileSync(temporary, randomBytes(BYTES).toString("hex"), { flag: "wx", mode: OWNER_ONLY });
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Makes the file readable by its owner only: volumes and copies set modes of their own. */
function restrictToOwner(file: string): void {
  if ((statSync(file).mode & GROUP_AND_OTHERS) !== 0) chmodSync(file, OWNER_ONLY);
}

/**
 * Reads the secret that encrypts stored tokens: the setting, or a file in the data folder, which is created once.
 *
 * @throws {StateUnavailableError} If the file can't be read or created.
 */
export function readGatewaySecret({
  GATEWAY_SECRET,
  DATA_DIR,
}: Pick<Settings, "GATEWAY_SECRET" | "DATA_DIR">): string {
  if (GATEWAY_SECRET !== undefined) return GATEWAY_SECRET;
  const file = join(DATA_DIR, SECRET_FILE);
  try {
    makeFolder(DATA_DIR);
    if (!statSync(file, { throwIfNoEntry: false })) createSecret(file);
    restrictToOwner(file);
    const secret = readFileSync(file, "utf8").trim();
    if (!SECRET.test(secret)) throw new Error("the gateway did not write it");
    return secret;
  } catch (error) {
    throw new StateUnavailableError(
      `The secret ${file} cannot be used: ${errorText(error)}. ` +
        "Set GATEWAY_SECRET, or remove the file (clients that signed in before have to do so again).",
    );
  }
}
