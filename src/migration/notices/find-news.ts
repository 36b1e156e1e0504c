/** Finds the events since the last check, by comparing the stored state with the current one. */
import type { LossUsage, MigrationState, NamedClient } from "../../audit/index.ts";
import type { PlanStatus, StageStatus } from "../plan/plan-status.ts";
import { PLAN, shareOf, NoticeShares, type Share, type NoticeLimits } from "./shares.ts";
import type { ClientData, Notice, NoticeEvent, StageData } from "./notice.ts";

/** The events of a client, except for changes of its state. */
export interface ClientSignals {
  /** The day on which the client called the old API again after it was ready, `YYYY-MM-DD`. Null if it did not. */
  readonly cameBack: string | null;
  /** Losses in responses to the client that change a meaning, with the names of the pack. */
  readonly losses: readonly Pick<LossUsage, "route" | "loss" | "firstDay">[];
}

/** A client that has used the old API. */
export interface ObservedClient extends ClientSignals {
  readonly usage: NamedClient;
  readonly state: MigrationState;
}

/** The state at a check. A part that could not be read is undefined, and no conclusion is drawn from it. */
export interface Facts {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly clients: readonly ObservedClient[] | undefined;
  readonly plan: Pick<PlanStatus, "stages" | "events"> | undefined;
}

/** Short names of states, because a store may contain many clients. */
type StateLetter = "b" | "m" | "r" | "s";

/** The state at the last check. A client that appears for the first time is stored, but not reported. */
export interface Memory {
  /** The state of each client, by the keys of its summaries. */
  readonly clients?: Readonly<Record<string, StateLetter>>;
  /** The days on which clients came back, by their keys. */
  readonly cameBack?: Readonly<Record<string, string>>;
  /** Losses that were reported, by the keys of clients. */
  readonly losses?: Readonly<Record<string, readonly string[]>>;
  /** Stages that applied. */
  readonly stages?: readonly StageData[];
  /** Time of the last storm of retries: ISO 8601. */
  readonly lastStorm?: string;
}

/** A notice, and the owner of the share that it uses. */
export interface NewsItem {
  readonly notice: Notice<NoticeEvent>;
  readonly share: Share;
}

/** Numbers of entries that were not stored because there are too many, and so are never reported. */
export interface Ignored {
  readonly clients: number;
  readonly losses: number;
}

/** The result of a check. */
export interface News {
  readonly memory: Memory;
  readonly items: readonly NewsItem[];
  readonly ignored: Ignored;
}

/** Maximum number of stored keys of clients: about 1.5 MB. */
export const MAX_KEYS: NoticeLimits = { group: 25_000, client: 10_000 };

/** Maximum number of stored losses, which is also the maximum that are reported: about 2 MB. */
export const MAX_LOSSES: NoticeLimits = { group: 10_000, client: 2000 };

const LETTERS: Readonly<Record<MigrationState, StateLetter>> = {
  "not begun": "b",
  moving: "m",
  ready: "r",
  silent: "s",
};
const STATES: Readonly<Record<StateLetter, MigrationState>> = {
  b: "not begun",
  m: "moving",
  r: "ready",
  s: "silent",
};

/** Returns the name of a client: its own, otherwise the key of its summaries. */
const nameOf = ({ name, client }: NamedClient): string => name ?? client ?? "";

const describeClient = ({ usage, state }: ObservedClient): ClientData => ({
  client: nameOf(usage),
  isNamed: usage.name !== null,
  userAgent: usage.userAgent,
  state,
  lastAlpha: usage.lastAlpha,
  lastNative: usage.lastNative,
});

const keysOf = ({ usage }: ObservedClient): readonly string[] => usage.keys.filter((key) => key !== null);

/** Returns the last known state of a client. A name may have been given to several clients since then. */
function previousState(
  client: ObservedClient,
  known: Readonly<Record<string, StateLetter>>,
): MigrationState | undefined {
  const letters = keysOf(client).flatMap((key) => known[key] ?? []);
  const letter = letters.find((each) => STATES[each] === client.state) ?? letters[0];
  return letter && STATES[letter];
}

/** Counts the shares of stored clients. A new client takes no room from them. */
function countRemembered(
  { clients: known = {}, losses = {} }: Memory,
  clients: readonly ObservedClient[],
): { readonly keyShares: NoticeShares; readonly lossShares: NoticeShares } {
  const keyShares = new NoticeShares(MAX_KEYS);
  const lossShares = new NoticeShares(MAX_LOSSES);
  for (const client of clients) {
    const share = shareOf(client.usage);
    for (const key of keysOf(client)) {
      if (Object.hasOwn(known, key)) keyShares.add(share, 1);
      lossShares.add(share, losses[key]?.length ?? 0);
    }
  }
  return { keyShares, lossShares };
}

