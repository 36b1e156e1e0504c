/**
 * Decides the side that serves a request with alpha's credentials: the old service or the translation.
 *
 * If the gateway issued the token, it is the translation, because the old service does not accept it. Otherwise `decide`
 * finds the wanted side of the client. The first of these reasons is used:
 *
 * - The state store was not read yet: the old service.
 * - The client or the route was returned: the old service.
 * - A rule of the file matches the client and the route: the translation, unless the rule comes from a file that was
 *   read while the store could not be read.
 * - None, or an unknown client: the old service.
 *
 * Two facts about the request can delay a change to the wanted side, the write before the cursor:
 *
 * - The client's last write is younger than the lag of replicated data (`sideOfWrite`): the side of that write.
 * - A read contains a cursor, and the file or the returns have changed recently (`sideOfCursor`): the side that issued
 *   the cursor.
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
import type { Trip } from "./returns/trips.ts";
import { type BegunWrite, createWriteLag } from "./write-lag.ts";

/** The facts that decide the side of a request. */
export interface RolloutRequest {
  /** The side that issued the cursor in the query; undefined if missing. */
  readonly cursor: Side | undefined;
  /** Whether the gateway issued the request's token. The old service does not accept it. */
  readonly hasGatewayToken: boolean;
  /** Returns the proven sender, with the current knowledge. Undefined for an unknown sender. */
  readonly findWriter: () => string | undefined;
}

/** The sender of a write. A client may also be identified by its user agent, which any client can send. */
type Writer = Pick<RolloutRequest, "findWriter"> & Pick<RolloutDecision, "client">;

/** The side that serves a request, and the request's client. */
export interface RolloutDecision extends SideDecision {
  /** The client's name in records and commands. Undefined if it is unknown. */
  readonly client: string | undefined;
}

/** Chooses the side that serves each sender. */
export type Rollout = ReturnType<typeof createRollout>;

interface RolloutOptions {
  readonly config: () => RolloutConfig;
  readonly directory: () => ClientDirectory;
  readonly store: DocumentStore;
  readonly log: Log;
  /** Returns milliseconds since the epoch. */
  readonly clock?: () => number;
  /** A monotonic clock in milliseconds. */
  readonly elapsed?: () => number;
  /** Returns whether connections to the old service work. */
  readonly isOldServiceUp?: () => boolean;
}

/** Returns the key of a sender's writes. An unknown sender has none. */
function writerKey({ client, findWriter }: Writer): string | undefined {
  const writer = findWriter();
  return writer === undefined ? undefined : JSON.stringify([client, writer]);
}

/** Finds the trip because of which a client has returned. */
type FindTrip = (client: string | undefined, route: string | null) => Trip | undefined;

/** Creates the function that decides which side is wanted, by the first reason of the list above. */
const createDecide =
  (
    config: () => RolloutConfig,
    { isKnown }: Returns,
    { tripOf, confirmed }: { readonly tripOf: FindTrip; readonly confirmed: () => RolloutConfig },
  ) =>
  (client: string | undefined, route: string | null): SideDecision => {
    if (!isKnown()) return { side: "old", why: "the state store was not read yet" };
    const trip = tripOf(client, route);
    const reason = trip?.reason ? `: ${trip.reason}` : "";
    if (trip) return { side: "old", why: `turned back by ${trip.by}${reason}` };
    const decision = decideByRules(config(), client, route);
    // While the store can't be read, returns on other replicas are unknown: no client is moved to the translation.
    const moves = decision.side === "new" && confirmed() !== config();
    return moves && decideByRules(confirmed(), client, route).side === "old"
      ? { side: "old", why: "the state store can't be read" }
      : decision;
  };

/** Each time after this number of reads, the clients with tokens of the gateway are read as well. */
const CLIENTS_EVERY = 5;

/** Creates the reader and writer of the shared state. */
function createSync(config: () => RolloutConfig, returns: Returns, tokenClients: TokenClients) {
  let reads = 0;
  let lastConfig = config();
  let isUnconfirmed = false;
  return {
    /** Returns the file in force. While the store can't be read, it is the last file before the outage. */
    confirmed: (): RolloutConfig => (isUnconfirmed ? lastConfig : config()),
    /** Reads and writes the shared state. Call it more than twice a second. @throws {StateUnavailableError} */
    async sync(): Promise<void> {
      const readsClients = reads % CLIENTS_EVERY === 0;
      reads += 1;
      isUnconfirmed = true;
      if (readsClients) await tokenClients.exchange();
      await returns.tick();
      isUnconfirmed = false;
      lastConfig = config();
    },
  };
}

/** Creates the function that chooses the side of requests. No data is read yet. */
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
  const returns = createReturns({
    config,
    store,
    log,
    onChange(...trips) {
      changes.note();
      logChanges(...trips);
    },
    clock,
    elapsed,
    isOldServiceUp,
  });
  const { sync, confirmed } = createSync(config, returns, tokenClients);
  const tripOf: FindTrip = (client, route) =>
    returns.tripOf(client === undefined ? [] : namesSoFar(directory(), client), route);

  const decide = createDecide(config, returns, { tripOf, confirmed });

  /** Returns the side on which a recent write keeps its client; undefined if none does. @param wanted the side without it */
  function sideOfWrite(writer: Writer, route: string | null, wanted: Side): SideDecision | undefined {
    const { data } = config();
    if (data.kind !== "replicated") return undefined;
    const key = writerKey(writer);
    if (key === undefined) return undefined;
    const isReturn = tripOf(writer.client, route) !== undefined;
    const side = lag.staysOn(key, wanted, { lagMs: data.lagMs, isReturn });
    return side && { side, why: "its last write is younger than the lag" };
  }

  /** Returns the side on which a cursor keeps a read; undefined if it does not. @param wanted the side of the client */
  function sideOfCursor(cursor: Side | undefined, wanted: Side): SideDecision | undefined {
    if (cursor === undefined || cursor === wanted || !changes.keepCursors()) return undefined;
    return { side: cursor, why: "its cursor is from there" };
  }

  return {
    ...returns,
    config,
    returns,
    tokenClients,
    /** Returns the side of a client, regardless of its requests in progress. */
    decide,
    /** Returns the side of a request. @param route Name of the route. Null: no route of the pack matches */
    sideOf(identity: ClientIdentity, route: string | null, request: RolloutRequest): RolloutDecision {
      const client = lastingName(directory(), identity);
      if (request.hasGatewayToken) {
        tokenClients.note(client ?? UNNAMED);
        return { client, side: "new", why: "the gateway has issued its token" };
      }
      const wanted = decide(client, route);
      const ofCursor = sideOfCursor(request.cursor, wanted.side);
      const writer = { client, findWriter: request.findWriter };
      const ofWrite = sideOfWrite(writer, route, (ofCursor ?? wanted).side);
      return { client, ...(ofWrite ?? ofCursor ?? wanted) };
    },
    /** Records a write before it is sent. @returns undefined if no decision depends on it */
    beginWrite: (writer: Writer, side: Side): BegunWrite | undefined =>
      config().data.kind === "replicated" ? lag.begin(() => writerKey(writer), side) : undefined,
    isFresh: changes.isFresh,
    /** Called when different rules apply: for some time, requests with cursors are sent to the side that issued them. */
    fileChanged: changes.fileChanged,
    sync,
  };
}
