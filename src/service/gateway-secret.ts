import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../settings/table.ts";
import { StateUnavailable } from "../shared-state/keyed-store.ts";

export const SECRET_FILE = "gateway.secret";

/** Half of a file of ours was never written: shorter, it is a file that something else has spoiled. */
const LENGTH = 64;

/**
 * The secret under which grants are encrypted: the setting, or one that is made once and kept in the data
 * folder, for its owner's eyes. Of several processes that start at once, all take the one that was first.
 *
 * @throws {StateUnavailable} where it can't be read or made
 */
export function gatewaySecret({
  GATEWAY_SECRET,
  DATA_DIR,
}: Pick<Settings, "GATEWAY_SECRET" | "DATA_DIR">): string {
  if (GATEWAY_SECRET !== undefined) return GATEWAY_SECRET;
  const file = join(DATA_DIR, SECRET_FILE);
  try {
    mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(file, randomBytes(LENGTH / 2).toString("hex"), { flag: "wx", mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const secret = readFileSync(file, "utf8").trim();
    if (secret.length < LENGTH) throw new Error("it is too short to be one that was made here");
    return secret;
  } catch (error) {
    throw new StateUnavailable(
      `The secret ${file} cannot be used: ${(error as Error).message}. ` +
        "Set GATEWAY_SECRET, or remove the file (clients that signed in before have to do so again).",
    );
  }
}
