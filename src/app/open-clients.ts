import { CLIENTS_FILE, NO_CLIENTS, type ClientDirectory } from "../clients/client-directory.ts";
import type { Settings } from "../config/setting-definitions.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics/metrics.ts";
import { watchOperatorFile, type WatchedFile, type WatchOptions } from "./watched-file.ts";

/** The client directory. Without a file it is empty. @throws {OperatorFileError} */
export function openClients(
  { CLIENTS_FILE: file }: Settings,
  log: Log,
  metrics: Metrics,
  { check, onChange }: Required<Pick<WatchOptions<ClientDirectory>, "check" | "onChange">>,
): WatchedFile<ClientDirectory> {
  if (file === undefined) return { current: () => NO_CLIENTS, reload: () => {}, close: () => {} };
  return watchOperatorFile(file, CLIENTS_FILE, {
    setting: "CLIENTS_FILE",
    gauge: "clients_file_last_reload_successful",
    check,
    onChange,
    log,
    metrics,
  });
}
