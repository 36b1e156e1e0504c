/** Notices that a test moves by hand: its own clock, clients and plan. */
import type { MigrationState } from "../../src/audit/usage/migration-state.ts";
import type { ClientSignals, ObservedClient } from "../../src/migration/notices/find-news.ts";
import { noticesFile } from "../../src/migration/notices/notices-file.ts";
import { Notices, type NoticesOptions } from "../../src/migration/notices/notices.ts";
import { parseOperatorFile } from "../../src/base/files/operator-file.ts";
import type { PlanStatus, StageStatus } from "../../src/migration/plan/plan-status.ts";

const NO_SIGNALS: ClientSignals = { cameBack: null, losses: [] };

interface ObservedOptions extends Partial<ClientSignals> {
  readonly name?: string | null;
  readonly userAgent?: string;
}

/** A client with a state. @param key of its summaries; with `name` it is one of the directory */
export function observe(
  key: string,
  state: MigrationState,
  { name = null, userAgent = "sync/1.0", ...signals }: ObservedOptions = {},
): ObservedClient {
  const isNative = state === "moving" || state === "ready";
  const [first, last] = ["2026-05-01T08:00:00.000Z", "2026-06-01T08:00:00.000Z"];
  const usage = {
    client: key,
    keys: [key],
    name,
    label: null,
    application: null,
    fingerprint: key,
    userAgent,
    requests: 10,
    errors: 0,
    lossy: 0,
    native: isNative ? 5 : 0,
    tokens: 1,
    first,
    last,
    lastAlpha: last,
    lastNative: isNative ? last : null,
    longestPauseMs: null,
  };
  return { usage, state, ...NO_SIGNALS, ...signals };
}

/** A stage of the plan. */
export const stage = (
  name: string,
  state: StageStatus["state"],
  more: Partial<StageStatus> = {},
): StageStatus => ({
  name,
  kind: "brown_out",
  state,
  from: "2026-06-01T10:00:00.000Z",
  until: "2026-06-01T11:00:00.000Z",
  windows: null,
  field: null,
  routes: [],
  clients: [],
  waitFor: [],
  blockedBy: [],
  text: null,
  ...more,
});

/** A plan in force. */
export const plan = (stages: readonly StageStatus[], events: PlanStatus["events"] = []): PlanStatus => ({
  announced: "2026-01-01T00:00:00.000Z",
  end: "2027-03-31T00:00:00.000Z",
  policy: null,
  guide: null,
  inForce: true,
  stages,
  allowed: {},
  clientEnds: {},
  pauses: [],
  events,
});

/** What happens around notices; the test changes it. */
export interface World {
  time: number;
  clients: readonly ObservedClient[];
  plan: PlanStatus | undefined;
  file: string;
  /** Why clients can't be read. */
  fault: Error | undefined;
  /** How often clients were read. */
  reads: number;
}

/** A Monday. */
export const START = Date.parse("2026-06-01T09:00:00Z");

export const createWorld = (file: string, world: Partial<World> = {}): World => ({
  time: START,
  clients: [],
  plan: undefined,
  fault: undefined,
  reads: 0,
  ...world,
  file,
});

export interface TestNotices extends Pick<Notices, "tick" | "stats" | "close"> {
  /** Results by event, such as `client.new sent`. */
  readonly results: string[];
  /** Lines of the log, as JSON. */
  readonly log: string[];
  /** Moves the clock, then looks and sends. */
  tickAfter(ms: number): Promise<void>;
}

/** More than the time between two looks at the clients. */
export const LATER = 301_000;

/** Starts notices of a world. Several in one world are replicas, if they share the store. */
export function startNotices(world: World, store: NoticesOptions["store"]): TestNotices {
  const results: string[] = [];
  const log: string[] = [];
  const write = (context: object, message: string): void => void log.push(JSON.stringify([context, message]));
  const kind = noticesFile({ hasAudit: true, readsSecrets: true });
  const notices = new Notices({
    file: () => parseOperatorFile({ file: "notices.yaml", text: world.file }, kind),
    store,
    async readClients() {
      world.reads += 1;
      if (world.fault) throw world.fault;
      return world.clients;
    },
    planStatus: () => world.plan,
    onResult(event, result, count = 1) {
      for (let n = 0; n < count; n += 1) results.push(`${event} ${result}`);
    },
    log: { debug: write, info: write, warn: write, error: write, fatal: write, isLevelEnabled: () => true },
    clock: () => world.time,
  });
  return {
    tick: () => notices.tick(),
    stats: () => notices.stats(),
    close: () => notices.close(),
    results,
    log,
    async tickAfter(ms) {
      world.time += ms;
      await notices.tick();
    },
  };
}
