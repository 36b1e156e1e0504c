/** Opens the rollout of a gateway, and keeps it up to date. */
import type { ClientDirectory, ClientsService } from "../../audit/index.ts";
import {
  type KeyValueStore,
  type Log,
  type Metrics,
  OperatorFileError,
  type Settings,
  watchOperatorFile,
} from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import { findForgotten } from "./forgotten-clients.ts";
import { describeRollout, type RolloutStatus } from "./describe-rollout.ts";
import { createRollout, type Rollout } from "./rollout.ts";
import { rolloutFile } from "./rollout-file.ts";
import { findTarget, turnBack, type TurnedBack } from "./returns/turn-back.ts";
import type { LegacyService } from "../../gateway/index.ts";

/** What a person asks for. */
export interface TurnBackOrder {
  /** A route of the pack, a client, or `all`. */
  readonly target: string;
  readonly by: string;
  readonly reason: string | null;
}

/** The rollout of a gateway. */
export interface RolloutService {
  /** Undefined without a file. */
  readonly rollout: Rollout | undefined;
  /** Null without a file. */
  status(): RolloutStatus | null;
  /** @throws {RolloutRefusedError} {StateUnavailableError} */
  turnBack(order: TurnBackOrder): Promise<TurnedBack>;
  /** @throws {Error} If the file names a route that a pack does not have. */
  checkPack(pack: Pack): void;
  /** @throws {OperatorFileError} If a directory takes away what a client is known by that was turned back. */
  checkDirectory(next: ClientDirectory, active: ClientDirectory | undefined): void;
  /** Later files are checked with this pack. */
  usePack(pack: Pack): void;
  close(): void;
}

export interface RolloutDependencies {
  readonly pack: Pack;
  readonly clients: Pick<ClientsService, "current" | "candidate" | "join">;
  readonly state: KeyValueStore;
  readonly legacy: LegacyService | undefined;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Replicas learn of a trip within a second, from one that writes it at its next tick. */
const TICK_MS = 400;

const NO_ROLLOUT: RolloutService = {
  rollout: undefined,
  status: () => null,
  turnBack: () => Promise.reject(new Error("There is no rollout.")),
  checkPack: () => {},
  checkDirectory: () => {},
  usePack: () => {},
  close: () => {},
};

const routeNames = ({ routes }: Pick<Pack, "routes">): readonly string[] => routes.map(({ name }) => name);

/** Creates what logs each client once that was turned back, and that the directory no longer has. */
function createForgottenLog(rollout: Rollout, directory: () => ClientDirectory, log: Log): () => void {
  const logged = new Set<string>();
  return () => {
    for (const { client, message } of findForgotten(rollout, directory(), undefined)) {
      if (logged.has(client)) continue;
      logged.add(client);
      log.error({ code: "AG_ROLLOUT_CLIENT_FORGOTTEN", client }, message);
    }
  };
}

/** The gauges of a rollout. */
function addGauges(metrics: Metrics, { returns }: Rollout): void {
  metrics.addRouteGauge(
    "rollout_tripped",
    "1 for each route that has returned to the old service. Route all: everything has. Clients that have returned are not counted.",
    () => returns.trips().flatMap(({ kind, name }) => (kind === "client" ? [] : [[name, 1] as const])),
  );
  metrics.addGauge(
    "rollout_blocked",
    "Routes that should return to the old service, and stay since that is not well.",
    () => returns.blocked().length,
  );
}

/**
 * Opens the rollout of `ROLLOUT_FILE`.
 *
 * @throws {OperatorFileError} If the file is invalid, or the client directory lacks a client that was turned back.
 */
export async function openRollout(
  { ROLLOUT_FILE: file, CLIENTS_FILE }: Pick<Settings, "ROLLOUT_FILE" | "CLIENTS_FILE">,
  { pack, clients, state, legacy, log, metrics }: RolloutDependencies,
): Promise<RolloutService> {
  if (file === undefined) return NO_ROLLOUT;
  let routes = routeNames(pack);
  const { current: directory } = clients;
  const kind = rolloutFile(() => ({ routes, directory: clients.candidate() }));
  const watched = watchOperatorFile(file, kind, {
    setting: "ROLLOUT_FILE",
    gauge: "rollout_file_last_reload_successful",
    join: clients.join,
    onChange: () => rollout.fileChanged(),
    log,
    metrics,
  });
  const rollout = createRollout({
    plan: watched.current,
    directory,
    store: state,
    log,
    isOldServiceUp: () => legacy?.breaker.state() === "closed",
  });
  addGauges(metrics, rollout);

  function checkDirectory(next: ClientDirectory, active: ClientDirectory | undefined): void {
    const forgotten = findForgotten(rollout, next, active);
    if (forgotten.length === 0) return;
    const at = {
      code: "AG_ROLLOUT_CLIENT_FORGOTTEN",
      file: CLIENTS_FILE ?? "CLIENTS_FILE",
      line: 1,
      column: 1,
    };
    throw new OperatorFileError(forgotten.map(({ message }) => ({ ...at, message })));
  }

  const logForgotten = createForgottenLog(rollout, directory, log);
  let isBusy = false;
  async function tick(): Promise<void> {
    await rollout.tick();
    logForgotten();
  }
  await rollout.tick();
  try {
    checkDirectory(directory(), undefined);
  } catch (error) {
    watched.close();
    throw error;
  }
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void tick().finally(() => (isBusy = false));
  }, TICK_MS).unref();

  return {
    rollout,
    status: () => describeRollout(rollout, directory()),
    turnBack: ({ target, by, reason }) => {
      const found = findTarget(target, routes, directory());
      return turnBack(rollout, directory(), { ...found, by, reason });
    },
    checkPack(next) {
      const names = routeNames(next);
      const { rules, compare } = watched.current();
      const named = [...rules.flatMap((rule) => [...(rule.routes ?? [])]), ...compare.skippedRoutes];
      const unknown = [...new Set(named)].filter((route) => !names.includes(route));
      if (unknown.length > 0) throw new Error(`ROLLOUT_FILE: the pack has no ${unknown.join(", ")}`);
    },
    checkDirectory,
    usePack: (next) => void (routes = routeNames(next)),
    close() {
      clearInterval(timer);
      watched.close();
    },
  };
}
