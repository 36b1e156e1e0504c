/**
 * Checks for news at intervals, and sends notices about them. Of all processes that share a state store, only one does
 * this.
 */
import { setTimeout as wait } from "node:timers/promises";
import { errorText, type Log } from "../../base/index.ts";
import type { PlanStatus } from "../plan/plan-status.ts";
import { Delivery } from "./delivery.ts";
import type { Ignored, ObservedClient } from "./find-news.ts";
import { isMoreDue, takeLook, type Limited, type Looked } from "./look.ts";
import type { NoticeResult, NoticeType } from "./notice.ts";
import type { NoticesPlan } from "./notices-file.ts";
import { createNoticesStore, LEASE_SECONDS, type NoticesStore, type Waiting } from "./stored-notices.ts";
import { SendError, sendWebhook } from "./webhook.ts";

/** Milliseconds between two checks of the clients, which is the largest read of the audit store. */
const CLIENTS_MS = 300_000;
/** Milliseconds between two attempts to become or remain the sending process. */
const LEASE_MS = (LEASE_SECONDS * 1000) / 3;
/** Milliseconds that the shutdown waits for a check, and for attempts to send. */
const CLOSE_MS = 2000;

export interface NoticesOptions {
  /** Returns the last valid version of the file. */
  readonly file: () => NoticesPlan;
  readonly store: Parameters<typeof createNoticesStore>[0];
  /** Reads the clients that have used the old API; undefined if there is no audit store. @throws {AuditUnavailableError} */
  readonly readClients: ((time: number) => Promise<readonly ObservedClient[]>) | undefined;
  /** Returns the plan; undefined if not found, or while it is not in force. */
  readonly planStatus: () => PlanStatus | undefined;
  readonly onResult: (event: NoticeType, result: NoticeResult, count?: number) => void;
  readonly log: Log;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/** Notices of a gateway. No data is read before the first tick. */
export class Notices {
  readonly #options: NoticesOptions;
  readonly #clock: () => number;
  readonly #stored: NoticesStore;
  readonly #delivery: Delivery;
  #isLeading = false;
  #isBusy = false;
  #isClosed = false;
  #running: Promise<void> = Promise.resolve();
  #isWorking = true;
  #areClientsReadable = true;
  #leaseAt = 0;
  #clientsAt = 0;
  #lastPlan = "";
  #ignored = 0;

  constructor(options: NoticesOptions) {
    const { file, store, clock = Date.now } = options;
    const stored = createNoticesStore(store);
    const find = (to: string) => file().receivers.find(({ name }) => name === to);
    this.#options = options;
    this.#clock = clock;
    this.#stored = stored;
    this.#delivery = new Delivery({
      waiting: () => (this.#isLeading ? stored.current().waiting : []),
      isReceiver: (name) => find(name) !== undefined,
      send(entry, signal) {
        const receiver = find(entry.to);
        if (!receiver) throw new SendError("the receiver is no longer in the file");
        return sendWebhook(receiver, entry, signal);
      },
      remove: (ids) =>
        stored.change((before) => ({ ...before, waiting: before.waiting.filter(({ id }) => !ids.has(id)) })),
      onResult: (...result) => this.#report(...result),
      clock,
    });
  }

  /** Checks for news and sends notices, if it is time. Call this every second. Never rejects. */
  async tick(): Promise<void> {
    if (this.#isBusy || this.#isClosed) return;
    this.#isBusy = true;
    this.#running = this.#run();
    await this.#running;
    this.#isBusy = false;
  }

  /** The counters of this process. All are zero in a process that does not send. */
  stats() {
    if (!this.#isLeading) return { waiting: 0, failing: 0, ignored: 0 };
    const waiting = this.#stored.current().waiting.length;
    // `ignored` counts clients and losses that are never reported, because there are too many to store.
    return { waiting, failing: this.#delivery.failing, ignored: this.#ignored };
  }

  /** Stops within seconds, and lets another process send. Unsent notices wait. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.race([this.#running, wait(CLOSE_MS, undefined, { ref: false })]);
    await this.#delivery.close(CLOSE_MS);
    await this.#stored.resign().catch(() => {});
  }

  async #run(): Promise<void> {
    try {
      await this.#lead();
      if (this.#isLeading) {
        await this.#look();
        await this.#delivery.start();
      }
      this.#isWorking = true;
    } catch (error) {
      if (this.#isWorking)
        this.#options.log.error(
          { code: "AG_NOTICES_FAILED", error: errorText(error) },
          "nothing can be found out or sent at the moment: notices wait",
        );
      this.#isWorking = false;
    }
  }

  async #lead(): Promise<void> {
    if (this.#clock() < this.#leaseAt) return;
    const wasLeading = this.#isLeading;
    // If the store fails, a different process may be leading by now.
    this.#isLeading = false;
    this.#isLeading = await this.#stored.lead();
    this.#leaseAt = this.#clock() + LEASE_MS;
    if (this.#isLeading && !wasLeading) {
      this.#clientsAt = 0;
      this.#lastPlan = "";
    }
  }

  /** Returns the clients, if it is time to check them; undefined otherwise, or if they can't be read. */
  async #observe(time: number): Promise<readonly ObservedClient[] | undefined> {
    const { readClients, log } = this.#options;
    if (!readClients || time < this.#clientsAt) return undefined;
    // This applies even after a failure, because a slow attempt would be slow again.
    this.#clientsAt = time + CLIENTS_MS;
    try {
      const clients = await readClients(time);
      this.#areClientsReadable = true;
      return clients;
    } catch (error) {
      if (this.#areClientsReadable)
        log.error(
          { code: "AG_NOTICES_CLIENTS_UNKNOWN", error: errorText(error) },
          "clients can't be read: there are no notices about them until they can",
        );
      this.#areClientsReadable = false;
      return undefined;
    }
  }

  /** Compares the states, and stores the new notices in one step, so that each event is reported once. */
  async #look(): Promise<void> {
    const { planStatus, file } = this.#options;
    const time = this.#clock();
    const plan = planStatus();
    const clients = await this.#observe(time);
    const planText = JSON.stringify([plan?.stages.map(({ name, state }) => [name, state]), plan?.events]);
    if (!clients && planText === this.#lastPlan && !isMoreDue(this.#stored.current(), time)) return;
    let looked: Looked | undefined;
    await this.#stored.change((before) => {
      looked = takeLook(before, { time, clients, plan, receivers: file().receivers });
      return looked.stored;
    });
    this.#lastPlan = planText;
    if (!looked) return;
    for (const entry of looked.dropped)
      this.#report(entry, "dropped", "too many notices wait for the receiver", true);
    for (const limited of looked.limited) this.#reportLimited(limited);
    if (clients) this.#reportIgnored(looked.ignored);
  }

  #reportLimited({ event, count, isFirst }: Limited): void {
    const { onResult, log } = this.#options;
    onResult(event, "limited", count);
    if (isFirst)
      log.warn(
        { code: "AG_NOTICES_LIMITED", event },
        "there are too many notices of an event in this hour: one notice will say how many more there were",
      );
  }

  #reportIgnored({ clients, losses }: Ignored): void {
    this.#ignored = clients + losses;
    if (this.#ignored > 0)
      this.#options.log.warn(
        { code: "AG_NOTICES_TOO_MANY_CLIENTS", clients, losses },
        "there are too many clients or losses: there are no notices about some of them",
      );
  }

  #report({ to: receiver, notice }: Waiting, result: NoticeResult, reason: string, isFirst: boolean): void {
    const { onResult, log } = this.#options;
    const { type: event } = notice;
    onResult(event, result);
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
}
