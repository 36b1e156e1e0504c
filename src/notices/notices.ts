/** Looks for news at intervals, and sends notices about them. Of all processes that share a state store, one does. */
import type { ClientDirectory } from "../clients/client-directory.ts";
import type { Log } from "../observability/log.ts";
import type { PlanStatus } from "../sunset/describe-plan.ts";
import { Delivery } from "./delivery.ts";
import { makeDigest, type ClientReport } from "./digest.ts";
import { findNews, type ObservedClient } from "./find-news.ts";
import { sendMail } from "./mail.ts";
import { DIGESTS, type DigestName, type Notice, type NoticeResult } from "./notice.ts";
import { isAddress, type NoticesPlan } from "./notices-file.ts";
import {
  addChanges,
  addWaiting,
  CONTACTS,
  countedAs,
  createNoticesState,
  createWaiting,
  LEASE_SECONDS,
  limitNotices,
  type DigestState,
  type StoredNotices,
  type Waiting,
} from "./outbox.ts";
import { SendError } from "./send-error.ts";
import { contactMail, mailOf } from "./templates.ts";
import { sendWebhook } from "./webhook.ts";

/** Time between two looks at the clients: it is the largest read of the audit store. */
export const CLIENTS_MS = 300_000;
/** Time between two attempts to be the one process that sends, or to stay it. */
const LEASE_MS = (LEASE_SECONDS * 1000) / 3;
/** How long the shutdown waits for attempts to send. */
const CLOSE_MS = 2000;
const HOUR_MS = 3_600_000;

