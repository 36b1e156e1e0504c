/** The roll-out: `ROLLOUT_FILE`, and the state about it that replicas share. */
import { type ClientDirectory, namesSoFar } from "../../audit/index.ts";
import { type Feature, type FeatureHost, OperatorFileError, plural } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import { ROLLOUT_ACTIONS, ROLLOUT_COMMANDS, type RolloutNeeds, type RolloutParts } from "./parts.ts";
import { findForgotten } from "./forgotten-clients.ts";
import { describeRollout, describeSides, type RolloutStatus, turnBackForm } from "./status.ts";
import { createRollout, type Rollout } from "./sides.ts";
import { ROLLOUT_SCHEMA } from "./definition.ts";
import { rolloutFile } from "./file.ts";
import { findTarget, refused } from "./returns/turn-back.ts";

/** Milliseconds between two ticks. A replica writes a trip at its next tick, so that all replicas apply it within a second. */
const TICK_MS = 400;

const routeNames = ({ routes }: Pick<Pack, "routes">): readonly string[] => routes.map(({ name }) => name);

/** Creates the check that rejects a directory in which a key of a returned client is missing. */
const createDirectoryCheck =
  (rollout: Rollout, file = "CLIENTS_FILE") =>
  (next: ClientDirectory, active?: ClientDirectory): void => {
    const at = { code: "AG_ROLLOUT_CLIENT_FORGOTTEN", file, line: 1, column: 1 };
    const problems = findForgotten(rollout, next, active).map(({ message }) => ({ ...at, message }));
    if (problems.length > 0) throw new OperatorFileError(problems);
  };

function addGauges({ addGauge, addRouteGauge }: FeatureHost["metrics"], { trips, blocked }: Rollout): void {
  addRouteGauge(
    "rollout_tripped",
    "1 for each route that has returned to the old service, or for all routes.",
    () => trips().flatMap(({ kind, name }) => (kind === "client" ? [] : [[name, 1] as const])),
  );
  addGauge(
    "rollout_blocked",
    "Routes that should return to the old service, which also fails.",
    () => blocked().length,
  );
}

export const ROLLOUT: Feature<RolloutNeeds, RolloutParts | undefined> = {
  name: "rollout",
  member: "rollout",
  setting: "ROLLOUT_FILE",
  schema: ROLLOUT_SCHEMA,
  checksWith: { clients: true },
  page: {
    address: "rollout",
    title: "Roll-out",
    absent: [
      "There is no roll-out",
      "ROLLOUT_FILE says which clients of the old API get the translation, and which still the old service.",
    ],
  },
  commands: ROLLOUT_COMMANDS,
  actions: ROLLOUT_ACTIONS,
  async open({ ROLLOUT_FILE: file, CLIENTS_FILE }, needs, host) {
    if (file === undefined) return undefined;
    const { clients, legacy } = needs;
    const { current: directory } = clients;
    let routes = routeNames(needs.pack);
    const kind = rolloutFile(() => ({ routes, directory: clients.candidate() }));
    const { current: config } = host.readFile("ROLLOUT_FILE", file, kind, {
      join: clients.join,
      onChange: () => rollout.fileChanged(),
    });
    const rollout = createRollout({
      config,
      directory,
      store: needs.state,
      log: host.log,
      isOldServiceUp: () => legacy?.breaker.state() === "closed",
    });
    addGauges(host.metrics, rollout);
    /** Returned clients whose absence in the directory was logged. */
    const logged = new Set<string>();
    const checkDirectory = createDirectoryCheck(rollout, CLIENTS_FILE);
    const sync = host.repeat(
      TICK_MS,
      async () => {
        await rollout.sync();
        for (const { client, message } of findForgotten(rollout, directory(), undefined)) {
          if (logged.has(client)) continue;
          logged.add(client);
          host.log.error({ code: "AG_ROLLOUT_CLIENT_FORGOTTEN", client }, message);
        }
      },
      {
        code: "AG_ROLLOUT_STATE_UNKNOWN",
        begins: "the shared state of the rollout can't be read: the last known state applies",
        ends: "the shared state of the rollout can be read again",
      },
    );
    await sync();
    // A command may remove such a client from the roll-out.
    if (!host.isReadOnly) checkDirectory(directory());
    clients.addCheck(checkDirectory);

    const status = (): RolloutStatus => describeRollout(rollout, directory());
    return {
      rollout,
      status,
      describe: () => describeSides(status()),
      form: () => turnBackForm(status()),
      summary: () => plural(config().rules.length, "rule"),
      async turnBack({ target, by, reason }) {
        const { kind, name } = findTarget(target, routes, directory());
        const { data } = config();
        if (kind === "route" && data.kind !== "shared")
          throw refused(
            `With data: ${data.kind} a client is on one side with all its routes: name a client, or all.`,
          );
        await rollout.tokenClients.exchange();
        const names = namesSoFar(directory(), name);
        await rollout.turnBack({ kind, name, by, reason });
        const isConcerned = (client: string): boolean => kind === "all" || names.includes(client);
        return { withTokens: kind === "route" ? [] : rollout.tokenClients.all().filter(isConcerned) };
      },
      async resume({ target, by, reason }) {
        // The file and the pack may no longer contain it.
        const trips = rollout.trips().filter(({ name }) => name === target);
        if (trips.length === 0) findTarget(target, routes, directory());
        for (const { kind, name } of trips) await rollout.resume({ kind, name, by, reason });
        return trips.length > 0;
      },
      missingNames(next) {
        const names = routeNames(next);
        const { rules, compare } = config();
        const named = [...rules.flatMap((rule) => [...(rule.routes ?? [])]), ...compare.skippedRoutes];
        return [...new Set(named)].filter((route) => !names.includes(route));
      },
      usePack: (next) => void (routes = routeNames(next)),
    };
  },
};
