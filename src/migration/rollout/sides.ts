/**
 * Which side serves a request that has alpha's credentials: the old service or the translation. The first of these that applies.
 * 4. to 7. say which side is wanted; 2. and 3. only apply if they delay a change to it.
 *
 * 1. The gateway has issued the token: the translation. The old service does not know it.
 * 2. The client's last write is younger than the lag of replicated data: the side of that write.
 * 3. A read has a cursor, and the file or the returns have changed lately: the side that gave the cursor.
 * 4. The state store was not read yet: the old service.
 * 5. The client or the route was turned back: the old service.
 * 6. A rule of the file has the client and the route: the translation, unless only a file that came while the store could not
 *    be read says so.
 * 7. Otherwise, also for unknown clients: the old service.
 */
import {
  type ClientDirectory,
  type ClientIdentity,
  namesSoFar,
  lastingName,
  UNNAMED,
} from "../../audit/index.ts";
import type { DocumentStore, Log } from "../../base/index.ts";
import { decideByRules, type SideDecision } from "./decide.ts";
import type { Side } from "../../gateway/index.ts";
import { createChangeLog } from "./log-changes.ts";
import { watchConfigChanges } from "./config-changes.ts";
import { createReturns, type Returns } from "./returns/returns.ts";
import type { RolloutConfig } from "./rules.ts";
import { createTokenClients, type TokenClients } from "./token-clients.ts";
import type { RolloutEvent, Trip } from "./returns/trips.ts";
import { type BegunWrite, createWriteLag } from "./write-lag.ts";

/** The facts that decide the side of a request. */
interface RolloutRequest {
  /** The side that gave the client the cursor in the query; undefined without one. */
  readonly cursor: Side | undefined;
  /** Whether the gateway has issued its token. The old service does not know it. */
  readonly hasGatewayToken: boolean;
  /** Finds the proven sender, as far as it is known by now. Undefined for a stranger. */
  readonly findWriter: () => string | undefined;
}

/** The sender of a write: a client is also known by its user agent, which anybody can have. */
type Writer = Pick<RolloutRequest, "findWriter"> & Pick<RolloutDecision, "client">;

/** The side that serves a request, and its owner. */
interface RolloutDecision extends SideDecision {
  /** The client's name in records and commands. Undefined if it is unknown. */
  readonly client: string | undefined;
}

/** The side that serves each sender. */
export type Rollout = ReturnType<typeof createRollout>;