export interface NoticesOptions {
  /** The file, as it was last read. */
  readonly file: () => NoticesPlan;
  readonly directory: () => ClientDirectory;
  readonly store: Parameters<typeof createNoticesState>[0];
  /** Reads the clients that have used the old API; undefined without an audit store. @throws {AuditUnavailableError} */
  readonly readClients: ((time: number) => Promise<readonly ObservedClient[]>) | undefined;
  /** The plan; undefined without one, and while it is not in force. */
  readonly planStatus: () => PlanStatus | undefined;
  /** Reads the report about a client of the directory; undefined if it has never called. @throws {AuditUnavailableError} */
  readonly readReport: (client: string) => Promise<ClientReport | undefined>;
  readonly onResult: (event: ReturnType<typeof countedAs>, result: NoticeResult) => void;
  readonly log: Log;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/** Notices of a gateway. */
export interface Notices {
  /** Looks and sends, if it is time. Call it every second. Never rejects. */
  tick(): Promise<void>;
  /** What waits to be sent by this process, and the receivers whose last attempt failed. */
  stats(): { readonly waiting: number; readonly failing: number };
  /** Ends attempts within two seconds, and lets another process send. */
  close(): Promise<void>;
}

/** Sends something that waits. @throws {SendError} */
export async function sendWaiting(
  entry: Waiting,
  { file, directory, readReport }: Pick<NoticesOptions, "file" | "directory" | "readReport">,
  signal: AbortSignal,
): Promise<unknown> {
  const { receivers, smtp, contacts } = file();
  const { id, to, notice, client } = entry;
  if (client !== undefined) {
    const contact = directory().find(client)?.contact;
    if (!contacts || !smtp || !isAddress(contact)) throw new SendError("the contact gets no reports", true);
    const report = await readReport(client).catch(() => {
      throw new SendError("the audit store can't be read");
    });
    if (!report) throw new SendError("the client has made no calls", true);
    return sendMail(smtp, { id, to: [contact], ...contactMail(report) }, signal);
  }
  const target = receivers.find(({ name }) => name === to)?.target;
  if (!target || !notice) throw new SendError("there is no such receiver", true);
  if ("url" in target) return sendWebhook(target, { id, notice }, signal);
  if (!smtp) throw new SendError("there is no mail server", true);
  return sendMail(smtp, { id, to: target.to, ...mailOf(notice) }, signal);
}

/** Creates the notices of a gateway. Nothing is read yet. */
export function createNotices(options: NoticesOptions): Notices {
  const { file, directory, store, readClients, planStatus, onResult, log, clock = Date.now } = options;
  const state = createNoticesState(store);
  let isLeading = false;
  let isBusy = false;
  let isClosed = false;
  let running: Promise<void> = Promise.resolve();
  let isWorking = true;
  let areClientsReadable = true;
  let leaseAt = 0;
  let clientsAt = 0;
  let lastPlan = "";

  function report(entry: Waiting, result: NoticeResult, reason: string, isFirst: boolean): void {
    const event = countedAs(entry);
    onResult(event, result);
    const receiver = entry.to === CONTACTS ? "contacts" : entry.to;
    if (result === "dropped")
      log.error(
        { code: "AG_NOTICE_DROPPED", receiver, event, reason },
        "a notice was not sent, and is dropped",
      );
    else if (result === "failed" && isFirst)
      log.warn(
        { code: "AG_NOTICE_FAILED", receiver, event, reason },
        "a notice could not be sent: it is tried again",
      );
  }

  const delivery = new Delivery({
    waiting: () => (isLeading ? state.current().waiting : []),
    isReceiver: (name) => name === CONTACTS || file().receivers.some((receiver) => receiver.name === name),
    send: (entry, signal) => sendWaiting(entry, options, signal),
    remove: (ids) =>
      state.change((before) => ({ ...before, waiting: before.waiting.filter(({ id }) => !ids.has(id)) })),
    onResult: report,
    clock,
  });

  async function lead(): Promise<void> {
    if (clock() < leaseAt) return;
    const wasLeading = isLeading;
    try {
      isLeading = await state.lead();
    } catch (error) {
      // Another process may lead by now.
      isLeading = false;
      throw error;
    }
    leaseAt = clock() + LEASE_MS;
    if (isLeading && !wasLeading) {
      clientsAt = 0;
      lastPlan = "";
    }
  }

  /** Reports that are due, by what is stored. */
  const dueDigests = ({ digests }: StoredNotices, time: number): readonly DigestName[] =>
    DIGESTS.filter((name) => {
      const since = digests[name]?.since;
      return since !== undefined && file().nextDigest(name, since) <= time;
    });

  async function observe(time: number): Promise<readonly ObservedClient[] | undefined> {
    const isDue = time >= clientsAt || dueDigests(state.current(), time).length > 0;
    if (!readClients || !isDue) return undefined;
    clientsAt = time + CLIENTS_MS;
    try {
      const clients = await readClients(time);
      areClientsReadable = true;
      return clients;
    } catch (error) {
      if (areClientsReadable)
        log.error(
          { code: "AG_NOTICES_CLIENTS_UNKNOWN", error: (error as Error).message },
          "clients can't be read: there are no notices about them until they can",
        );
      areClientsReadable = false;
      return undefined;
    }
  }

  /** Compares, and stores what is to be sent: both in one step, so that it happens once. */
  async function look(): Promise<void> {
    const time = clock();
    const plan = planStatus();
    const clients = await observe(time);
    const planText = plan
      ? JSON.stringify([plan.stages.map(({ name, state: stage }) => [name, stage]), plan.events])
      : "";
    const isHourOver = Object.values(state.current().hours).some(
      ({ hour, more }) => more > 0 && hour < Math.floor(time / HOUR_MS),
    );
    if (!clients && planText === lastPlan && !isHourOver) return;
    let dropped: readonly Waiting[] = [];
    let ignored = 0;
    await state.change((before) => {
      const news = findNews(before.memory, { time, clients, plan });
      ({ ignored } = news);
      const digests: Partial<Record<DigestName, DigestState>> = addChanges(before, news.changes);
      const notices: Notice[] = [...news.notices];
      const reports: Waiting[] = [];
      for (const name of clients ? dueDigests(before, time) : []) {
        const data = makeDigest(
          name,
          digests[name] ?? { since: time, changes: [], more: 0 },
          clients ?? [],
          plan,
        );
        notices.push({ type: "digest", timestamp: new Date(time).toISOString(), data });
        delete digests[name];
        if (name === "weekly") reports.push(...reportsFor(clients ?? [], time));
      }
      for (const name of DIGESTS) digests[name] ??= { since: time, changes: [], more: 0 };
      const { hours, added } = limitNotices(before, notices, file().receivers, time);
      const next = addWaiting({ ...before, memory: news.memory, hours, digests }, [...added, ...reports]);
      ({ dropped } = next);
      return next.state;
    });
    lastPlan = planText;
    for (const entry of dropped) report(entry, "dropped", "too many notices wait for the receiver", true);
    if (ignored > 0)
      log.warn(
        { code: "AG_NOTICES_TOO_MANY_CLIENTS", clients: ignored },
        "there are too many clients: there are no notices about some of them",
      );
  }

  /** A report for each contact that wants one and whose client has something to do. */
  function reportsFor(clients: readonly ObservedClient[], time: number): Waiting[] {
    if (!file().contacts) return [];
    return clients.flatMap(({ usage: { name }, state: migration }) => {
      if (name === null || migration === "ready" || !isAddress(directory().find(name)?.contact)) return [];
      return [createWaiting({ to: CONTACTS, at: time, client: name })];
    });
  }

  async function run(): Promise<void> {
    try {
      await lead();
      if (isLeading) {
        await look();
        await delivery.start();
      }
      isWorking = true;
    } catch (error) {
      if (isWorking)
        log.error(
          { code: "AG_NOTICES_FAILED", error: (error as Error).message },
          "nothing can be found out or sent at the moment: notices wait",
        );
      isWorking = false;
    }
  }

  return {
    async tick() {
      if (isBusy || isClosed) return;
      isBusy = true;
      running = run();
      await running;
      isBusy = false;
    },
    stats: () => ({
      waiting: isLeading ? state.current().waiting.length : 0,
      failing: isLeading ? delivery.failing : 0,
    }),
    async close() {
      isClosed = true;
      await running;
      await delivery.close(CLOSE_MS);
      await state.resign().catch(() => {});
    },
  };
}
