/** Which side serves a request: by the file, by what has returned, and by what the client has under way. */
import { errorText } from "../config/error-text.ts";
import type { ClientDirectory, ClientIdentity } from "../clients/client-directory.ts";
import type { Log } from "../observability/log.ts";
import { namesOf, rolloutClient, UNNAMED } from "./clients.ts";
import { decideByRules, type Side, type SideDecision } from "./decide.ts";
import { createChangeLog } from "./log-changes.ts";
import { createNoWayBack, type NoWayBack } from "./no-way-back.ts";
import { watchPlanChanges } from "./plan-changes.ts";
import { createReturns, type Returns } from "./returns.ts";
import type { RolloutPlan } from "./rollout-plan.ts";
import { createStateSync } from "./state-sync.ts";
import type { DocumentStore } from "../storage/shared-document.ts";
import type { RolloutEvent, Trip } from "./trips.ts";
import { createWriteLag, type WriteLag } from "./write-lag.ts";

/** What decides about a request. */
export interface RolloutRequest {
  /** The side that gave the client the cursor in the query; undefined without one. */
  readonly cursor: Side | undefined;
  /** Whether the gateway has issued its token. The old service does not know it. */
  readonly hasGatewayToken: boolean;
}

/** Who serves a request, and whose it is. */
export interface RolloutDecision extends SideDecision {
  /** As records and commands name it; undefined: nobody knows who it is. */
  readonly client: string | undefined;
}

/** A write that is about to be sent. */
export interface BegunWrite {
  /** Resolves once the write may be sent; undefined: at once. */
  readonly ready: Promise<void> | undefined;
  /** Call it when the response has ended. */
  end(): void;
  /** Call it once it is known whether the service has written, or may have. */
  settle(hasWritten: boolean): void;
}

/** A rollout in force. */
export interface Rollout extends Pick<Returns, "note" | "noteNew" | "noteOld" | "turnBack" | "resume"> {
  /** Which side serves a request. @param route Name of the route; null: the pack has none */
  sideOf(identity: ClientIdentity, route: string | null, request: RolloutRequest): RolloutDecision;
  /** Which side serves a client, without what it has under way. */
  decide(client: string | undefined, route: string | null): SideDecision;
  /** Whether the file turned a client to the translation within the last hour. */
  isFresh(client: string | undefined, route: string | null): boolean;
  /**
   * Notes a write before it is sent.
   *
   * @param isKnown whether the sender is no stranger, by now
   * @returns undefined if nothing depends on it
   */
  beginWrite(client: string | undefined, side: Side, isKnown: () => boolean): BegunWrite | undefined;
  readonly plan: () => RolloutPlan;
  readonly returns: Returns;
  readonly noWayBack: NoWayBack;
  /** Clients that stay as if they had written: they may have, before the directory had them as it has them now. */
  possibleWriters(): readonly string[];
  /** Other rules apply: cursors go where they came from for a while. */
  fileChanged(): void;
  /** Reads and writes what replicas share. Call it more than twice a second. Never rejects. */
  tick(): Promise<void>;
}

export interface RolloutOptions {
  readonly plan: () => RolloutPlan;
  readonly directory: () => ClientDirectory;
  readonly store: DocumentStore;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Milliseconds, monotonic. */
  readonly elapsed?: () => number;
  /** Whether connections to the old service work. */
  readonly isOldServiceUp?: () => boolean;
}

/** Clients that a line of the log names. */
const MAX_NAMED = 20;

/** Logs which clients stay where something returns. */
function warnOfWriters(
  trips: readonly Trip[],
  {
    plan,
    noWayBack,
    possibleWriters,
    log,
  }: Pick<Rollout, "plan" | "noWayBack" | "possibleWriters"> & Pick<RolloutOptions, "log">,
): void {
  const writers = Object.entries(noWayBack.writers());
  if (plan().data.kind !== "separate" || writers.length === 0) return;
  if (!trips.some(({ kind, acceptsLostWrites }) => kind !== "client" && !acceptsLostWrites)) return;
  const names = [...writers.map(([name]) => name), ...possibleWriters()];
  log.error(
    {
      code: "AG_ROLLOUT_NO_WAY_BACK",
      clients: names.length,
      names: names.slice(0, MAX_NAMED),
      writes: writers.reduce((sum, [, { count }]) => sum + count, 0),
    },
    "clients that have written to the new service stay there: they would lose these writes",
  );
}

/** Why a client stays at a new service with data of its own. */
function whyItStays(
  client: string | undefined,
  wanted: SideDecision,
  noWayBack: NoWayBack,
): string | undefined {
  if (noWayBack.writesOf(client ?? UNNAMED)) return "it has written to the new service";
  const isNew = client === undefined ? undefined : noWayBack.mayHaveWritten(client);
  // With a new name it was served like all without one. With a new token it still is the client that it was.
  return isNew === "name" || (isNew === "keys" && wanted.side === "new")
    ? "it may have written to the new service before CLIENTS_FILE had it like this"
    : undefined;
}

