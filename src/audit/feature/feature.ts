/** The client directory of `CLIENTS_FILE`. It is activated together with the files that refer to its clients. */
import { isDeepStrictEqual } from "node:util";
import { CLIENTS_COMMANDS } from "./commands.ts";
import { CLIENTS_FILE, NO_CLIENTS, type ClientDirectory } from "../clients/client-directory.ts";
import {
  type Feature,
  type FeatureParts,
  type JudgedFile,
  plural,
  prepareOrReject,
} from "../../base/index.ts";

/** Throws an {@link OperatorFileError} if the directory must not replace the active one. */
type CheckDirectory = (next: ClientDirectory, active: ClientDirectory) => void;

/** The client directory, open. */
export interface ClientsParts extends FeatureParts {
  /** Returns the active version, for requests that start now. */
  current(): ClientDirectory;
  /** Returns the version that will be activated together with a file that names clients. */
  candidate(): ClientDirectory;
  /** Implements {@link WatchOptions.join} for a file that names clients. */
  join(file: JudgedFile): () => void;
  addCheck(check: CheckDirectory): void;
  /** Reads the directory again, and the files that refer to its clients. */
  reload(): void;
}

const UNFIT =
  "CLIENTS_FILE has changed, and this file does not fit it. The previous version of both stays active. " +
  "Undo the change, or change this file too. Earlier dates have to be announced";

/**
 * The client directory. If there is no file, it is empty.
 *
 * A changed directory is activated together with all files that refer to its clients, or not at all. Otherwise a
 * renamed client would lose its entries in these files.
 */
export const CLIENTS: Feature<unknown, ClientsParts> = {
  commands: CLIENTS_COMMANDS,
  name: "clients",
  setting: "CLIENTS_FILE",
  schema: CLIENTS_FILE.schema,
  open({ CLIENTS_FILE: file }, _needs, { readFile }) {
    const naming: JudgedFile[] = [];
    const checks: CheckDirectory[] = [];
    let directory: JudgedFile<ClientDirectory> | undefined;
    let candidate: ClientDirectory | undefined;

    const watched =
      file === undefined
        ? undefined
        : readFile("CLIENTS_FILE", file, CLIENTS_FILE, {
            join(judged) {
              directory = {
                ...judged,
                prepare() {
                  const prepared = judged.prepare();
                  for (const check of checks) check(prepared.next, current());
                  return prepared;
                },
              };
              return () => reload(naming);
            },
          });
    const current = (): ClientDirectory => watched?.current() ?? NO_CLIENTS;

    /** @param files files to read again if the directory has not changed */
    function reload(files: readonly JudgedFile[]): void {
      const changed = directory && prepareOrReject(directory);
      if (!changed || isDeepStrictEqual(changed.next.clients, current().clients)) {
        changed?.accept();
        for (const each of files) prepareOrReject(each)?.accept();
        return;
      }
      candidate = changed.next;
      const prepared = naming.map((each) => prepareOrReject(each, UNFIT));
      candidate = undefined;
      if (prepared.includes(undefined)) directory?.reject();
      else for (const each of [changed, ...prepared]) each?.accept();
    }

    return {
      current,
      summary: () => plural(current().clients.length, "client"),
      candidate: () => candidate ?? current(),
      join(judged) {
        naming.push(judged);
        return () => reload([judged]);
      },
      addCheck: (check) => void checks.push(check),
      reload: () => reload(naming),
    };
  },
};
