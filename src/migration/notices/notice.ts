/** The notices about the migration: their events, and their contents. */
import type { MigrationState } from "../../audit/index.ts";
import type { StageState, StageStatus } from "../plan/plan-status.ts";

/** Events that a receiver can subscribe to. */
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

/** Events that are only known from the audit store. */
export const CLIENT_EVENTS: readonly NoticeEvent[] = [
  "client.new",
  "client.came_back",
  "client.ready",
  "loss",
];

/** A client, in the form for operators. Its texts come from the directory, or from the client. */
export interface ClientData {
  /** The client's name in the directory, otherwise the key of its summaries. */
  readonly client: string;
  readonly isNamed: boolean;
  readonly userAgent: string | null;
  readonly state: MigrationState;
  /** ISO 8601, UTC. */
  readonly lastAlpha: string | null;
  readonly lastNative: string | null;
}

/** A stage of the plan. */
export interface StageData extends Pick<StageStatus, "kind" | "until" | "routes" | "clients"> {
  readonly stage: string;
  /** The state of the stage. `removed`: the plan no longer contains the stage. */
  readonly state: StageState | "removed";
}

/** The content of each kind of notice. */
interface NoticeData {
  "client.new": ClientData;
  "client.came_back": ClientData & { readonly cameBack: string };
  "client.ready": ClientData;
  "stage.begins": StageData;
  "stage.ends": StageData;
  storm: { readonly stage: string | null; readonly reason: string | null };
  loss: { readonly client: string; readonly route: string; readonly loss: string; readonly since: string };
  /** The number of further notices of an event that were not sent, because there were too many within an hour. */
  more: { readonly event: NoticeEvent; readonly count: number; readonly hour: string };
  test: { readonly receiver: string };
}

export type NoticeType = keyof NoticeData;

/** A notice in the form for webhooks. */
export type Notice<Type extends NoticeType = NoticeType> = {
  readonly [Each in Type]: {
    readonly type: Each;
    /** The time of the event: ISO 8601, UTC. */
    readonly timestamp: string;
    readonly data: NoticeData[Each];
  };
}[Type];

/** The events that metrics count. */
export const COUNTED = [...EVENTS, "more"] as const;

/**
 * The results of attempts and notices. `failed`: it will be tried again. `dropped`: it will not. `limited`: it was
 * never tried.
 */
export const RESULTS = ["sent", "failed", "dropped", "limited"] as const;
export type NoticeResult = (typeof RESULTS)[number];
