/** Opens the notices of a gateway: reads their file, and gives them what they look at. */
import type { AuditStore, ClientDirectory } from "../../audit/index.ts";
import {
  type KeyValueStore,
  type Log,
  type Metrics,
  type Settings,
  watchOperatorFile,
} from "../../base/index.ts";
import { COUNTED, RESULTS } from "./notice.ts";
import { noticesFile } from "./notices-file.ts";
import { Notices } from "./notices.ts";
import { createClientReader } from "./read-clients.ts";
import type { SunsetService } from "../sunset/open-sunset.ts";

/** The notices of a gateway. */
export interface NoticesService {
  /** Reads the file again. Never throws. */
  reload(): void;
  /** Ends attempts to send within two seconds: what was not sent waits in the state store. Never rejects. */
  close(): Promise<void>;
}

export interface NoticesDependencies {
  readonly directory: () => ClientDirectory;
  readonly state: KeyValueStore;
  readonly audit: AuditStore | undefined;
  readonly sunset: SunsetService;
  readonly log: Log;
  readonly metrics: Metrics;
}

const NO_NOTICES: NoticesService = { reload: () => {}, close: async () => {} };

const TICK_MS = 1000;

/**
 * Opens the notices of `NOTICES_FILE`.
 *
 * @throws {OperatorFileError} If the file is invalid.
 */
export function openNotices(
  { NOTICES_FILE: file, QUIET_DAYS: quietDays }: Pick<Settings, "NOTICES_FILE" | "QUIET_DAYS">,
  { directory, state, audit, sunset, log, metrics }: NoticesDependencies,
): NoticesService {
  if (file === undefined) return NO_NOTICES;
  const watched = watchOperatorFile(
    file,
    noticesFile({ hasAudit: audit !== undefined, readsSecrets: true }),
    { setting: "NOTICES_FILE", gauge: "notices_file_last_reload_successful", log, metrics },
  );
  const notices = new Notices({
    file: watched.current,
    store: state,
    readClients: audit && createClientReader(audit, directory, quietDays),
    planStatus() {
      const status = sunset.status();
      return status?.inForce ? status : undefined;
    },
    onResult: metrics.countNotice,
    log,
  });
  // From zero on, so that the first failure is an increase.
  for (const event of COUNTED) for (const result of RESULTS) metrics.countNotice(event, result, 0);
  metrics.addGauge(
    "notices_waiting",
    "Notices that wait to be sent by this process.",
    () => notices.stats().waiting,
  );
  metrics.addGauge(
    "notices_ignored",
    "Clients and losses without notices, because there are too many to remember.",
    () => notices.stats().ignored,
  );
  metrics.addGauge(
    "notices_receivers_failing",
    "Receivers of notices whose last attempt failed.",
    () => notices.stats().failing,
  );
  const timer = setInterval(() => void notices.tick(), TICK_MS).unref();
  let closing: Promise<void> | undefined;
  return {
    reload: watched.reload,
    close() {
      clearInterval(timer);
      watched.close();
      return (closing ??= notices.close());
    },
  };
}
