/** Opens the client directory, and brings it into force together with the files that name its clients. */
import { isDeepStrictEqual } from "node:util";
import { CLIENTS_FILE, NO_CLIENTS, type ClientDirectory } from "./client-directory.ts";
import {
  type JudgedFile,
  type Log,
  type Metrics,
  prepareOrReject,
  type Settings,
  type WatchedFile,
  watchOperatorFile,
} from "../../base/index.ts";

/** The client directory of a gateway. */
export interface ClientsService extends WatchedFile<ClientDirectory> {
  /** The directory with which a file that names clients comes into force. */
  candidate(): ClientDirectory;
  /** For {@link WatchOptions.join} of a file that names clients. */
  join(file: JudgedFile): () => void;
}

const UNFIT =
  "CLIENTS_FILE has changed, and this file does not fit it: what was read before of both stays. " +
  "Undo the change, or change this file too. Earlier dates have to be announced";

/**
 * Opens the client directory. Without a file it is empty.
 *
 * A changed directory comes into force with all files that name its clients, or not at all: a client that has another name
 * would lose what they have under the old one.
 *
 * @param check Throws an {@link OperatorFileError} for a directory that must not replace the active one.
 * @throws {OperatorFileError} If the file is invalid.
 */
export function openClients(
  { CLIENTS_FILE: file }: Pick<Settings, "CLIENTS_FILE">,
  log: Log,
  metrics: Pick<Metrics, "addGauge">,
  check: (next: ClientDirectory, active: ClientDirectory) => void = () => {},
): ClientsService {
  const naming: JudgedFile[] = [];
  let directory: JudgedFile<ClientDirectory> | undefined;
  let candidate: ClientDirectory | undefined;

  const watched =
    file === undefined
      ? undefined
      : watchOperatorFile(file, CLIENTS_FILE, {
          setting: "CLIENTS_FILE",
          gauge: "clients_file_last_reload_successful",
          join(judged) {
            directory = {
              ...judged,
              prepare() {
                const prepared = judged.prepare();
                check(prepared.next, current());
                return prepared;
              },
            };
            return () => reload(naming);
          },
          log,
          metrics,
        });
  const current = (): ClientDirectory => watched?.current() ?? NO_CLIENTS;

  /** @param files what is read again if the directory has not changed */
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
    candidate: () => candidate ?? current(),
    join(judged) {
      naming.push(judged);
      return () => reload([judged]);
    },
    reload: () => reload(naming),
    close: () => watched?.close(),
  };
}
