/** What people are told about the migration: the events, and what a notice of each says. */
import type { MigrationState } from "../audit/migration-state.ts";
import type { StageState } from "../sunset/describe-plan.ts";

/** Events that a receiver can ask for. */
export const EVENTS = [
  "client.new",
  "client.came_back",
  "client.ready",
  "stage.begins",
  "stage.ends",
  "storm",
  "loss",
] as const;
export type NoticeEvent = (typeof EVENTS)[number];

/** Events that are known from the audit store alone. */
export const CLIENT_EVENTS: readonly NoticeEvent[] = [
  "client.new",
  "client.came_back",
  "client.ready",
  "loss",
];

/** Reports at fixed times. */
export const DIGESTS = ["daily", "weekly"] as const;
export type DigestName = (typeof DIGESTS)[number];

/** A client, for operators. Texts are those of the directory, or what the client sent. */
export interface ClientData {
  /** Its name in the client directory, or else the key of its summaries. */
  readonly client: string;
  readonly isNamed: boolean;
  readonly userAgent: string | null;
  readonly state: MigrationState;
  /** ISO 8601, UTC. */
  readonly lastAlpha: string | null;
  readonly lastNative: string | null;
}

/** A stage of the plan. */
export interface StageData {
  readonly stage: string;
  readonly kind: string;
  /** `removed`: the plan no longer has it. */
  readonly state: StageState | "removed";
  readonly until: string | null;
  readonly routes: readonly string[];
  readonly clients: readonly string[];
}

/** A client that changed its state. */
export interface StateChange {
  readonly client: string;
  readonly from: MigrationState | "new";
  readonly to: MigrationState;
  readonly at: string;
}

/** A report for operators. */
export interface DigestData {
  readonly digest: DigestName;
  readonly since: string;
  /** Clients that have used the old API, by their states. */
  readonly states: Readonly<Record<MigrationState, number>>;
  /** Those that are not ready, the ones with the most requests first. */
  readonly clients: readonly (Pick<ClientData, "client" | "state" | "lastAlpha"> & {
    readonly requests: number;
  })[];
  readonly moreClients: number;
  readonly changes: readonly StateChange[];
  readonly moreChanges: number;
  /** Stages that apply, or come next. */
  readonly next: readonly {
    readonly stage: string;
    readonly state: StageState;
    readonly from: string | null;
    readonly until: string | null;
  }[];
  /** The end of the plan; null without one. */
  readonly end: string | null;
}

/** What each kind of notice says. */
export interface NoticeData {
  "client.new": ClientData;
  "client.came_back": ClientData & { readonly cameBack: string };
  "client.ready": ClientData;
  "stage.begins": StageData;
  "stage.ends": StageData;
  storm: { readonly stage: string | null; readonly reason: string | null };
  loss: { readonly client: string; readonly route: string; readonly loss: string; readonly since: string };
  /** Further notices of an event that were not sent, since there were too many in an hour. */
  more: { readonly event: NoticeEvent; readonly count: number; readonly hour: string };
  digest: DigestData;
  test: { readonly receiver: string };
}

export type NoticeType = keyof NoticeData;

/** A notice, as a webhook gets it. */
export type Notice<Type extends NoticeType = NoticeType> = {
  readonly [Each in Type]: {
    readonly type: Each;
    /** When it happened: ISO 8601, UTC. */
    readonly timestamp: string;
    readonly data: NoticeData[Each];
  };
}[Type];

/** What metrics count. `contact`: a report to the contact of a client. */
export const COUNTED = [...EVENTS, "more", "digest", "contact"] as const;
export type CountedNotice = (typeof COUNTED)[number] | "test";

/** How an attempt ended, or a notice. `failed`: it is tried again. `dropped`: it is not. */
export const RESULTS = ["sent", "failed", "dropped"] as const;
export type NoticeResult = (typeof RESULTS)[number];
