/** One look: what was found becomes what is remembered, and what waits to be sent. Pure. */
import { makeDigest } from "./digest.ts";
import { findNews, type Facts, type ObservedClient } from "./find-news.ts";
import { DIGESTS, type DigestName, type Notice } from "./notice.ts";
import type { NoticesPlan } from "./notices-file.ts";
import {
  addChanges,
  addWaiting,
  CONTACTS,
  createWaiting,
  limitNotices,
  type DigestState,
  type StoredNotices,
  type Waiting,
} from "./outbox.ts";
import type { PlanStatus } from "../sunset/describe-plan.ts";

/** What a look sees, and who is told. */
export interface Look extends Facts {
  readonly plan: PlanStatus | undefined;
  readonly file: NoticesPlan;
  /** Whether a client of the directory has a contact with a mail address. */
  readonly hasAddress: (client: string) => boolean;
}

/** What is stored after a look. */
export interface Looked {
  readonly state: StoredNotices;
  /** What no longer waits, because there is too much. */
  readonly dropped: readonly Waiting[];
  /** Clients that are not remembered, because there are too many. */
  readonly ignored: number;
}

/** Reports that are due. */
export const dueDigests = (
  { digests }: Pick<StoredNotices, "digests">,
  { nextDigest }: Pick<NoticesPlan, "nextDigest">,
  time: number,
): readonly DigestName[] =>
  DIGESTS.filter((name) => {
    const since = digests[name]?.since;
    return since !== undefined && nextDigest(name, since) <= time;
  });

/** A report for each contact that wants one and whose client has something to do. */
const reportsFor = (
  clients: readonly ObservedClient[],
  { file, hasAddress, time }: Pick<Look, "file" | "hasAddress" | "time">,
): Waiting[] =>
  clients.flatMap(({ usage: { name }, state }) =>
    file.contacts && name !== null && state !== "ready" && hasAddress(name)
      ? [createWaiting({ to: CONTACTS, at: time, client: name })]
      : [],
  );

/** Compares a look with what is stored. */
export function takeLook(before: StoredNotices, look: Look): Looked {
  const { time, clients, plan, file } = look;
  const timestamp = new Date(time).toISOString();
  const news = findNews(before.memory, look);
  const changes: Partial<Record<DigestName, DigestState>> = addChanges(before, news.changes);
  const notices: Notice[] = [...news.notices];
  const reports: Waiting[] = [];
  const fresh: DigestState = { since: time, changes: [], more: 0 };
  // Without the clients, a report waits for them.
  for (const name of clients ? dueDigests(before, file, time) : []) {
    const data = makeDigest(name, changes[name] ?? fresh, clients ?? [], plan);
    notices.push({ type: "digest", timestamp, data });
    delete changes[name];
    if (name === "weekly") reports.push(...reportsFor(clients ?? [], look));
  }
  const digests = Object.fromEntries(DIGESTS.map((name) => [name, changes[name] ?? fresh]));
  const { hours, added } = limitNotices(before, notices, file.receivers, time);
  const { state, dropped } = addWaiting({ ...before, memory: news.memory, hours, digests }, [
    ...added,
    ...reports,
  ]);
  return { state, dropped, ignored: news.ignored };
}