/** Returns the notices about a client that was stored by an earlier check, or is new since then. */
function noticesOf(
  client: ObservedClient,
  { clients: known = {}, cameBack = {} }: Memory,
  losses: ClientSignals["losses"],
  timestamp: string,
): Notice<NoticeEvent>[] {
  const data = describeClient(client);
  const notices: Notice<NoticeEvent>[] = [];
  const before = previousState(client, known);
  if (before === undefined) notices.push({ type: "client.new", timestamp, data });
  else if (before !== "ready" && client.state === "ready")
    notices.push({ type: "client.ready", timestamp, data });
  const last = keysOf(client)
    .map((key) => cameBack[key] ?? "")
    .reduce((one, other) => (one > other ? one : other), "");
  if (client.cameBack !== null && client.cameBack > last)
    notices.push({ type: "client.came_back", timestamp, data: { ...data, cameBack: client.cameBack } });
  for (const { route, loss, firstDay: since } of losses)
    notices.push({ type: "loss", timestamp, data: { client: data.client, route, loss, since } });
  return notices;
}

/** Returns the events of clients. There are none if no clients were stored. */
function lookAtClients(memory: Memory, clients: readonly ObservedClient[], timestamp: string): News {
  const { clients: known, losses: reported = {} } = memory;
  const { keyShares, lossShares } = countRemembered(memory, clients);
  const items: NewsItem[] = [];
  const ignored = { clients: 0, losses: 0 };
  const next = {
    clients: {} as Record<string, StateLetter>,
    cameBack: {} as Record<string, string>,
    losses: {} as Record<string, readonly string[]>,
  };
  for (const client of clients) {
    const share = shareOf(client.usage);
    const keys = keysOf(client).filter((each) => Object.hasOwn(known ?? {}, each) || keyShares.take(share));
    const [key] = keys;
    if (key === undefined) {
      ignored.clients += 1;
      continue;
    }
    for (const each of keys) next.clients[each] = LETTERS[client.state];
    if (client.cameBack !== null) next.cameBack[key] = client.cameBack;
    const ids = new Set(keysOf(client).flatMap((each) => reported[each] ?? []));
    const losses = client.losses.filter(({ route, loss }) => {
      const id = `${route}\n${loss}`;
      if (ids.has(id)) return false;
      const isRemembered = lossShares.take(share);
      if (isRemembered) ids.add(id);
      else ignored.losses += 1;
      return isRemembered;
    });
    if (ids.size > 0) next.losses[key] = [...ids];
    if (known)
      for (const notice of noticesOf(client, memory, losses, timestamp)) items.push({ notice, share });
  }
  return { memory: { ...memory, ...next }, items, ignored };
}

const describeStage = ({ name, kind, state, until, routes, clients }: StageStatus): StageData => ({
  stage: name,
  kind,
  state,
  until,
  routes,
  clients,
});

/** Returns the events of the plan. A storm is a pause that the gateway itself caused. */
function lookAtPlan(
  memory: Memory,
  { stages, events }: NonNullable<Facts["plan"]>,
  timestamp: string,
): Pick<News, "memory" | "items"> {
  const { stages: known, lastStorm } = memory;
  const active = stages.filter(({ state }) => state === "active").map(describeStage);
  const storms = events.filter(({ action, by }) => action === "pause" && by === "gateway");
  const notices: Notice<NoticeEvent>[] = [];
  if (known) {
    for (const data of active)
      if (!known.some(({ stage }) => stage === data.stage))
        notices.push({ type: "stage.begins", timestamp, data });
    for (const before of known) {
      if (active.some(({ stage }) => stage === before.stage)) continue;
      const now = stages.find(({ name }) => name === before.stage);
      const data = now
        ? { ...describeStage(now), until: before.until }
        : { ...before, state: "removed" as const };
      notices.push({ type: "stage.ends", timestamp, data });
    }
    for (const { stage, reason, at } of storms.toReversed())
      if (at > (lastStorm ?? "")) notices.push({ type: "storm", timestamp: at, data: { stage, reason } });
  }
  const [last] = storms;
  return {
    memory: { ...memory, stages: active, ...(last && { lastStorm: last.at }) },
    items: notices.map((notice) => ({ notice, share: PLAN })),
  };
}

/** Compares the current state with the state at the last check. */
export function findNews(memory: Memory, { time, clients, plan }: Facts): News {
  const timestamp = new Date(time).toISOString();
  const ofClients: News = clients
    ? lookAtClients(memory, clients, timestamp)
    : { memory, items: [], ignored: { clients: 0, losses: 0 } };
  if (!plan) return ofClients;
  const ofPlan = lookAtPlan(ofClients.memory, plan, timestamp);
  return { ...ofClients, memory: ofPlan.memory, items: [...ofClients.items, ...ofPlan.items] };
}
