/** The notices about the migration: their events, and the content of each. */
import type { MigrationState } from "../../audit/index.ts";
import type { StageState, StageStatus } from "../plan/describe-plan.ts";

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

/** A client, for operators. Texts come from the directory, or from the client. */
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
export interface StageData extends Pick<StageStatus, "kind" | "until" | "routes" | "clients"> {
  readonly stage: string;
  /** `removed`: the plan no longer has it. */
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
  /** Further notices of an event that were not sent, since there were too many in an hour. */
  more: { readonly event: NoticeEvent; readonly count: number; readonly hour: string };
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

/** The events that metrics count. */
export const COUNTED = [...EVENTS, "more"] as const;

/** How an attempt ended, or a notice. `failed`: it is tried again. `dropped`: it is not. `limited`: it never was. */
export const RESULTS = ["sent", "failed", "dropped", "limited"] as const;
export type NoticeResult = (typeof RESULTS)[number];
