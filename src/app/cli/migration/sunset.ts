import type { Command } from "commander";
import {
  type AuditRecord,
  type AuditStore,
  type ClientDirectory,
  isClientApi,
  MAX_LIMIT,
  openExistingAuditStore,
} from "../../../audit/index.ts";
import { formatDay, formatMinute, plural } from "../../../base/index.ts";
import { loadPack, type Pack, packFolder } from "../../../pack/index.ts";
import {
  describePlan,
  findCalling,
  type PastCall,
  type Plan,
  type PlanClient,
  type PlanStatus,
  simulatePlan,
  type Simulation,
  type StageStatus,
  summaryKeysOf,
} from "../../../migration/index.ts";
import { signOutRoutes } from "../../../gateway/index.ts";
import type { SunsetSettings } from "../command-settings.ts";
import { openControl, readDirectory, readPlan, type OpenControl } from "./operator-files.ts";
import { showProgress, type Progress } from "../progress.ts";
import { print, printData } from "../terminal.ts";

export interface SunsetFlags {
  readonly format: "text" | "json";
}

/** What the commands need, opened. */
interface OpenPlan extends OpenControl {
  readonly plan: Plan;
  readonly directory: ClientDirectory;
  readonly pack: Pack;
}

/** @param isAnnounced whether dates may be earlier than those that were published */
async function openPlan(settings: SunsetSettings, command: Command, isAnnounced: boolean): Promise<OpenPlan> {
  const { SUNSET_FILE: file, CLIENTS_FILE, MAPPINGS_DIR, WORDS, AUDIT } = settings;
  if (file === undefined)
    return command.error("error: there is no plan: set SUNSET_FILE, or give --sunset-file");
  const pack = loadPack(packFolder(MAPPINGS_DIR), WORDS);
  const directory = readDirectory(CLIENTS_FILE);
  const opened = await openControl(settings);
  try {
    const control = isAnnounced ? undefined : opened.control;
    const plan = readPlan(file, { pack, directory, hasAudit: AUDIT !== "off", control });
    return { ...opened, plan, directory, pack };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The store of a gateway, if it has one. */
const openAudit = (settings: SunsetSettings): Promise<AuditStore | undefined> =>
  openExistingAuditStore(settings).catch(() => undefined);

/** Clients that keep open windows from beginning, by stage. */
async function findBlocking(
  { plan, directory }: OpenPlan,
  audit: AuditStore | undefined,
  time: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const blocking = new Map<string, readonly string[]>();
  for (const { stage, window } of plan.windowsAt(time)) {
    if (stage.waitFor.length === 0) continue;
    const { waitFor } = stage;
    const calling = audit && (await findCalling(audit.decisions, directory, waitFor, window.from));
    blocking.set(stage.name, calling ?? waitFor);
  }
  return blocking;
}

function stageLine({ name, state, from, until, blockedBy, routes, clients }: StageStatus): string {
  const when =
    from === null
      ? ""
      : until === null
        ? ` ${formatMinute(from)}`
        : ` ${formatMinute(from)} to ${formatMinute(until)}`;
  const scope = [...routes, ...clients];
  return [
    `${state.padEnd(8)}${when.padEnd(37)} ${name}`,
    scope.length > 0 ? `  only ${scope.join(", ")}` : "",
    blockedBy.length > 0 ? `  waits for ${blockedBy.join(", ")}` : "",
  ].join("");
}

function printStatus({ announced, end, stages, pauses, allowed, clientEnds }: PlanStatus): string {
  const dated = (dates: Readonly<Record<string, string>>, what: string): string[] =>
    Object.entries(dates).map(([name, date]) => `${what} ${name} until ${formatDay(date)}`);
  return [
    `announced ${formatDay(announced)}, ends ${end === null ? "at no date yet" : formatDay(end)} (times are UTC)`,
    ...stages.map(stageLine),
    ...dated(allowed, "allowed:"),
    ...dated(clientEnds, "own end:"),
    ...pauses.map(
      ({ stage, by, at, reason }) =>
        `paused: ${stage ?? "all stages"} by ${by} at ${at}${reason === null ? "" : `: ${reason}`}`,
    ),
    "",
  ].join("\n");
}

const printJson = (value: unknown): boolean => printData(`${JSON.stringify(value, null, 2)}\n`);

/** Runs `alpha-gateway sunset status`. @returns the exit code */
export async function sunsetStatus(
  { format }: SunsetFlags,
  settings: SunsetSettings,
  command: Command,
): Promise<number> {
  const opened = await openPlan(settings, command, true);
  const audit = await openAudit(settings);
  try {
    const time = Date.now();
    const blocking = await findBlocking(opened, audit, time);
    const status = describePlan(opened.plan, {
      control: opened.control,
      mayBegin: ({ name }) => (blocking.get(name) ?? []).length === 0,
      blockedBy: ({ name }) => blocking.get(name) ?? [],
      isInForce: true,
      time,
    });
    if (format === "json") printJson(status);
    else print(printStatus(status));
  } finally {
    await audit?.close();
    await opened.close();
  }
  return 0;
}

/** Runs `alpha-gateway sunset announce`: remembers the dates of the plan as published. @returns the exit code */
export async function sunsetAnnounce(settings: SunsetSettings, command: Command): Promise<number> {
  const { plan, control, hasStore, close } = await openPlan(settings, command, true);
  try {
    if (!hasStore)
      return command.error(
        "error: there is no state store yet: the first gateway that starts with the plan publishes its dates",
      );
    await control.publish(plan.dates);
  } finally {
    await close();
  }
  print("The dates of the plan are published. Running gateways accept the file within a few seconds.\n");
  return 0;
}

const clientOf = ({ client }: AuditRecord, directory: ClientDirectory): PlanClient => ({
  name: directory.nameOf(client),
  fingerprint: client.fingerprint ?? undefined,
  application: client.application,
  label: client.label,
});

/** The recorded calls of the old API, newest first. Invented tokens are nobody's. */
async function* pastCalls(
  audit: AuditStore,
  { directory, pack }: Pick<OpenPlan, "directory" | "pack">,
  onProgress: Progress,
): AsyncGenerator<PastCall> {
  const { oauth } = pack.dialect;
  const unstopped = new Set(oauth && signOutRoutes(oauth));
  let before: string | undefined;
  let done = 0;
  do {
    const page = await audit.query({ limit: MAX_LIMIT, ...(before !== undefined && { before }) });
    for (const record of page.records) {
      const { route } = record.alpha;
      const { requests = 1 } = record;
      // Pages for clients are recorded as no requests.
      if (!isClientApi(record) || route === null || requests === 0) continue;
      if (record.client.accepted === false || unstopped.has(route)) continue;
      yield { time: Date.parse(record.time), client: clientOf(record, directory), route, requests };
    }
    onProgress((done += page.records.length));
    before = page.next ?? undefined;
  } while (before !== undefined);
}

/** Creates the question whether a client called before a time, by the summaries. */
const calledBefore =
  ({ decisions }: AuditStore) =>
  async (client: PlanClient, before: number): Promise<boolean> => {
    const range = { since: new Date(0).toISOString(), until: new Date(before).toISOString() };
    return (await decisions.callsOf({ clients: summaryKeysOf(client), ...range })).hasCalled;
  };

const MAX_CLIENTS = 10;

function printSimulation({ recorded, stages }: Simulation): string {
  const { from, until, weeks, calls, clients } = recorded;
  const lines = stages.flatMap((stage) => [
    `${stage.name}: ${plural(stage.calls, "call")} of ${plural(stage.clients.length, "client")}${
      stage.windows + stage.waiting > 0 ? ` in ${plural(stage.windows, "window")}` : ""
    }${stage.waiting > 0 ? `, ${plural(stage.waiting, "window")} waiting for clients` : ""}`,
    ...stage.clients
      .slice(0, MAX_CLIENTS)
      .map(
        ({ client, calls: hits, windows }) =>
          `  ${client ?? "without a token"}: ${plural(hits, "call")}${windows > 0 ? ` in ${plural(windows, "window")}` : ""}`,
      ),
    ...(stage.clients.length > MAX_CLIENTS ? [`  and ${stage.clients.length - MAX_CLIENTS} more`] : []),
  ]);
  return [
    `${plural(calls, "call")} of ${plural(clients, "client")}, recorded from ${formatMinute(from)} to ${formatMinute(until)} UTC, repeated each ${weeks === 1 ? "week" : plural(weeks, "week")}`,
    ...lines,
    "",
  ].join("\n");
}

/** Runs `alpha-gateway sunset simulate`. @returns the exit code */
export async function sunsetSimulate(
  { format }: SunsetFlags,
  settings: SunsetSettings,
  command: Command,
): Promise<number> {
  const opened = await openPlan(settings, command, true);
  const { plan } = opened;
  await opened.close();
  const audit = await openExistingAuditStore(settings);
  const progress = showProgress("records");
  try {
    const simulation = await simulatePlan({
      plan,
      calls: pastCalls(audit, opened, progress),
      hadCalled: calledBefore(audit),
      now: Date.now(),
    });
    progress.end();
    if (format === "json") printJson(simulation);
    else print(printSimulation(simulation));
  } finally {
    await audit.close();
  }
  return 0;
}