interface RolloutOptions {
  readonly config: () => RolloutConfig;
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

/** The key of a sender's writes. A stranger has none. */
function writerKey({ client, findWriter }: Writer): string | undefined {
  const writer = findWriter();
  return writer === undefined ? undefined : JSON.stringify([client, writer]);
}

/** Finds why a client has returned. */
type FindTrip = (client: string | undefined, route: string | null) => Trip | undefined;

/** Decides which side is wanted. The numbers are those of the list above. */
const createDecide =
  (
    config: () => RolloutConfig,
    returns: Returns,
    { tripOf, confirmedConfig }: { readonly tripOf: FindTrip; readonly confirmedConfig: () => RolloutConfig },
  ) =>
  (client: string | undefined, route: string | null): SideDecision => {
    // 4.
    if (!returns.isKnown()) return { side: "old", why: "the state store was not read yet" };
    // 5.
    const trip = tripOf(client, route);
    if (trip)
      return {
        side: "old",
        why: `turned back by ${trip.by}${trip.reason === null ? "" : `: ${trip.reason}`}`,
      };
    // 6. and 7.
    const decision = decideByRules(config(), client, route);
    // Returns on other replicas are not known: nobody moves towards the translation.
    const confirmed = confirmedConfig();
    const moves = decision.side === "new" && confirmed !== config();
    return moves && decideByRules(confirmed, client, route).side === "old"
      ? { side: "old", why: "the state store can't be read" }
      : decision;
  };

/** Every N-th read of the shared state also reads the clients with tokens of the gateway. */
const CLIENTS_EVERY = 5;

/** Creates the reader and writer of the shared state. */
function createSync(config: () => RolloutConfig, returns: Returns, tokenClients: TokenClients) {
  let times = 0;
  let lastConfig = config();
  let isUnconfirmed = false;
  return {
    /** The file in force. While the store can't be read, it is the last one before that. */
    confirmedConfig: (): RolloutConfig => (isUnconfirmed ? lastConfig : config()),
    /** Reads and writes it. Call it more than twice a second. @throws {StateUnavailableError} */
    async sync(): Promise<void> {
      const readsClients = times % CLIENTS_EVERY === 0;
      times += 1;
      isUnconfirmed = true;
      if (readsClients) await tokenClients.exchange();
      await returns.tick();
      isUnconfirmed = false;
      lastConfig = config();
    },
  };
}

/** Creates the function that chooses the side of requests. Nothing is read yet. */
export function createRollout({
  config,
  directory,
  store,
  log,
  clock = Date.now,
  elapsed = () => performance.now(),
  isOldServiceUp = () => true,
}: RolloutOptions) {
  const lag = createWriteLag(elapsed);
  const changes = watchConfigChanges(config, elapsed);
  const logChanges = createChangeLog(log);
  const tokenClients = createTokenClients(store);

  function onTrips(trips: readonly Trip[], events: readonly RolloutEvent[]): void {
    changes.note();
    logChanges(trips, events);
  }

  const returns = createReturns({ config, store, log, onChange: onTrips, clock, elapsed, isOldServiceUp });
  const { sync, confirmedConfig } = createSync(config, returns, tokenClients);
  const tripOf: FindTrip = (client, route) =>
    returns.tripOf(client === undefined ? [] : namesSoFar(directory(), client), route);
  const decide = createDecide(config, returns, { tripOf, confirmedConfig });

  /** 2. @param wanted The side that 3. to 7. say. */
  function sideOfWrite(writer: Writer, route: string | null, wanted: Side): SideDecision | undefined {
    const { data } = config();
    if (data.kind !== "replicated") return undefined;
    const key = writerKey(writer);
    if (key === undefined) return undefined;
    const isReturn = tripOf(writer.client, route) !== undefined;
    const side = lag.staysOn(key, wanted, { lagMs: data.lagMs, isReturn });
    return side && { side, why: "its last write is younger than the lag" };
  }

  /** 3. @param wanted The side that 4. to 7. say. */
  function sideOfCursor(cursor: Side | undefined, wanted: Side): SideDecision | undefined {
    if (cursor === undefined || cursor === wanted || !changes.keepCursors()) return undefined;
    return { side: cursor, why: "its cursor is from there" };
  }

  return {
    config,
    returns,
    tokenClients,
    note: returns.note,
    noteNew: returns.noteNew,
    noteOld: returns.noteOld,
    beginOld: returns.beginOld,
    turnBack: returns.turnBack,
    resume: returns.resume,
    /** The side of a client, whatever requests of it are in progress. */
    decide,
    /** The side of a request. @param route Name of the route. Null: the pack has none */
    sideOf(identity: ClientIdentity, route: string | null, request: RolloutRequest): RolloutDecision {
      const client = lastingName(directory(), identity);
      // 1.
      if (request.hasGatewayToken) {
        tokenClients.note(client ?? UNNAMED);
        return { client, side: "new", why: "the gateway has issued its token" };
      }
      // The first that applies. 3. needs the side that 4. to 7. say, and 2. needs the side that all later ones say.
      const wanted = decide(client, route);
      const ofCursor = sideOfCursor(request.cursor, wanted.side);
      const writer = { client, findWriter: request.findWriter };
      const ofWrite = sideOfWrite(writer, route, (ofCursor ?? wanted).side);
      return { client, ...(ofWrite ?? ofCursor ?? wanted) };
    },
    /** Notes a write before it is sent. @returns undefined if nothing depends on it */
    beginWrite: (writer: Writer, side: Side): BegunWrite | undefined =>
      config().data.kind === "replicated" ? lag.begin(() => writerKey(writer), side) : undefined,
    isFresh: changes.isFresh,
    /** Other rules apply: cursors go where they came from for a while. */
    fileChanged: changes.fileChanged,
    sync,
  };
}
