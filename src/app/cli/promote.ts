import type { Command } from "commander";
import { readWantedPack, writeWantedPack } from "../../compare/index.ts";
import { assertReplaceable, loadPack, packFolder } from "../../pack/index.ts";
import { openExistingState } from "../../gateway/index.ts";
import type { KeyValueStore } from "../../base/index.ts";
import type { PromoteSettings } from "./command-settings.ts";
import { print } from "./terminal.ts";

/** Opens the store that running gateways look at. */
async function openState(settings: PromoteSettings, command: Command): Promise<KeyValueStore> {
  const store = await openExistingState(settings);
  return (
    store ??
    command.error("error: there is no state store yet: start the gateway, or give its DATA_DIR or REDIS_URL")
  );
}

/**
 * Runs `alpha-gateway promote`: all gateways of the state store are to serve the candidate.
 *
 * @returns the exit code
 * @throws {PackError} If a pack is invalid. {StateUnavailableError}
 */
export async function promote(settings: PromoteSettings, command: Command): Promise<number> {
  const { CANDIDATE_MAPPINGS_DIR: folder, MAPPINGS_DIR, WORDS } = settings;
  if (folder === undefined)
    return command.error(
      "error: there is no candidate: set CANDIDATE_MAPPINGS_DIR, or give --candidate-mappings-dir",
    );
  const candidate = loadPack(folder, WORDS);
  const main = loadPack(packFolder(MAPPINGS_DIR), WORDS);
  if (candidate.hash === main.hash)
    return command.error("error: the candidate is the pack of MAPPINGS_DIR: there is nothing to promote");
  assertReplaceable(candidate, main);
  const store = await openState(settings, command);
  try {
    await writeWantedPack(store, { pack: "candidate", hash: candidate.hash });
  } finally {
    await store.close();
  }
  print(
    `Promoted ${candidate.hash}: running gateways serve it within a few seconds.\n` +
      `alpha-gateway rollback brings back ${main.hash}, the pack of MAPPINGS_DIR.\n`,
  );
  return 0;
}

/**
 * Runs `alpha-gateway rollback`: all gateways of the state store are to serve the pack of `MAPPINGS_DIR` again.
 *
 * @returns the exit code
 * @throws {StateUnavailableError}
 */
export async function rollback(settings: PromoteSettings, command: Command): Promise<number> {
  const store = await openState(settings, command);
  try {
    const { pack } = await readWantedPack(store);
    if (pack === "candidate") await writeWantedPack(store, { pack: "active" });
    print(
      pack === "candidate"
        ? "Rolled back: running gateways serve the pack of MAPPINGS_DIR within a few seconds.\n"
        : "Nothing is promoted: the pack of MAPPINGS_DIR serves.\n",
    );
  } finally {
    await store.close();
  }
  return 0;
}