/** Decides by what is remembered of the client, else by the rules. */
const createDecide =
  (
    {
      plan,
      directory,
      returns,
      noWayBack,
    }: Pick<Rollout, "plan" | "returns" | "noWayBack"> & Pick<RolloutOptions, "directory">,
    confirmedPlan: () => RolloutPlan,
  ): Rollout["decide"] =>
  (client, route) => {
    if (!returns.isKnown()) return { side: "old", why: "the state store was not read yet" };
    const trip = returns.tripOf(client === undefined ? [] : namesOf(directory(), client), route);
    const decision = decideByRules(plan(), client, route);
    if (plan().data.kind === "separate" && !trip?.acceptsLostWrites) {
      const why = whyItStays(client, decision, noWayBack);
      if (why !== undefined) return { side: "new", why };
    }
    if (trip)
      return {
        side: "old",
        why: `turned back by ${trip.by}${trip.reason === null ? "" : `: ${trip.reason}`}`,
      };
    // What has returned elsewhere is not known: nobody moves towards the translation.
    const confirmed = confirmedPlan();
    const moves = decision.side === "new" && confirmed !== plan();
    return moves && decideByRules(confirmed, client, route).side === "old"
      ? { side: "old", why: "the state store can't be read" }
      : decision;
  };

/** Notes writes, where something depends on them. */
const createBeginWrite =
  (
    { plan, directory, noWayBack }: Pick<Rollout, "plan" | "noWayBack"> & Pick<RolloutOptions, "directory">,
    lag: WriteLag,
  ): Rollout["beginWrite"] =>
  (client = UNNAMED, side, isKnown) => {
    const { kind } = plan().data;
    if (kind === "replicated") return { ready: undefined, end: lag.begin(client, side), settle: () => {} };
    if (kind !== "separate" || side !== "new") return undefined;
    // Anybody can have the user agent of a client: a stranger has written once the service has accepted its token.
    const isNoted = isKnown();
    const known = directory();
    return {
      ready: isNoted ? noWayBack.noteWrite(client, known) : undefined,
      end: () => {},
      settle(hasWritten) {
        if (isNoted && !hasWritten) noWayBack.takeBackWrite(client);
        if (!isNoted && hasWritten && isKnown()) void noWayBack.noteWrite(client, known);
      },
    };
  };

/** Creates the rollout of a gateway. Nothing is read yet. */
export function createRollout({
  plan,
  directory,
  store,
  log,
  clock = Date.now,
  elapsed = () => performance.now(),
  isOldServiceUp = () => true,
}: RolloutOptions): Rollout {
  const lag = createWriteLag(elapsed);
  const changes = watchPlanChanges(plan, elapsed);
  const logChanges = createChangeLog(log);
  const noWayBack = createNoWayBack({
    store,
    directory,
    onError: (error) =>
      log.warn(
        { code: "AG_ROLLOUT_STATE_UNKNOWN", error: errorText(error) },
        "the first write of a client could not be stored: only this process knows of it",
      ),
    clock,
  });

  function onTrips(trips: readonly Trip[], events: readonly RolloutEvent[]): void {
    changes.note();
    logChanges(trips, events);
    warnOfWriters(trips, { plan, noWayBack, possibleWriters, log });
  }

  const returns = createReturns({ plan, store, log, onChange: onTrips, clock, elapsed, isOldServiceUp });
  const { tick, confirmedPlan } = createStateSync({ plan, returns, noWayBack, log });
  const decide = createDecide({ plan, directory, returns, noWayBack }, confirmedPlan);

  function possibleWriters(): readonly string[] {
    if (plan().data.kind !== "separate") return [];
    const names = directory().clients.map(({ name }) => name);
    return names.filter(
      (name) =>
        !noWayBack.writesOf(name) && noWayBack.mayHaveWritten(name) && decide(name, null).side === "new",
    );
  }

  function keepCursor(decision: SideDecision, cursor: Side | undefined): SideDecision {
    if (cursor === undefined || cursor === decision.side || !changes.keepCursors()) return decision;
    return { side: cursor, why: "its cursor is from there" };
  }

  function keepWrites(decision: SideDecision, client: string | undefined): SideDecision {
    const { data } = plan();
    if (data.kind !== "replicated") return decision;
    const side = lag.staysOn(client ?? UNNAMED, decision.side, data.lagMs);
    return side === undefined ? decision : { side, why: "its last write is younger than the lag" };
  }

  return {
    plan,
    returns,
    noWayBack,
    possibleWriters,
    note: returns.note,
    noteNew: returns.noteNew,
    noteOld: returns.noteOld,
    decide,
    turnBack: returns.turnBack,
    resume: returns.resume,
    sideOf(identity, route, { cursor, hasGatewayToken }) {
      const client = rolloutClient(directory(), identity);
      if (hasGatewayToken) {
        noWayBack.noteToken(client ?? UNNAMED);
        return { client, side: "new", why: "the gateway has issued its token" };
      }
      return { client, ...keepWrites(keepCursor(decide(client, route), cursor), client) };
    },
    beginWrite: createBeginWrite({ plan, directory, noWayBack }, lag),
    isFresh: changes.isFresh,
    fileChanged: changes.fileChanged,
    tick,
  };
}
