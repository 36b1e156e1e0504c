/** `alpha-gateway audit erase`: removes one client from the audit store. */
import type { Command } from "commander";
import {
  type AuditStore,
  type ClientDirectory,
  isNamedKey,
  keysOfName,
  openExistingAuditStore,
} from "../../../audit/index.ts";
import { plural, withClosing, type Settings } from "../../../base/index.ts";
import { readDirectory } from "../feature-needs.ts";
import { showProgress } from "../progress.ts";
import { print } from "../terminal.ts";

export interface EraseFlags {
  readonly client: string;
}

const FINGERPRINT = /^[0-9a-f]{16}$/;

/** Returns the keys of a client, by its name in the directory or by one key; undefined for any other text. */
async function keysOf(
  client: string,
  directory: ClientDirectory,
  store: AuditStore,
): Promise<readonly string[] | undefined> {
  if (FINGERPRINT.test(client) || isNamedKey(client)) return [client];
  if (!directory.find(client)) return undefined;
  return keysOfName(directory, client, await store.clients({ limit: Number.MAX_SAFE_INTEGER }));
}

/** Runs `alpha-gateway audit erase`. @returns the exit code */
export async function eraseClient(
  { client }: EraseFlags,
  settings: Settings,
  command: Command,
): Promise<number> {
  const directory = await readDirectory(settings);
  return withClosing(async (keep) => {
    const store = keep(await openExistingAuditStore(settings), (each) => each.close());
    const keys = await keysOf(client, directory, store);
    if (!keys)
      return command.error(
        `error: --client "${client}" is neither a name of CLIENTS_FILE nor a key: a fingerprint, application:ID or label:NAME`,
      );
    const progress = showProgress("records erased");
    const { records, summaries, tokens } = await store.erase({ keys, command: "audit erase" }, progress);
    progress.end();
    print(
      `Erased ${plural(records, "record")}, ${plural(summaries, "row")} of summaries and ${plural(tokens, "token")} of ${client}.\n`,
    );
    return 0;
  });
}
