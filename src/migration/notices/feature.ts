/** Notices about events: `NOTICES_FILE`, the sources of events, and `alpha-gateway notices test`. */
import { randomUUID } from "node:crypto";
import type { AuditStore, ClientDirectory } from "../../audit/index.ts";
import { type Feature, type FeatureCommands, type FeatureParts, lines, plural } from "../../base/index.ts";
import type { PlanStatus } from "../plan/plan-status.ts";
import { COUNTED, RESULTS } from "./notice.ts";
import { NOTICES_SCHEMA, noticesFile, type Receiver } from "./notices-file.ts";
import { Notices, type NoticesOptions } from "./notices.ts";
import { createClientReader } from "./read-clients.ts";
import { SendError, sendWebhook } from "./webhook.ts";

interface NoticesNeeds {
  readonly directory: () => ClientDirectory;
  readonly state: NoticesOptions["store"];
  readonly audit: AuditStore | undefined;
  /** Returns the status of the plan. Undefined if there is no plan. */
  readonly planStatus: () => PlanStatus | undefined;
  /** Whether the secrets are read. Default: true. `check` does not read them, because it may run on a different machine. */
  readonly readsSecrets?: boolean;
}

/** The notices, open. */
interface NoticesParts extends FeatureParts {
  receivers(): readonly Receiver[];
}

const TICK_MS = 1000;

/** Sends a test to one receiver. @returns the error; undefined if it was sent */
async function sendTest(receiver: Receiver): Promise<string | undefined> {
  const timestamp = new Date().toISOString();
  const notice = { type: "test", timestamp, data: { receiver: receiver.name } } as const;
  try {
    await sendWebhook(receiver, { id: `msg_${randomUUID()}`, notice }, new AbortController().signal);
    return undefined;
  } catch (error) {
    if (error instanceof SendError) return error.message;
    throw error;
  }
}

const NOTICES_COMMANDS: FeatureCommands<unknown, NoticesParts> = {
  settings: ["NOTICES_FILE"],
  otherSettings: ["AUDIT"],
  absence: "there are no receivers",
  all: [
    {
      syntax: "test",
      description: "Send one notice to each receiver, and print the results.",
      async run({ parts }) {
        const receivers = parts.receivers();
        const problems: (string | undefined)[] = [];
        for (const receiver of receivers) problems.push(await sendTest(receiver));
        const results = receivers.map(({ name }, index) =>
          problems[index] === undefined ? `${name}: sent` : `${name}: not sent: ${problems[index]}`,
        );
        return {
          blocks: lines(...(results.length === 0 ? ["The file has no receivers."] : results)),
          exitCode: problems.every((problem) => problem === undefined) ? 0 : 1,
        };
      },
    },
  ],
};

export const NOTICES: Feature<NoticesNeeds, NoticesParts | undefined> = {
  name: "notices",
  setting: "NOTICES_FILE",
  schema: NOTICES_SCHEMA,
  commands: NOTICES_COMMANDS,
  open({ NOTICES_FILE: file, QUIET_DAYS: quietDays, AUDIT }, needs, host) {
    if (file === undefined) return undefined;
    const { directory, state, audit, readsSecrets = true } = needs;
    const { log, metrics } = host;
    const kind = noticesFile({ hasAudit: AUDIT !== "off", readsSecrets });
    const watched = host.readFile("NOTICES_FILE", file, kind);
    const notices = new Notices({
      file: watched.current,
      store: state,
      readClients: audit && createClientReader(audit, directory, quietDays),
      planStatus() {
        const status = needs.planStatus();
        return status?.inForce ? status : undefined;
      },
      onResult: metrics.countNotice,
      log,
    });
    // The counter starts at zero, so that the first failure is an increase.
    for (const event of COUNTED) for (const result of RESULTS) metrics.countNotice(event, result, 0);
    metrics.addGauge("notices_waiting", "Notices that wait in this process.", () => notices.stats().waiting);
    metrics.addGauge(
      "notices_ignored",
      "Clients and losses without notices, because the memory for them is full.",
      () => notices.stats().ignored,
    );
    metrics.addGauge(
      "notices_receivers_failing",
      "Receivers whose last attempt failed.",
      () => notices.stats().failing,
    );
    host.repeat(TICK_MS, () => notices.tick());
    let closing: Promise<void> | undefined;
    /** Stops sending within two seconds. Unsent notices wait in the state store. */
    const close = (): Promise<void> => (closing ??= notices.close());
    const receivers = (): readonly Receiver[] => watched.current().receivers;
    const summary = (): string => plural(receivers().length, "receiver");
    return { receivers, summary, reload: watched.reload, stop: close, close };
  },
};
