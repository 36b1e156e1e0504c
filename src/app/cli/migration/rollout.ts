/** `alpha-gateway rollout`: who gets the translation and why, and what has returned to the old service. */
import { userInfo } from "node:os";
import type { Command } from "commander";
import { loadPack, packFolder } from "../../../pack/index.ts";
import { openExistingState } from "../../../gateway/index.ts";
import type { ClientDirectory } from "../../../audit/index.ts";
import { createLog, formatSecondUtc } from "../../../base/index.ts";
import {
  type ClientStatus,
  createRollout,
  describeRollout,
  findTarget,
  type Rollout,
  rolloutClientText,
  type RolloutStatus,
  type TripTarget,
  turnBack,
} from "../../../migration/index.ts";
import type { RolloutSettings } from "../command-settings.ts";
import { readDirectory, readRollout } from "./operator-files.ts";
import { print, printData } from "../terminal.ts";

export interface RolloutFlags {
  readonly format: "text" | "json";
}

export interface TurnBackFlags {
  readonly reason?: string;
}

/** What the commands need, opened. */
interface OpenRollout {
  readonly rollout: Rollout;
  readonly directory: ClientDirectory;
  readonly routes: readonly string[];
  /** Whether there is a state store. */
  readonly hasStore: boolean;
  close(): Promise<void>;
}

/** Stands for a store that does not exist yet: nothing has returned. */
const EMPTY = {
  get: async () => undefined,
  setIfAbsent: async () => false,
  replace: async () => false,
};

/** @throws {OperatorFileError} {StateUnavailableError} */
async function openRollout(settings: RolloutSettings, command: Command): Promise<OpenRollout> {
  const { ROLLOUT_FILE: file, CLIENTS_FILE, MAPPINGS_DIR, WORDS } = settings;
  if (file === undefined)
    return command.error("error: there is no rollout: set ROLLOUT_FILE, or give --rollout-file");
  const pack = loadPack(packFolder(MAPPINGS_DIR), WORDS);
  const directory = readDirectory(CLIENTS_FILE);
  const plan = readRollout(file, { pack, directory });
  const store = await openExistingState(settings);
  const close = async (): Promise<void> => store?.close();
  const rollout = createRollout({
    plan: () => plan,
    directory: () => directory,
    store: store ?? EMPTY,
    log: createLog("silent", "json"),
  });
  try {
    await rollout.tokenClients.exchange();
    await rollout.returns.tick();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    rollout,
    directory,
    routes: pack.routes.map(({ name }) => name),
    hasStore: store !== undefined,
    close,
  };
}

/** Requests that a line names. */
const MAX_SHOWN = 4;

function clientLines({ name, side, why, exceptions }: ClientStatus): string[] {
  return [
    `${side}  ${name}: ${why}`,
    ...exceptions.map((each) => `     ${each.side} on ${each.route}: ${each.why}`),
  ];
}

const DATA: Readonly<Record<RolloutStatus["data"]["kind"], string>> = {
  shared: "one store for both services",
  replicated: "copies of one store",
};

function printStatus({ data, others, clients, trips, scores, noWayBack }: RolloutStatus): string {
  const lag = data.kind === "replicated" ? `, lag ${data.lagMs} ms` : "";
  const count = (side: string): number => clients.filter((client) => client.side === side).length;
  return [
    `${count("new")} of ${clients.length} clients get the translation; data: ${data.kind} (${DATA[data.kind]}${lag})`,
    ...clients.flatMap(clientLines),
    `${others}  requests of nobody in the directory`,
    ...trips.map(
      ({ name, by, at, reason, records }) =>
        `returned: ${name} at ${formatSecondUtc(at)} by ${by}${reason === null ? "" : `: ${reason}`}${
          records.length > 0 ? `; requests ${records.slice(-MAX_SHOWN).join(", ")}` : ""
        }`,
    ),
    ...scores.map(
      ({ route, differences, failures }) =>
        `on the way back: ${route} (differences ${Math.round(differences * 100)}%, failures ${Math.round(failures * 100)}%)`,
    ),
    ...noWayBack.map(
      (client) =>
        `no way back: ${rolloutClientText(client)}; it has tokens of the gateway, which the old service does not know`,
    ),
    "",
  ].join("\n");
}

/** Runs `alpha-gateway rollout`. @returns the exit code: 1 if something has returned */
export async function showRollout(
  { format }: RolloutFlags,
  settings: RolloutSettings,
  command: Command,
): Promise<number> {
  const { rollout, directory, close } = await openRollout(settings, command);
  try {
    const status = describeRollout(rollout, directory);
    if (format === "json") printData(`${JSON.stringify(status, null, 2)}\n`);
    else print(printStatus(status));
    return status.trips.length === 0 ? 0 : 1;
  } finally {
    await close();
  }
}

const NO_STORE = "error: there is no state store yet: no gateway has started with this rollout";

const targetText = ({ kind, name }: TripTarget): string => (kind === "all" ? "Everything" : name);

/** Runs `alpha-gateway rollout turn-back`. @returns the exit code */
export async function turnBackByCommand(
  name: string,
  { reason }: TurnBackFlags,
  settings: RolloutSettings,
  command: Command,
): Promise<number> {
  const { rollout, directory, routes, hasStore, close } = await openRollout(settings, command);
  try {
    if (!hasStore) return command.error(NO_STORE);
    const target = findTarget(name, routes, directory);
    const by = userInfo().username;
    const turnedBack = await turnBack(rollout, directory, { ...target, by, reason: reason ?? null });
    print(`${targetText(target)} returns to the old service within a second, until somebody resumes it.\n`);
    for (const client of turnedBack.withTokens)
      print(`${rolloutClientText(client)}: requests with tokens of the gateway stay.\n`);
    return 0;
  } finally {
    await close();
  }
}

/** Runs `alpha-gateway rollout resume`. @returns the exit code: 1 if nothing had returned. @throws {RolloutRefusedError} nobody has the name */
export async function resumeByCommand(
  name: string,
  settings: RolloutSettings,
  command: Command,
): Promise<number> {
  const { rollout, directory, routes, close } = await openRollout(settings, command);
  try {
    // The file and the pack may not have it any more.
    const all = rollout.returns.trips();
    const trips = all.filter((trip) => trip.name === name);
    if (trips.length === 0) {
      findTarget(name, routes, directory);
      const others = all.map((trip) => trip.name).sort();
      const which = others.length === 0 ? "Nothing has." : `These have: ${others.join(", ")}.`;
      print(`${name} has not returned. ${which}\n`);
      return 1;
    }
    for (const { kind } of trips) await rollout.resume({ kind, name, by: userInfo().username, reason: null });
    print(`${name} is served as the file says within a second.\n`);
    return 0;
  } finally {
    await close();
  }
}
