/** Returns to the old service: manual and automatic ones. */
import type { Compared } from "../../../compare/index.ts";
import { type DocumentStore, errorText, type Log } from "../../../base/index.ts";
import { isTurned } from "../decide.ts";
import { watchOldService } from "./old-service.ts";
import { createReturned, type Returned } from "./returned.ts";
import type { RolloutConfig } from "../rules.ts";
import { createRoutesToReturn, type RoutesToReturn } from "./routes-to-return.ts";
import { createScores, type Cause, type Scores, type Seen } from "./scores.ts";
import type { RolloutEvent, Trip, TripTarget } from "./trips.ts";

/** A return of a route, a client or everything, or its end: the person, and the reason. */
export interface RolloutAction extends TripTarget {
  readonly by: string;
  readonly reason: string | null;
}

/** The returns, and the routes that are close to a return. */
export type Returns = ReturnType<typeof createReturns>;

interface ReturnsOptions {
  readonly config: () => RolloutConfig;
  readonly store: DocumentStore;
  readonly log: Log;
  /** Called when different trips apply. @param events The last events, newest first */
  readonly onChange?: (trips: readonly Trip[], events: readonly RolloutEvent[]) => void;
  /** Returns milliseconds since the epoch. */
  readonly clock?: () => number;
  /** A monotonic clock in milliseconds. */
  readonly elapsed?: () => number;
  /** Returns whether connections to the old service work. */
  readonly isOldServiceUp: () => boolean;
}

/** Creates the function that writes this process's changes and returns to the shared state. */
function createSharing(returned: Returned, scores: Scores, routes: RoutesToReturn, log: Log) {
  async function share(): Promise<void> {
    const taken = scores.take();
    if (taken.size === 0 && !returned.hasWaiting()) return;
    try {
      await returned.share(
        (state) => routes.withTaken(state, taken),
        () => scores.shared(taken),
      );
    } catch (error) {
      scores.giveBack(taken);
      throw error;
    }
  }

  let isSharing = false;

  /** Shares rare events immediately: a difference, and a return. */
  async function shareSoon(): Promise<void> {
    if (isSharing) return;
    isSharing = true;
    try {
      await share();
    } catch (error) {
      log.warn(
        { code: "AG_ROLLOUT_STATE_UNKNOWN", error: errorText(error) },
        "evidence against the translation can't be shared: this process decides alone",
      );
    }
    isSharing = false;
  }

  return { share, shareSoon };
}

/** Creates the returns. No data is read yet. */
export function createReturns({
  config,
  store,
  log,
  onChange = () => {},
  clock = Date.now,
  elapsed,
  isOldServiceUp,
}: ReturnsOptions) {
  const health = watchOldService(elapsed);
  const returned = createReturned(store, config, onChange);
  const scores = createScores(
    () => returned.state().scores,
    () => config().turnBack,
    () => Math.floor(clock() / 1000),
  );
  const isWell = (route: string): boolean => isOldServiceUp() && health.isWell(route);
  const routes = createRoutesToReturn(config, { returned, scores }, isWell, log, clock);
  const now = (): string => new Date(clock()).toISOString();

  const { share, shareSoon } = createSharing(returned, scores, routes, log);

  function see(
    route: string,
    cause: Cause,
    seen: Pick<Seen, "isBad" | "requestId">,
    client: string | undefined,
  ): void {
    if (client === undefined || returned.hasReturned(route) || !isTurned(config(), route)) return;
    const { isBad } = seen;
    const tolerated = cause === "failures" ? health.failureRate(route, client) : undefined;
    scores.note(route, cause, { ...seen, client, tolerated });
    if (!isBad) return;
    routes.consider(route);
    if (cause === "differences" || returned.isWaiting(route)) void shareSoon();
  }

  return {
    isKnown: returned.isKnown,
    state: returned.state,
    trips: returned.trips,
    tripOf: returned.tripOf,
    blocked: routes.blocked,
    /** Records a comparison. @param client The proven sender. Undefined for an unknown sender, whose comparisons are ignored */
    note({ source, result, route, requestId }: Compared, client: string | undefined): void {
      if (source !== "legacy") return;
      if (result === "different") see(route, "differences", { isBad: true, requestId }, client);
      if (result === "equal" || result === "accepted")
        see(route, "differences", { isBad: false, requestId }, client);
    },
    /** Records the result of the translation for a request. */
    noteNew: (route: string, isBad: boolean, requestId: string, client: string | undefined): void =>
      see(route, "failures", { isBad, requestId }, client),
    noteOld: health.note,
    beginOld: health.begin,
    turnBack: ({ kind, name, by, reason }: RolloutAction): Promise<void> =>
      returned.turnBack({ kind, name, by, at: now(), reason, records: [] }),
    resume: ({ kind, name, by, reason }: RolloutAction): Promise<void> =>
      returned.resume({ kind, name, by, at: now(), reason }),
    /** Reads and writes the shared state. Call it more than twice a second. @throws {StateUnavailableError} */
    async tick(): Promise<void> {
      await returned.refresh();
      for (const route of new Set([...scores.routes(), ...routes.blocked()])) routes.consider(route);
      await share();
    },
  };
}
