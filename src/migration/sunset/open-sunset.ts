/** Opens the sunset plan of a gateway, and keeps it up to date. */
import {
  errorText,
  type KeyValueStore,
  type Log,
  type Metrics,
  Outage,
  type Settings,
  watchOperatorFile,
} from "../../base/index.ts";
import type { AuditStore, ClientsService } from "../../audit/index.ts";
import type { Pack } from "../../pack/index.ts";
import { createControl, type Action } from "./control.ts";
import { describePlan, type PlanStatus } from "./describe-plan.ts";
import { createKnownClients } from "./known-clients.ts";
import { createPlan, type Plan, type PlanDefinition } from "./plan.ts";
import { createSunset, NO_SUNSET, type SunsetRules } from "./sunset.ts";
import { findUnknownNames, type PackNames } from "./plan-names.ts";
import { sunsetFile } from "./sunset-file.ts";

/** The sunset plan of a gateway. */
export interface SunsetService {
  readonly rules: SunsetRules;
  /** The plan with its stages; null without one. */
  status(): PlanStatus | null;
  /** Pauses or resumes a stage, or all of them, on all replicas. @throws {StateUnavailableError} */
  pause(action: Action): Promise<void>;
  resume(action: Action): Promise<void>;
  /** @throws {Error} If the plan names a route or a field that a pack does not have. */
  checkPack(pack: Pack): void;
  /** Later plans are checked with this pack. */
  usePack(pack: Pack): void;
  close(): void;
}

export interface SunsetDependencies {
  readonly pack: Pack;
  readonly clients: Pick<ClientsService, "current" | "candidate" | "join">;
  readonly state: KeyValueStore;
  readonly audit: AuditStore | undefined;
  readonly replicas: () => number;
  /** Accept dates that are earlier than those that were published. */
  readonly isAnnounced: boolean;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Open windows are prepared every second; the shared state is read every two. A pause has five seconds. */
const TICK_MS = 1000;

const NO_PLAN: SunsetService = {
  rules: NO_SUNSET,
  status: () => null,
  pause: async () => {},
  resume: async () => {},
  checkPack: () => {},
  usePack: () => {},
  close: () => {},
};

/** The names of a pack that a plan may use. */
export function packNames({ routes, resources }: Pick<Pack, "routes" | "resources">): PackNames {
  const fieldsOf = (name: string): string[] => {
    const resource = resources.get(name);
    if (!resource) return [];
    const inherited = resource.extends === undefined ? [] : fieldsOf(resource.extends);
    return [...inherited, ...resource.fields.keys()];
  };
  return {
    routes: routes.map(({ name }) => name),
    fields: new Map([...resources.keys()].map((name) => [name, fieldsOf(name)])),
  };
}

/**
 * Opens the plan of `SUNSET_FILE`.
 *
 * @throws {OperatorFileError} If the file is invalid, or shortens a date that was published.
 */
export async function openSunset(
  { SUNSET_FILE: file }: Pick<Settings, "SUNSET_FILE">,
  { pack, clients, state, audit, replicas, isAnnounced, log, metrics }: SunsetDependencies,
): Promise<SunsetService> {
  if (file === undefined) return NO_PLAN;
  const { current: directory } = clients;
  const control = createControl(state);
  let names = packNames(pack);
  let mayShorten = isAnnounced;
  let plan: Plan | undefined;
  let isConfirmed = false;
  const outage = new Outage({
    begins: (error) =>
      log.error(
        { code: "AG_SUNSET_STATE_UNKNOWN", error },
        "the shared state of the plan can't be read: what was read before counts",
      ),
    ends: () => log.info({}, "the shared state of the plan can be read again"),
  });

  async function refresh(): Promise<boolean> {
    try {
      const hasChanged = await control.refresh();
      outage.succeeded();
      return hasChanged;
    } catch (error) {
      outage.failed(error);
      return false;
    }
  }

  /** The dates count as published once requests are decided by them. */
  async function publish(): Promise<void> {
    if (!isConfirmed || !plan) return;
    await control.publish(plan.dates).catch((error: unknown) => {
      log.error(
        { code: "AG_SUNSET_PUBLISH_FAILED", error: errorText(error) },
        "the dates of the plan could not be stored: a shorter one would not be noticed",
      );
    });
  }

  function accept(definition: PlanDefinition): Promise<void> {
    plan = createPlan(definition);
    isConfirmed = control.isKnown();
    return publish();
  }

  await refresh();
  const kind = sunsetFile(() => ({
    ...names,
    directory: clients.candidate(),
    hasAudit: audit !== undefined,
    published: mayShorten ? undefined : control.published(),
  }));
  const watched = watchOperatorFile(file, kind, {
    setting: "SUNSET_FILE",
    gauge: "sunset_file_last_reload_successful",
    join: clients.join,
    onChange: (next) => void accept(next),
    log,
    metrics,
  });
  await accept(watched.current());
  mayShorten = false;

  const current = (): Plan => plan ?? createPlan(watched.current());
  const sunset = createSunset({
    plan: current,
    directory,
    control,
    isConfirmed: () => isConfirmed,
    known: audit && createKnownClients(audit.decisions, directory, () => names.routes),
    decisions: audit?.decisions,
    replicas,
    log,
    metrics,
  });
  const status = (): PlanStatus =>
    describePlan(current(), {
      control,
      mayBegin: sunset.conditions.mayBegin,
      blockedBy: sunset.blockedBy,
      isInForce: sunset.isInForce(),
      time: Date.now(),
    });
  metrics.addGauge("sunset_in_force", "1 while requests are decided by the sunset plan, else 0.", () =>
    Number(sunset.isInForce()),
  );
  metrics.addGauge(
    "sunset_paused",
    "Stages of the sunset plan that are paused; all of them count as one.",
    () => control.state().pauses.length,
  );
  metrics.addGauge(
    "sunset_stages_active",
    "Stages of the sunset plan that apply now.",
    () => status().stages.filter(({ state: stage }) => stage === "active").length,
  );

  let ticks = 0;
  let isBusy = false;
  async function tick(): Promise<void> {
    ticks += 1;
    const hadStore = control.isKnown();
    const hasNewDates = ticks % 2 === 0 && (await refresh());
    // A file that shortened a date is accepted once somebody has announced it.
    if (hasNewDates || (!hadStore && control.isKnown())) watched.reload();
    // A pause must not wait for the audit store.
    void sunset.prepareWindows();
  }
  await sunset.prepareWindows();
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void tick().finally(() => (isBusy = false));
  }, TICK_MS).unref();

  return {
    rules: sunset,
    status,
    async pause(action) {
      await control.pause(action);
      log.info(action, "the plan was paused");
    },
    async resume(action) {
      await control.resume(action);
      log.info(action, "the plan was resumed");
    },
    checkPack(next) {
      const unknown = findUnknownNames(current(), packNames(next));
      if (unknown.length > 0) throw new Error(`SUNSET_FILE: the pack has no ${unknown.join(", ")}`);
    },
    usePack: (next) => void (names = packNames(next)),
    close() {
      clearInterval(timer);
      watched.close();
    },
  };
}
